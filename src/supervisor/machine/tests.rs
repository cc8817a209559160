//! Conversations with the machine.

use ottla_broker::types::Millis;

use super::*;
use crate::supervisor::process::Identity;

const ZOOKEEPER: Role = Role::Zookeeper;

fn broker(id: i32) -> Role {
    Role::Broker(id)
}

fn identity(pid: i32) -> Identity {
    Identity { pid, start_time: 1 }
}

struct Talk {
    machine: Machine,
    now: Millis,
}

impl Talk {
    fn new(brokers: i32) -> Self {
        let roles = std::iter::once(ZOOKEEPER).chain((1..=brokers).map(Role::Broker));
        Self { machine: Machine::new(roles, Timing::default()), now: Millis(0) }
    }

    fn tell(&mut self, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        self.machine.step(self.now, event, &mut out);
        out
    }

    fn start(&mut self, role: Role, pid: i32) -> Vec<Effect> {
        self.tell(Event::Spawned { role, outcome: Ok(identity(pid)) });
        self.tell(Event::Ready { role, address: "127.0.0.1:1".into() })
    }

    /// Everything runs: ZooKeeper with pid 100, broker n with 100 + n.
    fn up(brokers: i32) -> Self {
        let mut talk = Self::new(brokers);
        talk.tell(Event::Asked(Ask::Up));
        talk.start(ZOOKEEPER, 100);
        for id in 1..=brokers {
            talk.start(broker(id), 100 + id);
        }
        assert!(talk.machine.is_up());
        talk
    }

    fn exit(&mut self, role: Role, pid: i32, ending: Ending) -> Vec<Effect> {
        self.tell(Event::Exited { role, identity: identity(pid), ending })
    }
}

fn spawns(effects: &[Effect]) -> Vec<Role> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Spawn(role) = effect { Some(*role) } else { None })
        .collect()
}

fn signals(effects: &[Effect]) -> Vec<(Role, Tell)> {
    let signal = |effect: &Effect| match effect {
        Effect::Signal { role, tell, .. } => Some((*role, *tell)),
        _ => None,
    };
    effects.iter().filter_map(signal).collect()
}

#[test]
fn brokers_wait_for_zookeeper() {
    let mut talk = Talk::new(2);
    assert_eq!(spawns(&talk.tell(Event::Asked(Ask::Up))), [ZOOKEEPER]);
    assert_eq!(spawns(&talk.start(ZOOKEEPER, 100)), [broker(1), broker(2)]);
}

#[test]
fn up_starts_what_is_missing_and_touches_nothing_else() {
    let mut talk = Talk::new(3);
    talk.tell(Event::Found { role: ZOOKEEPER, identity: identity(100), frozen: false });
    talk.tell(Event::Ready { role: ZOOKEEPER, address: "a".into() });
    talk.tell(Event::Found { role: broker(2), identity: identity(102), frozen: true });
    let effects = talk.tell(Event::Asked(Ask::Up));
    assert_eq!(spawns(&effects), [broker(1), broker(3)]);
    assert_eq!(signals(&effects), []);
}

#[test]
fn a_half_started_cluster_is_waited_for_not_started_twice() {
    let mut talk = Talk::new(1);
    talk.tell(Event::Found { role: ZOOKEEPER, identity: identity(100), frozen: false });
    assert_eq!(spawns(&talk.tell(Event::Asked(Ask::Up))), []);
    assert_eq!(spawns(&talk.tell(Event::Ready { role: ZOOKEEPER, address: "a".into() })), [broker(1)]);
}

#[test]
fn a_killed_broker_is_buried_and_not_started_again() {
    let mut talk = Talk::up(3);
    assert_eq!(signals(&talk.tell(Event::Asked(Ask::Kill(broker(2))))), [(broker(2), Tell::Die)]);
    let effects = talk.exit(broker(2), 102, Ending::Signal(9));
    assert_eq!(
        effects,
        [
            Effect::Report(Notice::Died { role: broker(2), ending: Ending::Signal(9) }),
            Effect::Farewell { role: broker(2) },
            Effect::Forget(broker(2)),
        ]
    );
}

