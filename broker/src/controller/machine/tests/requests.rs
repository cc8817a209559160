//! What brokers and operators ask for.

use std::sync::Arc;

use ottla_protocol::message::ErrorCode;

use super::super::*;
use super::world::{World, ids, settings, tp};
use crate::types::{BrokerEpoch, BrokerId, Millis};

fn shutdown(world: &mut World, id: i32) {
    world.tell(&format!("broker {id} wants to stop"));
    let epoch = world.brokers[&BrokerId(id)].epoch;
    world.ask(Request::ControlledShutdown { broker: BrokerId(id), epoch });
}

#[test]
fn a_broker_that_stops_hands_its_leaderships_over() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3, 1], &[1, 2, 3]]), ("lonely", &[&[2]])]);
    shutdown(&mut world, 2);
    world.dies(2);
    insta::assert_snapshot!(world.story());
}

#[test]
fn leaderships_that_nobody_can_take_are_named() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3]])]);
    world.dies(3);
    shutdown(&mut world, 2);
    assert_eq!(*world.last_reply(), Reply::ControlledShutdown(vec![tp("t", 0)]));
}

#[test]
fn a_shutdown_in_an_old_registration_is_refused() {
    let mut world = World::in_office(&[1, 2], &[]);
    let known = world.brokers[&BrokerId(2)].epoch;
    let cases = [
        (2, BrokerEpoch(known.0 - 1), Reply::Refused(ErrorCode::StaleBrokerEpoch)),
        (9, BrokerEpoch::UNKNOWN, Reply::Refused(ErrorCode::BrokerNotAvailable)),
        (9, BrokerEpoch(1), Reply::Refused(ErrorCode::UnknownServerError)),
        (2, known, Reply::ControlledShutdown(Vec::new())),
    ];
    for (broker, epoch, expected) in cases {
        world.ask(Request::ControlledShutdown { broker: BrokerId(broker), epoch });
        assert_eq!(*world.last_reply(), expected, "{broker} {epoch}");
    }
}

#[test]
fn preferred_leaders_are_elected_where_it_is_needed_and_possible() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 1], &[1, 2], &[3, 1]])]);
    world.dies(2);
    world.dies(3);
    world.returns(2);
    for partition in [0, 1] {
        let name = tp("t", partition);
        let (mut state, version) = world.states[&name].clone();
        state.isr = ids(&[1, 2]);
        world.states.insert(name.clone(), (state.clone(), version + 1));
        let known = LeaderAndIsr::from_node(state, version + 1);
        world.cluster(ClusterEvent::StatesChanged([(name, known)].into(), Vec::new()));
    }
    world.story();
    let partitions = vec![tp("t", 0), tp("t", 1), tp("t", 2), tp("x", 0)];
    world.ask(Request::ElectLeaders { kind: ElectionKind::Preferred, partitions: Some(partitions) });
    insta::assert_snapshot!(world.story());
}

#[test]
fn asked_for_everything_what_needs_nothing_is_left_out() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2], &[2, 1]])]);
    world.ask(Request::ElectLeaders { kind: ElectionKind::Preferred, partitions: None });
    assert_eq!(*world.last_reply(), Reply::ElectLeaders(Vec::new()));
    world.ask(Request::ElectLeaders { kind: ElectionKind::Unclean, partitions: Some(vec![tp("t", 0)]) });
    assert_eq!(
        *world.last_reply(),
        Reply::ElectLeaders(vec![(tp("t", 0), Err(ErrorCode::ElectionNotNeeded))])
    );
}

#[test]
fn an_operator_can_accept_the_loss_of_records() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.dies(2);
    world.dies(1);
    world.returns(2);
    world.story();
    let partitions = Some(vec![tp("t", 0)]);
    world.ask(Request::ElectLeaders { kind: ElectionKind::Unclean, partitions });
    insta::assert_snapshot!(world.story());
}

#[test]
fn an_old_tools_wish_for_preferred_leaders_is_granted_and_its_node_deleted() {
    let mut world = World::in_office(&[1], &[]);
    world.cluster(ClusterEvent::PreferredElectionNode(vec![tp("ghost", 0)]));
    insta::assert_snapshot!(world.story(), @"  delete   /admin/preferred_replica_election");
}

#[test]
fn the_balance_is_restored_in_its_own_time() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[2, 1]])]);
    world.dies(2);
    world.returns(2);
    let name = tp("t", 0);
    let (mut state, version) = world.states[&name].clone();
    state.isr = ids(&[1, 2]);
    world.states.insert(name.clone(), (state.clone(), version + 1));
    let known = LeaderAndIsr::from_node(state, version + 1);
    world.cluster(ClusterEvent::StatesChanged([(name, known)].into(), Vec::new()));
    world.story();
    assert_eq!(world.machine.next_deadline(), Some(Millis(5000)));
    world.step_at(Millis(4999), Event::Tick);
    assert_eq!(world.story(), "");
    world.step_at(Millis(5000), Event::Tick);
    assert_eq!(world.machine.next_deadline(), Some(Millis(305_000)));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_small_imbalance_is_left_alone() {
    // Ten percent are tolerated: one of ten is, two of ten are not.
    for (away, moved) in [(1, 0), (2, 2)] {
        let mut world = World::of(&[1, 2]);
        let partitions: [&[i32]; 10] = [&[1, 2]; 10];
        world.add_topic("t", &partitions);
        for partition in 0..10 {
            let leader = if partition < away { 2 } else { 1 };
            world.add_state(&tp("t", partition), leader, 1, &[1, 2]);
        }
        world.elect();
        world.story();
        world.step_at(Millis(5000), Event::Tick);
        assert_eq!(world.story().matches("write    t-").count(), moved, "{away} away");
    }
    assert_eq!(settings().imbalance_percentage, 10);
}

fn grow(topic: &str, count: i32, assignments: Option<Vec<Vec<BrokerId>>>) -> Request {
    let wish = NewPartitions { topic: topic.into(), count, assignments, seed: 0 };
    Request::CreatePartitions { topics: vec![wish], validate_only: false }
}

#[test]
fn a_topic_grows() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3]])]);
    world.ask(grow("t", 3, None));
    world.ask(grow("t", 4, Some(vec![ids(&[1, 2])])));
    insta::assert_snapshot!(world.story());
}

#[test]
fn impossible_growth_is_refused() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    let cases = [
        (grow("x", 2, None), ErrorCode::UnknownTopicOrPartition),
        (grow("t", 1, None), ErrorCode::InvalidPartitions),
        (grow("t", 0, None), ErrorCode::InvalidPartitions),
        (grow("t", 3, Some(vec![ids(&[1, 2])])), ErrorCode::InvalidReplicaAssignment),
        (grow("t", 2, Some(vec![ids(&[1])])), ErrorCode::InvalidReplicaAssignment),
        (grow("t", 2, Some(vec![ids(&[1, 1])])), ErrorCode::InvalidReplicaAssignment),
        (grow("t", 2, Some(vec![ids(&[1, 9])])), ErrorCode::InvalidReplicaAssignment),
    ];
    for (request, expected) in cases {
        let text = format!("{request:?}");
        world.ask(request);
        match world.last_reply() {
            Reply::CreatePartitions(results) => {
                assert_eq!(results[0].1.as_ref().unwrap_err().0, expected, "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    let wish = NewPartitions { topic: Arc::from("t"), count: 5, assignments: None, seed: 0 };
    world.story();
    world.ask(Request::CreatePartitions { topics: vec![wish], validate_only: true });
    assert_eq!(world.story(), "  reply    grows t: yes\n");
}
