//! Retention of offsets, rule by rule.

use super::world::{Log, World, commit, group, join, old_join, protocol, simple_commit};
use crate::coordinator::group::machine::{CommitRequest, Config, JoinRequest, MemberId, State};
use crate::types::Millis;

const HOUR: i64 = 3_600_000;

/// A world that keeps offsets for an hour and looks every ten minutes.
fn world() -> World {
    World::with_config(Config { offsets_retention: Millis(HOUR), ..Config::default() })
}

/// Lets time pass while a member shows signs of life.
fn live(world: &mut World, member_id: &MemberId, generation: i32, duration_ms: i64) {
    for _ in 0..duration_ms / 5_000 {
        world.pass(5_000);
        world.heartbeat(member_id, generation);
    }
}

#[test]
fn simple_offsets_expire_after_their_commit_and_the_last_takes_the_group() {
    let mut world = world();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.pass(HOUR / 2);
    world.call(simple_commit(&[("t", 1, 1)]));
    world.pass(HOUR / 2);
    assert_eq!((world.committed("t", 0), world.committed("t", 1)), (-1, 1));
    world.pass(HOUR / 2);
    assert_eq!(world.state(), State::Dead);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn offsets_of_an_empty_group_expire_after_it_became_empty() {
    let mut world = world();
    let ids = world.stable(&["a"]);
    world.call(commit(&ids[0], 1, &[("t", 0, 1)]));
    live(&mut world, &ids[0], 1, 2 * HOUR);
    assert_eq!(world.committed("t", 0), 1, "the group reads the topic");
    world.leave(&ids[0]);
    world.pass(HOUR - 600_000);
    assert_eq!(world.committed("t", 0), 1);
    world.pass(2 * 600_000);
    assert_eq!(world.state(), State::Dead);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn offsets_of_topics_that_a_stable_group_no_longer_reads_expire() {
    let mut world = world();
    let ids = world.stable(&["a"]);
    world.call(commit(&ids[0], 1, &[("t", 0, 1), ("left", 0, 1)]));
    live(&mut world, &ids[0], 1, 2 * HOUR);
    assert_eq!((world.committed("t", 0), world.committed("left", 0)), (1, -1));
    assert_eq!(world.state(), State::Stable);
}

#[test]
fn offsets_of_groups_that_are_no_consumers_do_not_expire_while_they_work() {
    let mut world = world();
    let request = JoinRequest { protocol_type: "connect".into(), ..old_join("a") };
    let joined = world.ask(request);
    world.pass(3_000);
    let id = world.joined(joined).member_id;
    world.sync_all(std::slice::from_ref(&id), 1);
    world.call(commit(&id, 1, &[("left", 0, 1)]));
    live(&mut world, &id, 1, 2 * HOUR);
    assert_eq!(world.committed("left", 0), 1);
}

#[test]
fn offsets_do_not_expire_while_members_join() {
    let mut world = world();
    let ids = world.stable(&["a"]);
    world.call(commit(&ids[0], 1, &[("left", 0, 1)]));
    let long = JoinRequest { rebalance_timeout_ms: 10_000_000, ..old_join("b") };
    for _ in 0..30 {
        world.ask(long.clone());
        live(&mut world, &ids[0], 1, 290_000);
    }
    assert_eq!(world.state(), State::PreparingRebalance);
    assert_eq!(world.committed("left", 0), 1);
}

#[test]
fn a_retention_of_the_clients_own_overrides() {
    let mut world = world();
    let with = |retention: i64, partition| CommitRequest {
        retention: Some(Millis(retention)),
        ..simple_commit(&[("t", partition, 1)])
    };
    world.call(with(HOUR / 3, 0));
    world.call(with(3 * HOUR, 1));
    world.pass(HOUR / 2);
    assert_eq!((world.committed("t", 0), world.committed("t", 1)), (-1, 1));
    world.pass(2 * HOUR);
    assert_eq!(world.committed("t", 1), 1);
    world.pass(HOUR);
    assert_eq!(world.committed("t", 1), -1);
}

#[test]
fn unreadable_subscriptions_keep_everything() {
    let mut world = world();
    let mut broken = protocol("range", &["t"]);
    broken.metadata = broken.metadata.slice(..3);
    let joined = world.ask(JoinRequest { protocols: vec![broken], ..old_join("a") });
    world.pass(3_000);
    let id = world.joined(joined).member_id;
    world.sync_all(std::slice::from_ref(&id), 1);
    world.call(commit(&id, 1, &[("left", 0, 1)]));
    live(&mut world, &id, 1, 2 * HOUR);
    assert_eq!(world.committed("left", 0), 1);
}

#[test]
fn a_commit_under_way_keeps_its_offset_and_its_group() {
    let mut world = world();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.pass(HOUR - 1);
    world.log = Log::Holds;
    world.ask(simple_commit(&[("t", 0, 2)]));
    world.pass(600_000);
    world.log = Log::Takes;
    world.finish_appends(Ok(()));
    assert_eq!(world.committed("t", 0), 2);
}

#[test]
fn a_group_without_offsets_goes_at_the_next_look() {
    let mut world = world();
    let ids = world.stable(&["a"]);
    world.leave(&ids[0]);
    assert_eq!(world.shard.group_count(), 1);
    world.pass(600_000);
    assert_eq!(world.shard.group_count(), 0);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn a_removal_that_is_not_stored_is_tried_again() {
    let mut world = world();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.log = Log::Refuses(crate::coordinator::group::machine::ErrorCode::NotEnoughReplicas);
    world.pass(HOUR);
    assert_eq!(world.state(), State::Empty);
    world.log = Log::Takes;
    world.pass(600_000);
    assert_eq!(world.state(), State::Dead);
    let given = world.call(JoinRequest { group: group(), ..join("a") });
    assert!(!given.member_id.is_unknown(), "and a new group can begin");
}
