//! The step function: what each event changes.

use std::collections::BTreeMap;

use ottla_broker::types::Millis;

use super::event::{Ask, Effect, Ending, Event, Notice, Role, Tell};
use super::life::Life;
use crate::supervisor::process::Identity;

/// How long the machine waits before it acts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// An orderly stop that takes longer ends in a kill.
    pub stop_grace: Millis,
    /// A start that takes longer is mentioned.
    pub start_slow: Millis,
}

impl Default for Timing {
    fn default() -> Self {
        Self { stop_grace: Millis(30_000), start_slow: Millis(10_000) }
    }
}

/// The processes of one cluster.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(super) lives: BTreeMap<Role, Life>,
    pub(super) timing: Timing,
    /// Whether the end of a broker is told to ZooKeeper; off shows the session timeout at work.
    pub(super) says_farewell: bool,
    /// Set while everything is being stopped: ZooKeeper follows the last broker.
    pub(super) going_down: bool,
}

impl Machine {
    /// Knows these processes, none of which is there yet.
    pub fn new(roles: impl IntoIterator<Item = Role>, timing: Timing) -> Self {
        let lives = roles.into_iter().map(|role| (role, Life::Absent)).collect();
        Self { lives, timing, says_farewell: true, going_down: false }
    }

    /// Chooses whether the end of a broker is told to ZooKeeper at once, or left to the session timeout.
    pub fn say_farewell(&mut self, yes: bool) {
        self.says_farewell = yes;
    }

    /// Adds a process that is not there yet.
    pub fn add(&mut self, role: Role) {
        self.lives.entry(role).or_insert(Life::Absent);
    }

