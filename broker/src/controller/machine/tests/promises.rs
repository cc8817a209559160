//! What holds whatever happens, in whatever order: checked under random events whose writes are answered late.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::{BrokerEpoch, BrokerId};
use crate::zk::layout::partition_state::LeaderRecoveryState;

/// One thing that happens to a cluster of four brokers and two topics.
#[derive(Debug, Clone)]
enum Happening {
    Dies(i32),
    Returns(i32),
    Bounces(i32),
    /// The leader of a partition wants these replicas in sync, as far as it may.
    Isr(usize, Vec<i32>),
    /// Somebody else writes a state node.
    Interference(usize, Vec<i32>),
    Reassign(usize, Vec<i32>),
    Cancel(usize),
    Prefer,
    Shutdown(i32),
    Delete,
    /// The topic comes (back).
    Create,
    Grow,
    /// Another controller takes over.
    NewController,
    /// The oldest write is answered.
    Answer,
}

fn happening() -> impl Strategy<Value = Happening> {
    let broker = 1..=4_i32;
    let brokers = || proptest::collection::vec(1..=4_i32, 1..4);
    let partition = 0..5_usize;
    prop_oneof![
        4 => broker.clone().prop_map(Happening::Dies),
        4 => broker.clone().prop_map(Happening::Returns),
        1 => broker.clone().prop_map(Happening::Bounces),
        4 => (partition.clone(), brokers()).prop_map(|(partition, isr)| Happening::Isr(partition, isr)),
        1 => (partition.clone(), brokers()).prop_map(|(partition, isr)| Happening::Interference(partition, isr)),
        3 => (partition.clone(), brokers()).prop_map(|(partition, to)| Happening::Reassign(partition, to)),
        1 => partition.prop_map(Happening::Cancel),
        1 => Just(Happening::Prefer),
        1 => broker.prop_map(Happening::Shutdown),
        1 => Just(Happening::Delete),
        1 => Just(Happening::Create),
        1 => Just(Happening::Grow),
        1 => Just(Happening::NewController),
        8 => Just(Happening::Answer),
    ]
}

/// The partitions that happenings count.
fn partition(index: usize) -> crate::types::TopicPartition {
    [tp("a", 0), tp("a", 1), tp("a", 2), tp("b", 0), tp("b", 1)][index].clone()
}

fn distinct(numbers: &[i32]) -> Vec<BrokerId> {
    let mut seen = BTreeSet::new();
    ids(numbers).into_iter().filter(|id| seen.insert(*id)).collect()
}

fn happen(world: &mut World, happening: Happening) {
    match happening {
        Happening::Dies(id) if world.brokers.len() > 1 => {
            world.brokers.remove(&BrokerId(id));
            world.look_at_brokers();
        }
        Happening::Returns(id) if !world.brokers.contains_key(&BrokerId(id)) => {
            world.register(id);
            world.look_at_brokers();
        }
        Happening::Bounces(id) if world.brokers.contains_key(&BrokerId(id)) => {
            world.register(id);
            world.look_at_brokers();
        }
        Happening::Isr(index, isr) => alter(world, index, &isr),
        Happening::Interference(index, isr) => interfere(world, index, &isr),
        Happening::Reassign(index, target) => {
            world.ask(Request::Reassign(vec![(partition(index), Some(distinct(&target)))]));
        }
        Happening::Cancel(index) => world.ask(Request::Reassign(vec![(partition(index), None)])),
        Happening::Prefer => {
            world.ask(Request::ElectLeaders { kind: ElectionKind::Preferred, partitions: None });
        }
        Happening::Shutdown(id) => {
            let epoch = world.brokers.get(&BrokerId(id)).map_or(BrokerEpoch::UNKNOWN, |it| it.epoch);
            world.ask(Request::ControlledShutdown { broker: BrokerId(id), epoch });
        }
        Happening::Delete if world.topics.contains_key("b") => {
            world.deletions.insert("b".into());
            world.cluster(ClusterEvent::Deletions(vec!["b".into()]));
        }
        Happening::Create if !world.topics.contains_key("b") => {
            world.add_topic("b", &[&[1, 2, 3], &[4, 3]]);
            let names = world.topics.keys().cloned().collect();
            world.cluster(ClusterEvent::Topics(names));
        }
        Happening::Grow => {
            let topic = NewPartitions { topic: "a".into(), count: 3, assignments: None, seed: 1 };
            world.ask(Request::CreatePartitions { topics: vec![topic], validate_only: false });
        }
        Happening::NewController => {
            world.held.clear();
            world.step(Event::SessionExpired);
            world.elect();
        }
        Happening::Answer => {
            if let Some(answer) = world.held.pop_front() {
                world.step(answer);
            }
        }
        Happening::Dies(_)
        | Happening::Returns(_)
        | Happening::Bounces(_)
        | Happening::Delete
        | Happening::Create => {}
    }
}

