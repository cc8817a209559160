//! Replicas that move, leaderships that move with them, and second thoughts.

use ottla_protocol::message::ErrorCode;

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::{BrokerId, PartitionEpoch};
use crate::zk::layout::partition_state::LeaderRecoveryState;

fn reassign(world: &mut World, target: Option<&[i32]>) {
    world.tell(&format!("t-0 is to be on {target:?}"));
    world.ask(Request::Reassign(vec![(tp("t", 0), target.map(ids))]));
}

fn catches_up(world: &mut World, isr: &[i32]) {
    world.tell(&format!("the leader reports {isr:?} in sync"));
    let context = world.machine.context().unwrap();
    let now = context.partition(&tp("t", 0)).unwrap().leadership.clone().unwrap();
    let wish = AlterWish {
        partition: 0,
        leader_epoch: now.leader_epoch,
        isr: ids(isr),
        recovery: LeaderRecoveryState::Recovered,
        partition_epoch: now.partition_epoch,
    };
    let topic = AlterTopic { id: context.topics["t"].id, name: None, partitions: vec![wish] };
    let broker_epoch = context.brokers[&now.leader].epoch;
    world.ask(Request::AlterPartition(AlterPartition {
        broker: now.leader,
        broker_epoch,
        version: 3,
        topics: vec![topic],
    }));
}

#[test]
fn a_replica_moves_to_another_broker() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    reassign(&mut world, Some(&[2, 3]));
    world.ask(Request::ListReassignments(None));
    catches_up(&mut world, &[1, 2, 3]);
    world.ask(Request::ListReassignments(None));
    insta::assert_snapshot!(world.story());
}

#[test]
fn another_order_makes_another_replica_preferred() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2, 3]])]);
    reassign(&mut world, Some(&[3, 1, 2]));
    world.tell("the preferred leader is to lead");
    let partitions = Some(vec![tp("t", 0)]);
    world.ask(Request::ElectLeaders { kind: ElectionKind::Preferred, partitions });
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_replica_more_and_a_replica_less() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1]])]);
    reassign(&mut world, Some(&[1, 3]));
    catches_up(&mut world, &[1, 3]);
    reassign(&mut world, Some(&[3]));
    insta::assert_snapshot!(world.story());
    assert_eq!(world.states[&tp("t", 0)].0.isr, ids(&[3]));
}

#[test]
fn a_cancelled_move_leaves_nothing_behind() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    reassign(&mut world, Some(&[1, 3]));
    world.story();
    reassign(&mut world, None);
    reassign(&mut world, None);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_second_wish_replaces_the_first() {
    let mut world = World::in_office(&[1, 2, 3, 4], &[("t", &[&[1, 2]])]);
    reassign(&mut world, Some(&[1, 3]));
    world.story();
    reassign(&mut world, Some(&[1, 4]));
    catches_up(&mut world, &[1, 2, 4]);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_new_controller_goes_on_with_the_move() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    reassign(&mut world, Some(&[1, 3]));
    world.step(Event::SessionExpired);
    world.elect();
    world.story();
    catches_up(&mut world, &[1, 2, 3]);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_move_to_a_broker_that_was_away_begins_when_it_returns() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    reassign(&mut world, Some(&[1, 3]));
    world.dies(3);
    world.story();
    world.returns(3);
    catches_up(&mut world, &[1, 2, 3]);
    let partition = world.machine.context().unwrap().partition(&tp("t", 0)).unwrap();
    assert_eq!(partition.assignment.replicas, ids(&[1, 3]));
}

#[test]
fn a_move_is_not_cancelled_while_only_its_new_replica_has_all_records() {
    let mut world = World::in_office(&[1, 2, 4], &[("t", &[&[1]])]);
    reassign(&mut world, Some(&[4, 2]));
    catches_up(&mut world, &[1, 4]);
    world.dies(1);
    assert_eq!(world.states[&tp("t", 0)].0.isr, ids(&[4]));
    world.story();
    reassign(&mut world, None);
    insta::assert_snapshot!(world.story(), @r"
    > t-0 is to be on None
      reply    reassigning t-0: InvalidReplicaAssignment
    ");
}

#[test]
fn impossible_moves_are_refused() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    let cases: [(&str, Option<&[i32]>, ErrorCode); 6] = [
        ("x", Some(&[1]), ErrorCode::UnknownTopicOrPartition),
        ("t", Some(&[]), ErrorCode::InvalidReplicaAssignment),
        ("t", Some(&[1, 1]), ErrorCode::InvalidReplicaAssignment),
        ("t", Some(&[-1]), ErrorCode::InvalidReplicaAssignment),
        ("t", Some(&[1, 9]), ErrorCode::InvalidReplicaAssignment),
        ("t", None, ErrorCode::NoReassignmentInProgress),
    ];
    for (topic, target, expected) in cases {
        world.ask(Request::Reassign(vec![(tp(topic, 0), target.map(ids))]));
        assert_eq!(*world.last_reply(), Reply::Reassign(vec![(tp(topic, 0), Err(expected))]), "{target:?}");
    }
}

#[test]
fn an_old_tools_wish_is_carried_out_and_taken_off_its_node() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    world.tell("the node wishes t-0 on 1 and 3, and a ghost on 1");
    let wishes = [(tp("t", 0), ids(&[1, 3])), (tp("ghost", 0), ids(&[1]))];
    world.cluster(ClusterEvent::ReassignmentNode(Some(wishes.into())));
    catches_up(&mut world, &[1, 2, 3]);
    world.tell("a node that cannot be read");
    world.cluster(ClusterEvent::ReassignmentNode(None));
    insta::assert_snapshot!(world.story());
    assert_eq!(world.states[&tp("t", 0)].0.leader, BrokerId(1));
    assert!(world.states[&tp("t", 0)].1 > PartitionEpoch(0).0);
}
