//! Topics that go, with and without their brokers.

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::BrokerId;

fn mark(world: &mut World, name: &str) {
    world.tell(&format!("{name} is to be deleted"));
    world.deletions.insert(name.into());
    world.cluster(ClusterEvent::Deletions(vec![name.into()]));
}

#[test]
fn every_replica_deletes_before_the_nodes_go() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2], &[2]])]);
    mark(&mut world, "t");
    insta::assert_snapshot!(world.story());
    assert!(world.machine.context().unwrap().topics.is_empty());
    assert!(world.topics.is_empty());
}

#[test]
fn a_dead_broker_holds_the_deletion_up_until_it_returns() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.dies(2);
    world.story();
    mark(&mut world, "t");
    world.returns(2);
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_broker_that_dies_before_it_answered_is_asked_again() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2]])]);
    world.silent.insert(BrokerId(2));
    mark(&mut world, "t");
    world.dies(2);
    world.silent.clear();
    assert!(world.topics.contains_key("t"));
    world.returns(2);
    insta::assert_snapshot!(world.story());
    assert!(world.topics.is_empty());
}

#[test]
fn a_new_controller_goes_on_with_the_deletion() {
    let mut world = World::of(&[1, 2]);
    world.add_topic("t", &[&[1, 2]]);
    world.add_state(&tp("t", 0), 1, 3, &[1, 2]);
    world.deletions.insert("t".into());
    world.elect();
    assert!(world.topics.is_empty());
    insta::assert_snapshot!(world.story());
}

#[test]
fn a_mark_for_nothing_is_removed() {
    let mut world = World::in_office(&[1], &[]);
    mark(&mut world, "ghost");
    insta::assert_snapshot!(world.story(), @r"
    > ghost is to be deleted
      delete   /admin/delete_topics/ghost
    ");
}

#[test]
fn a_topic_being_reassigned_is_deleted_afterwards() {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[1, 2]])]);
    world.ask(Request::Reassign(vec![(tp("t", 0), Some(ids(&[1, 3])))]));
    world.story();
    mark(&mut world, "t");
    assert_eq!(world.story(), "> t is to be deleted\n");
}