    /// Returns where each process is in its life, ZooKeeper first.
    pub fn lives(&self) -> impl Iterator<Item = (Role, Life)> + '_ {
        self.lives.iter().map(|(role, life)| (*role, *life))
    }

    /// Returns whether everything serves, or stands frozen as somebody wished.
    pub fn is_up(&self) -> bool {
        self.lives.values().all(|life| matches!(life, Life::Running { .. } | Life::Frozen { .. }))
    }

    /// Returns whether nothing is left.
    pub fn is_down(&self) -> bool {
        self.lives.values().all(|life| *life == Life::Absent)
    }

    /// Returns whether some process is on its way from one stage to the next.
    pub fn is_moving(&self) -> bool {
        let moving = |life: &Life| !matches!(life, Life::Absent | Life::Running { .. } | Life::Frozen { .. });
        self.lives.values().any(moving)
    }

    /// Returns when a tick is owed at the latest.
    pub fn next_deadline(&self) -> Option<Millis> {
        let deadline = |life: &Life| match life {
            Life::Starting { since, slow: false, .. } => Some(since.plus(self.timing.start_slow)),
            Life::Stopping { since, killed: false, .. } => Some(since.plus(self.timing.stop_grace)),
            Life::Absent
            | Life::Queued
            | Life::Spawning { .. }
            | Life::Starting { .. }
            | Life::Running { .. }
            | Life::Frozen { .. }
            | Life::Stopping { .. } => None,
        };
        self.lives.values().filter_map(deadline).min()
    }

    /// Takes one event. Same state, same time, same event: same effects, in the same order.
    pub fn step(&mut self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::Found { role, identity, frozen } => self.found(now, role, identity, frozen),
            Event::FoundStale { role } => {
                out.push(Effect::Report(Notice::StaleFiles(role)));
                self.bury(role, out);
            }
            Event::Spawned { role, outcome } => self.spawned(now, role, outcome, out),
            Event::Ready { role, address } => self.ready(now, role, address, out),
            Event::Exited { role, identity, ending } => self.exited(now, role, identity, ending, out),
            Event::Asked(ask) => self.asked(now, ask, out),
            Event::Tick => self.tick(now, out),
        }
    }

    pub(super) fn life(&self, role: Role) -> Life {
        self.lives.get(&role).copied().unwrap_or(Life::Absent)
    }

    pub(super) fn set(&mut self, role: Role, life: Life) {
        self.lives.insert(role, life);
    }

    fn found(&mut self, now: Millis, role: Role, identity: Identity, frozen: bool) {
        if self.life(role) != Life::Absent {
            return;
        }
        let life = if frozen {
            Life::Frozen { identity }
        } else {
            Life::Starting { identity, since: now, found: true, slow: false }
        };
        self.set(role, life);
    }

    fn spawned(&mut self, now: Millis, role: Role, outcome: Result<Identity, String>, out: &mut Vec<Effect>) {
        let Life::Spawning { since } = self.life(role) else { return };
        match outcome {
            Ok(identity) => self.set(role, Life::Starting { identity, since, found: false, slow: false }),
            Err(why) => {
                self.set(role, Life::Absent);
                out.push(Effect::Report(Notice::StartFailed { role, why }));
                self.abandon_queue(role, out);
            }
        }
        debug_assert!(since <= now, "time only grows");
    }

    fn ready(&mut self, now: Millis, role: Role, address: String, out: &mut Vec<Effect>) {
        let Life::Starting { identity, since, found, .. } = self.life(role) else { return };
        self.set(role, Life::Running { identity });
        out.push(Effect::Report(Notice::Ready { role, address, took: (!found).then(|| now.since(since)) }));
        if role == Role::Zookeeper {
            self.start_queued(now, out);
        }
    }

    fn exited(&mut self, now: Millis, role: Role, identity: Identity, ending: Ending, out: &mut Vec<Effect>) {
        let life = self.life(role);
        if life.identity() != Some(identity) {
            return;
        }
        self.set(role, Life::Absent);
        let notice = match life {
            Life::Stopping { killed: false, .. } => Notice::Stopped(role),
            // Somebody else asked it to.
            Life::Running { .. } | Life::Frozen { .. } if ending == Ending::Code(0) => Notice::Stopped(role),
            Life::Starting { .. } => Notice::StartFailed { role, why: ending.to_string() },
            Life::Absent
            | Life::Queued
            | Life::Spawning { .. }
            | Life::Running { .. }
            | Life::Frozen { .. }
            | Life::Stopping { .. } => Notice::Died { role, ending },
        };
        out.push(Effect::Report(notice));
        self.bury(role, out);
        match life {
            Life::Stopping { again: true, .. } => self.start(now, role, out),
            Life::Starting { .. } => self.abandon_queue(role, out),
            Life::Absent
            | Life::Queued
            | Life::Spawning { .. }
            | Life::Running { .. }
            | Life::Frozen { .. }
            | Life::Stopping { .. } => {}
        }
        if self.going_down {
            self.stop_zookeeper_after_brokers(now, out);
        }
    }

    /// A process that has ended can no longer act, so what its session still claims may be given up at once.
    fn bury(&self, role: Role, out: &mut Vec<Effect>) {
        if self.says_farewell && matches!(role, Role::Broker(_)) {
            out.push(Effect::Farewell { role });
        }
        out.push(Effect::Forget(role));
    }

    /// Without ZooKeeper no broker can start, so none is kept waiting for one that failed.
    fn abandon_queue(&mut self, role: Role, out: &mut Vec<Effect>) {
        if role != Role::Zookeeper {
            return;
        }
        for (role, life) in &mut self.lives {
            if *life == Life::Queued {
                *life = Life::Absent;
                let why = "zookeeper did not start".to_owned();
                out.push(Effect::Report(Notice::StartFailed { role: *role, why }));
            }
        }
    }

    fn tick(&mut self, now: Millis, out: &mut Vec<Effect>) {
        for (&role, life) in &mut self.lives {
            match life {
                Life::Starting { since, slow, .. }
                    if !*slow && now.since(*since) >= self.timing.start_slow =>
                {
                    *slow = true;
                    out.push(Effect::Report(Notice::Slow(role)));
                }
                Life::Stopping { identity, since, killed, .. }
                    if !*killed && now.since(*since) >= self.timing.stop_grace =>
                {
                    *killed = true;
                    out.push(Effect::Report(Notice::Overdue(role)));
                    out.push(Effect::Signal { role, identity: *identity, tell: Tell::Die });
                }
                Life::Absent
                | Life::Queued
                | Life::Spawning { .. }
                | Life::Starting { .. }
                | Life::Running { .. }
                | Life::Frozen { .. }
                | Life::Stopping { .. } => {}
            }
        }
    }

    fn asked(&mut self, now: Millis, ask: Ask, out: &mut Vec<Effect>) {
        match ask {
            Ask::Up => {
                self.going_down = false;
                let roles: Vec<_> = self.lives.keys().copied().collect();
                for role in roles {
                    self.start(now, role, out);
                }
            }
            Ask::Down => self.go_down(now, out),
            Ask::Start(role) => self.start(now, role, out),
            Ask::Stop(role) => self.stop(now, role, false, out),
            Ask::Kill(role) => self.kill(now, role, out),
            Ask::Freeze(role) => self.freeze(role, out),
            Ask::Thaw(role) => self.thaw(role, out),
            Ask::Restart(role) => self.restart(now, role, out),
        }
    }
}