/// The leader asks for what a leader may ask for: itself, and replicas that it has.
fn alter(world: &mut World, index: usize, isr: &[i32]) {
    let name = partition(index);
    let Some((state, version)) = world.states.get(&name).cloned() else { return };
    let Some(node) = world.topics.get(&name.topic).cloned() else { return };
    let Some(broker) = world.brokers.get(&state.leader) else { return };
    let replicas = &node.partitions[&name.partition].replicas;
    let mut wished = vec![state.leader];
    wished.extend(distinct(isr).into_iter().filter(|it| *it != state.leader && replicas.contains(it)));
    let wish = AlterWish {
        partition: name.partition,
        leader_epoch: state.leader_epoch,
        isr: wished,
        recovery: LeaderRecoveryState::Recovered,
        partition_epoch: crate::types::PartitionEpoch(version),
    };
    let topic = AlterTopic { id: node.id, name: None, partitions: vec![wish] };
    let request =
        AlterPartition { broker: state.leader, broker_epoch: broker.epoch, version: 3, topics: vec![topic] };
    world.ask(Request::AlterPartition(request));
}

/// A leader of an older version writes its in-sync replicas itself.
fn interfere(world: &mut World, index: usize, isr: &[i32]) {
    let name = partition(index);
    let Some((mut state, version)) = world.states.get(&name).cloned() else { return };
    if world.brokers.contains_key(&state.leader) {
        let members = distinct(isr);
        state.isr.retain(|it| *it == state.leader || members.contains(it));
        world.states.insert(name, (state, version + 1));
    }
}

/// Every write is answered, and the controller hears once more what is there.
fn settle(world: &mut World) {
    world.hold = false;
    while let Some(answer) = world.held.pop_front() {
        world.step(answer);
    }
    world.look_at_brokers();
    let names = world.topics.keys().cloned().collect();
    world.cluster(ClusterEvent::Topics(names));
    let stored: Vec<_> = world.states.iter().map(|(name, state)| (name.clone(), state.clone())).collect();
    let states = stored
        .into_iter()
        .map(|(name, (state, version))| (name, LeaderAndIsr::from_node(state, version)))
        .collect();
    world.cluster(ClusterEvent::StatesChanged(states, Vec::new()));
}

/// What must be so when nothing is under way.
fn check_settled(world: &World) -> Result<(), TestCaseError> {
    let context = world.machine.context().expect("in office");
    for (name, (state, version)) in &world.states {
        if context.is_deleting(&name.topic) {
            continue;
        }
        let node = &world.topics[&name.topic];
        let assignment = &node.partitions[&name.partition];
        let known = context.partition(name).and_then(|it| it.leadership.clone());
        prop_assert_eq!(known, Some(LeaderAndIsr::from_node(state.clone(), *version)), "{}", name);
        let members = state.isr.iter().all(|member| assignment.replicas.contains(member));
        prop_assert!(members, "{name}: in sync {:?} of {:?}", state.isr, assignment.replicas);
        let dead = state.isr.iter().any(|member| !world.brokers.contains_key(member));
        prop_assert!(!dead || state.isr.len() == 1, "{name}: the dead are in sync: {:?}", state.isr);
        let led = world.brokers.contains_key(&state.leader);
        let eligible =
            state.isr.iter().any(|it| world.brokers.contains_key(it) && !context.shutting_down.contains(it));
        prop_assert!(led || !eligible, "{name}: {state:?} has no living leader and could have one");
        for broker in world.brokers.keys() {
            let told = world.known.get(broker).and_then(|known| known.get(name));
            let told = told.map(|it| (it.leader, it.leader_epoch));
            prop_assert_eq!(told, Some((state.leader, state.leader_epoch)), "{} knows of {}", broker, name);
            let stopped = context.shutting_down.contains(broker);
            if assignment.replicas.contains(broker) && !stopped {
                let told = world.told.get(broker).and_then(|told| told.get(name));
                let epoch = told.map(|it| it.leader_epoch);
                prop_assert_eq!(epoch, Some(state.leader_epoch), "{} was told of {}", broker, name);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn whatever_happens(happenings in proptest::collection::vec(happening(), 1..60)) {
        let mut world =
            World::in_office(&[1, 2, 3, 4], &[("a", &[&[1, 2, 3], &[2, 3, 4]]), ("b", &[&[3, 1], &[4]])]);
        world.hold = true;
        for happening in happenings {
            happen(&mut world, happening);
            prop_assert_eq!(&world.broken, &Vec::<String>::new());
        }
        settle(&mut world);
        prop_assert_eq!(&world.broken, &Vec::<String>::new());
        check_settled(&world)?;
    }
}
