//! Loading after a failover, and resigning before one.

use super::world::{Log, World, commit, group, join, old_join, simple_commit, sync};
use crate::coordinator::group::machine::{
    Config, DeleteGroupRequest, DeleteOffsetsRequest, ErrorCode, Event, Generation, JoinRequest, Shard, State,
};
use crate::types::TopicPartition;

#[test]
fn a_loaded_group_goes_on_in_its_generation() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    world.commit(&ids[0], 1);
    let before = world.describe();
    world.fail_over();
    assert_eq!(world.describe(), before);
    assert_eq!(world.committed("t", 0), 5);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None);
    assert_eq!(world.commit(&ids[1], 1), ErrorCode::None);
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    assert!(world.is_open(rejoin), "the leader is known: its join rebalances");
}

#[test]
fn loaded_members_get_a_fresh_session() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.pass(9_999);
    world.fail_over();
    world.pass(9_999);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None);
    world.fail_over();
    world.pass(10_000);
    assert_eq!(world.state(), State::Empty);
}

#[test]
fn an_empty_group_is_loaded_with_its_generation() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.leave(&ids[0]);
    world.fail_over();
    assert_eq!(world.state(), State::Empty);
    world.complete_join(&["b"]);
    assert_eq!(world.generation(), 3);
}

#[test]
fn a_rebalance_that_was_under_way_is_forgotten() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    let newcomer = world.join_with_new_id("b");
    world.fail_over();
    assert_eq!(world.joined(newcomer).error, ErrorCode::NotCoordinator);
    assert_eq!(world.state(), State::Stable);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None);
}

#[test]
fn whoever_waits_is_sent_away_on_resignation() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    world.log = Log::Holds;
    let follower = world.ask(sync(&ids[1], 1));
    let leader = world.ask(sync(&ids[0], 1));
    let simple = crate::coordinator::group::machine::CommitRequest {
        group: "simple".into(),
        ..simple_commit(&[("t", 0, 1)])
    };
    let committing = world.ask(simple);
    world.event(Event::Resigned);
    assert_eq!(world.synced(follower).error, ErrorCode::NotCoordinator);
    assert_eq!(world.synced(leader).error, ErrorCode::NotCoordinator);
    assert!(!world.is_open(committing));
    assert_eq!(world.shard.group_count(), 0);
    assert_eq!(world.shard.next_deadline(), None);
    world.finish_appends(Ok(()));
}

#[test]
fn deletions_under_way_are_sent_away_on_resignation() {
    let mut world = World::new();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.log = Log::Holds;
    let topic_partitions = vec![TopicPartition::new("t", 0)];
    let offsets = world.ask(DeleteOffsetsRequest { group: group(), topic_partitions });
    let whole = world.ask(DeleteGroupRequest { group: group() });
    world.event(Event::Resigned);
    assert_eq!(world.answer::<DeleteOffsetsRequest>(offsets).unwrap().error, ErrorCode::NotCoordinator);
    assert_eq!(world.answer::<DeleteGroupRequest>(whole).unwrap().error, ErrorCode::NotCoordinator);
}

#[test]
fn a_group_that_became_too_large_rebalances_when_it_is_loaded() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b", "c"]);
    let mut smaller = Shard::new(Config { max_size: 2, ..Config::default() }, 3);
    for appended in &world.stored {
        for record in &appended.records {
            smaller.replay(record, None);
        }
    }
    world.shard = smaller;
    world.event(Event::Loaded);
    assert_eq!(world.state(), State::PreparingRebalance);
    let joins: Vec<_> =
        ids.iter().map(|id| world.ask(JoinRequest { member_id: id.clone(), ..join("c") })).collect();
    assert_eq!(world.joined(joins[2]).error, ErrorCode::GroupMaxSizeReached);
    assert_eq!(world.joined(joins[0]).generation, Generation(2));
}

#[test]
fn offsets_alone_make_an_empty_group() {
    let mut world = World::new();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.fail_over();
    assert_eq!(world.state(), State::Empty);
    assert_eq!(world.committed("t", 0), 1);
    let joined = world.ask(old_join("a"));
    world.pass(3_000);
    assert_eq!(world.joined(joined).generation, Generation(1));
}

#[test]
fn transactions_go_on_after_a_failover() {
    use crate::coordinator::group::machine::{CommitRequest, ProducerId, Transaction};
    let mut world = World::new();
    let transaction = Some(Transaction { producer_id: ProducerId(9), producer_epoch: 0 });
    world.call(CommitRequest { transaction, ..simple_commit(&[("t", 0, 4)]) });
    world.fail_over();
    assert_eq!(world.committed("t", 0), -1);
    world.event(Event::TransactionEnded { producer_id: ProducerId(9), committed: true });
    assert_eq!(world.committed("t", 0), 4);

    let mut shard = world.reload();
    shard.replay_marker(ProducerId(9), false);
    assert_eq!(shard.group_count(), 0, "an aborted commit leaves nothing");
}

#[test]
fn a_member_of_a_loaded_group_commits_as_before() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.fail_over();
    world.call(commit(&ids[0], 1, &[("t", 2, 8)]));
    world.fail_over();
    assert_eq!(world.committed("t", 2), 8);
}
