//! Brokers that die and return, and controllers that follow each other.

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch};

/// Three partitions, each led by another broker.
const ORDERS: (&str, &[&[i32]]) = ("orders", &[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]]);

#[test]
fn a_new_controller_takes_office() {
    let mut world = World::of(&[1, 2, 3]);
    world.add_topic("orders", ORDERS.1);
    world.add_state(&tp("orders", 0), 1, 7, &[1, 2, 3]);
    world.add_state(&tp("orders", 1), 4, 2, &[4, 3, 1]);
    world.tell("orders-0 is led by 1, orders-1 by broker 4, which is dead, orders-2 has no state yet");
    world.elect();
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_leader_dies_and_returns() {
    let mut world = World::in_office(&[1, 2, 3], &[ORDERS]);
    world.dies(2);
    world.returns(2);
    insta::assert_snapshot!(world.story());
}

#[test]
fn the_last_in_sync_replica_may_lead_again() {
    let mut world = World::in_office(&[1, 2, 3], &[("solo", &[&[2, 3]])]);
    world.dies(3);
    world.dies(2);
    world.tell("broker 3 is alive but has not all records");
    world.returns(3);
    world.returns(2);
    insta::assert_snapshot!(world.story());
}

#[test]
fn where_it_is_allowed_an_unclean_leader_is_elected() {
    let mut world = World::in_office(&[1, 2, 3], &[("solo", &[&[2, 3]])]);
    world.dies(3);
    world.dies(2);
    world.returns(3);
    world.story();
    world.tell("unclean elections are allowed for the topic");
    world.cluster(ClusterEvent::TopicUnclean("solo".into(), Some(true)));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_broker_that_returned_before_its_death_was_seen_fails_and_starts() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3]])]);
    world.tell("broker 2 has a new registration");
    world.register(2);
    world.look_at_brokers();
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_broker_that_advertises_another_address_is_made_known() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.brokers.get_mut(&BrokerId(2)).unwrap().registration.endpoints[0].port = 9999;
    world.look_at_brokers();
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_new_topic_gets_its_leaders() {
    let mut world = World::in_office(&[1, 2, 3], &[]);
    world.tell("orders appears");
    world.add_topic("orders", ORDERS.1);
    world.cluster(ClusterEvent::Topics(vec!["orders".into()]));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_partition_without_a_living_replica_waits_for_one() {
    let mut world = World::in_office(&[1, 2], &[]);
    world.add_topic("t", &[&[3]]);
    world.cluster(ClusterEvent::Topics(vec!["t".into()]));
    assert_eq!(world.story(), "");
    world.returns(3);
    insta::assert_snapshot!(world.story());
}

#[test]
fn partitions_added_by_a_tool_are_created_and_changed_replicas_are_not_taken() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.add_topic("t", &[&[2, 1], &[2, 1]]);
    let mut node = world.topics[&std::sync::Arc::from("t")].clone();
    node.id = world.machine.context().unwrap().topics["t"].id;
    let read = TopicRead { node, ..TopicRead::default() };
    world.cluster(ClusterEvent::Topic("t".into(), Some(read)));
    let partition = world.machine.context().unwrap().partition(&tp("t", 0)).unwrap().clone();
    assert_eq!(partition.assignment.replicas, ids(&[1, 2]));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_topic_made_anew_under_its_name_replaces_the_old_one() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.topics.clear();
    world.states.clear();
    world.add_topic("x", &[&[1]]);
    world.add_topic("t", &[&[2]]);
    let node = world.topics[&std::sync::Arc::from("t")].clone();
    let id = node.id;
    world.cluster(ClusterEvent::Topic("t".into(), Some(TopicRead { node, ..TopicRead::default() })));
    let context = world.machine.context().unwrap();
    assert_eq!(context.topics["t"].id, id);
    assert_eq!(context.partition(&tp("t", 0)).unwrap().leadership.as_ref().unwrap().leader, BrokerId(2));
    assert_eq!(context.names.len(), 1);
}

#[test]
fn a_write_that_met_another_is_planned_again_from_what_is_stored() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2, 3]])]);
    world.tell("an older leader shrinks the in-sync replicas to 1 and 3 behind the controller's back");
    let (mut state, version) = world.states[&tp("t", 0)].clone();
    state.isr = ids(&[1, 3]);
    world.states.insert(tp("t", 0), (state, version + 1));
    world.dies(1);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_later_controllers_state_ends_this_one() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3]])]);
    let (mut state, version) = world.states[&tp("t", 0)].clone();
    state.controller_epoch = ControllerEpoch(6);
    world.states.insert(tp("t", 0), (state, version + 1));
    world.dies(2);
    insta::assert_snapshot!(world.story());
    assert_eq!(world.machine.active_epoch(), None);
}

#[test]
fn a_fenced_write_ends_this_controller_before_anybody_is_told() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[2, 3]])]);
    world.refuse_writes = Some(Outcome::Fenced);
    world.dies(2);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_failed_log_directory_takes_its_replicas_out() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2], &[2, 1]])]);
    world.tell("broker 1 lost a directory");
    world.cluster(ClusterEvent::LogDirsFailed(ids(&[1]), vec!["log_dir_event_0000000000".to_owned()]));
    world.tell("and answers that t-0 was in it");
    let results = vec![(tp("t", 0), 56), (tp("t", 1), 0)];
    world.cluster(ClusterEvent::LeaderAndIsrAnswered(BrokerId(1), results));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_channel_that_overflowed_is_told_everything_again() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2], &[2]])]);
    world.cluster(ClusterEvent::ChannelOverflowed(BrokerId(2)));
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_hundred_partitions_of_a_dead_broker_are_one_write_and_one_request_for_each_other() {
    let partitions: Vec<&[i32]> = vec![&[2, 1, 3]; 100];
    let mut world = World::in_office(&[1, 2, 3], &[("big", &partitions)]);
    world.dies(2);
    let story = world.story();
    assert_eq!(story.matches("to 1 ").count(), 2, "LeaderAndIsr and UpdateMetadata");
    assert_eq!(story.matches("write    big-").count(), 100);
    let context = world.machine.context().unwrap();
    for (name, partition) in context.partitions() {
        let leadership = partition.leadership.as_ref().unwrap();
        assert_eq!((leadership.leader, leadership.leader_epoch), (BrokerId(1), LeaderEpoch(1)), "{name}");
        assert_eq!(leadership.isr, ids(&[1, 3]), "{name}");
    }
}