#[test]
fn without_farewell_a_death_is_left_to_the_session_timeout() {
    let mut talk = Talk::up(1);
    talk.machine.say_farewell(false);
    let effects = talk.exit(broker(1), 101, Ending::Unknown);
    assert!(!effects.contains(&Effect::Farewell { role: broker(1) }));
}

#[test]
fn the_end_of_a_former_process_is_not_the_end_of_the_present_one() {
    let mut talk = Talk::up(1);
    assert_eq!(talk.exit(broker(1), 77, Ending::Unknown), []);
    assert!(talk.machine.is_up());
}

#[test]
fn down_stops_brokers_first_and_zookeeper_last() {
    let mut talk = Talk::up(2);
    let effects = talk.tell(Event::Asked(Ask::Down));
    assert_eq!(signals(&effects), [(broker(1), Tell::Finish), (broker(2), Tell::Finish)]);
    assert_eq!(signals(&talk.exit(broker(1), 101, Ending::Code(0))), []);
    assert_eq!(signals(&talk.exit(broker(2), 102, Ending::Code(0))), [(ZOOKEEPER, Tell::Finish)]);
    talk.exit(ZOOKEEPER, 100, Ending::Code(0));
    assert!(talk.machine.is_down());
}

#[test]
fn a_frozen_broker_is_thawed_to_hear_that_it_should_stop() {
    let mut talk = Talk::up(1);
    talk.tell(Event::Asked(Ask::Freeze(broker(1))));
    let effects = talk.tell(Event::Asked(Ask::Stop(broker(1))));
    assert_eq!(signals(&effects), [(broker(1), Tell::GoOn), (broker(1), Tell::Finish)]);
}

#[test]
fn a_stop_that_takes_too_long_ends_in_a_kill() {
    let mut talk = Talk::up(1);
    talk.tell(Event::Asked(Ask::Stop(broker(1))));
    talk.now = Millis(29_999);
    assert_eq!(signals(&talk.tell(Event::Tick)), []);
    assert_eq!(talk.machine.next_deadline(), Some(Millis(30_000)));
    talk.now = Millis(30_000);
    assert_eq!(signals(&talk.tell(Event::Tick)), [(broker(1), Tell::Die)]);
    assert_eq!(talk.machine.next_deadline(), None);
}

#[test]
fn a_restart_starts_when_the_old_process_is_gone() {
    let mut talk = Talk::up(1);
    assert_eq!(spawns(&talk.tell(Event::Asked(Ask::Restart(broker(1))))), []);
    assert_eq!(spawns(&talk.exit(broker(1), 101, Ending::Code(0))), [broker(1)]);
}

#[test]
fn brokers_are_not_left_waiting_for_a_zookeeper_that_failed() {
    let mut talk = Talk::new(2);
    talk.tell(Event::Asked(Ask::Up));
    let effects = talk.tell(Event::Spawned { role: ZOOKEEPER, outcome: Err("no ports".into()) });
    let failed = effects.iter().filter(|e| matches!(e, Effect::Report(Notice::StartFailed { .. }))).count();
    assert_eq!(failed, 3);
    assert!(!talk.machine.is_moving());
}

#[test]
fn what_does_not_run_cannot_be_stopped_killed_or_frozen() {
    let mut talk = Talk::new(1);
    for ask in [Ask::Stop(broker(1)), Ask::Kill(broker(1)), Ask::Freeze(broker(1)), Ask::Thaw(broker(1))] {
        let effects = talk.tell(Event::Asked(ask));
        assert!(matches!(effects[..], [Effect::Report(Notice::Refused { .. })]), "{ask:?}: {effects:?}");
    }
}
