//! `Heartbeat` and sessions, rule by rule.

use super::world::{World, heartbeat, stranger, sync};
use crate::coordinator::group::machine::{ErrorCode, HeartbeatRequest, State};

#[test]
fn each_state_has_its_answer() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None, "between join and sync");
    world.sync_all(&ids, 1);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None, "stable");
    assert_eq!(world.heartbeat(&ids[0], 2), ErrorCode::IllegalGeneration);
    assert_eq!(world.heartbeat(&stranger(), 1), ErrorCode::UnknownMemberId);
    let unknown_instance = HeartbeatRequest { instance_id: Some("i".into()), ..heartbeat(&ids[0], 1) };
    assert_eq!(world.call(unknown_instance).error, ErrorCode::UnknownMemberId);
    world.leave(&ids[1]);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::RebalanceInProgress, "members join");
    world.leave(&ids[0]);
    assert_eq!(world.state(), State::Empty);
    assert_eq!(world.heartbeat(&ids[0], 2), ErrorCode::UnknownMemberId, "nobody is there");
}

#[test]
fn a_silent_member_is_removed_and_the_others_rebalance() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    world.pass(9_999);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None);
    world.pass(1);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::RebalanceInProgress);
    assert_eq!(world.heartbeat(&ids[1], 1), ErrorCode::UnknownMemberId);
}

#[test]
fn a_member_that_waits_for_us_need_not_speak() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    let follower = world.ask(sync(&ids[1], 1));
    for _ in 0..5 {
        world.pass(9_000);
        world.heartbeat(&ids[0], 1);
    }
    assert!(world.is_open(follower), "its sync waits for the leader");
    world.call(sync(&ids[0], 1));
    world.pass(9_999);
    assert_eq!(world.heartbeat(&ids[1], 1), ErrorCode::None, "its session began anew with the answer");
}

#[test]
fn a_commit_is_a_sign_of_life() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    for _ in 0..3 {
        world.pass(9_999);
        assert_eq!(world.commit(&ids[0], 1), ErrorCode::None);
    }
}

#[test]
fn the_last_member_to_fall_silent_leaves_an_empty_group() {
    let mut world = World::new();
    world.stable(&["a", "b"]);
    world.pass(10_000);
    assert_eq!(world.state(), State::Empty);
}
