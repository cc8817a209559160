//! `OffsetCommit`, `TxnOffsetCommit` and `OffsetFetch`, rule by rule.

use super::world::{Log, WALL_START, World, commit, group, simple_commit, stranger};
use crate::coordinator::group::machine::{
    CommitRequest, ErrorCode, Event, FetchRequest, ProducerId, Record, State, Transaction,
};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

fn transactional(request: CommitRequest) -> CommitRequest {
    CommitRequest {
        transaction: Some(Transaction { producer_id: ProducerId(9), producer_epoch: 3 }),
        ..request
    }
}

fn error(world: &mut World, request: CommitRequest) -> ErrorCode {
    world.call(request).partitions[0].1
}

fn end_transaction(world: &mut World, committed: bool) {
    world.event(Event::TransactionEnded { producer_id: ProducerId(9), committed });
}

#[test]
fn simple_consumers_commit_without_membership_to_groups_without_members() {
    let mut world = World::new();
    assert_eq!(error(&mut world, simple_commit(&[("t", 0, 7)])), ErrorCode::None, "and so make the group");
    assert_eq!(world.state(), State::Empty);
    assert_eq!(world.committed("t", 0), 7);
    assert_eq!(world.commit(&stranger(), -1), ErrorCode::UnknownMemberId, "who gives an id must be known");
    assert_eq!(world.commit(&stranger(), 1), ErrorCode::UnknownMemberId);
    world.stable(&["a"]);
    assert_eq!(error(&mut world, simple_commit(&[("t", 0, 8)])), ErrorCode::UnknownMemberId);
    assert_eq!(world.committed("t", 0), 7);
}

#[test]
fn members_commit_except_between_join_and_sync() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    assert_eq!(world.commit(&ids[0], 1), ErrorCode::RebalanceInProgress);
    world.sync_all(&ids, 1);
    assert_eq!(world.commit(&ids[0], 1), ErrorCode::None);
    assert_eq!(world.commit(&ids[0], 0), ErrorCode::IllegalGeneration);
    assert_eq!(world.commit(&ids[0], -1), ErrorCode::IllegalGeneration);
    assert_eq!(world.commit(&stranger(), 1), ErrorCode::UnknownMemberId);
    world.join_with_new_id("c");
    assert_eq!(world.state(), State::PreparingRebalance);
    assert_eq!(world.commit(&ids[0], 1), ErrorCode::None);
}

#[test]
fn an_absent_group_has_no_generation() {
    let mut world = World::new();
    assert_eq!(world.commit(&stranger(), 0), ErrorCode::IllegalGeneration);
    assert_eq!(world.shard.group_count(), 0);
}

#[test]
fn an_offset_counts_when_it_is_in_sync() {
    let mut world = World::new();
    world.log = Log::Holds;
    let request = world.ask(simple_commit(&[("t", 0, 7)]));
    assert!(world.is_open(request));
    assert_eq!(world.committed("t", 0), -1);
    world.finish_appends(Ok(()));
    assert!(!world.is_open(request));
    assert_eq!(world.committed("t", 0), 7);
}

#[test]
fn outcomes_count_in_the_order_of_the_log() {
    let mut world = World::new();
    world.log = Log::Holds;
    let first = world.ask(simple_commit(&[("t", 0, 1)]));
    let second = world.ask(simple_commit(&[("t", 0, 2)]));
    let held = std::mem::take(&mut world.held);
    world.stored.extend(held.clone());
    world.event(Event::AppendFinished { append: held[1].append, outcome: Ok(()) });
    assert!(world.is_open(second), "the first one may not overwrite it");
    world.event(Event::AppendFinished { append: held[0].append, outcome: Ok(()) });
    assert!(!world.is_open(first) && !world.is_open(second));
    assert_eq!(world.committed("t", 0), 2);
}

#[test]
fn an_offset_that_is_not_stored_does_not_count() {
    let mut world = World::new();
    world.log = Log::Refuses(ErrorCode::MessageTooLarge);
    assert_eq!(error(&mut world, simple_commit(&[("t", 0, 7)])), ErrorCode::InvalidCommitOffsetSize);
    assert_eq!(world.shard.group_count(), 0, "not even the group is left");
}

#[test]
fn long_metadata_is_refused_for_its_partition_alone() {
    let mut world = World::new();
    let mut request = simple_commit(&[("t", 0, 1), ("t", 1, 2)]);
    request.offsets[0].metadata = "x".repeat(4_097).into();
    request.offsets[1].metadata = "x".repeat(4_096).into();
    let errors: Vec<ErrorCode> =
        world.call(request.clone()).partitions.iter().map(|(_, error)| *error).collect();
    assert_eq!(errors, [ErrorCode::OffsetMetadataTooLarge, ErrorCode::None]);
    assert_eq!((world.committed("t", 0), world.committed("t", 1)), (-1, 2));
    request.offsets.truncate(1);
    assert_eq!(error(&mut world, request), ErrorCode::OffsetMetadataTooLarge, "with nothing left to append");
}

#[test]
fn what_is_committed_is_fetched() {
    let mut world = World::new();
    let mut request = simple_commit(&[("t", 0, 1), ("u", 3, 2)]);
    request.retention = Some(Millis(500));
    request.offsets[0].metadata = "note".into();
    request.offsets[0].leader_epoch = LeaderEpoch(4);
    request.offsets[1].commit_timestamp = Some(Millis(77));
    world.pass(10);
    world.call(request);
    let Record::Offset { value: Some(first), .. } = &world.stored[0].records[0] else { panic!("an offset") };
    assert_eq!(first.commit_timestamp, Millis(WALL_START + 10));
    assert_eq!(first.expire_timestamp, Some(Millis(WALL_START + 510)));
    let Record::Offset { value: Some(second), .. } = &world.stored[0].records[1] else { panic!("an offset") };
    assert_eq!(second.commit_timestamp, Millis(77));

    let all = world.call(FetchRequest { group: group(), topic_partitions: None, require_stable: false });
    let all: Vec<_> =
        all.partitions.iter().map(|one| (one.topic_partition.to_string(), one.offset.0)).collect();
    assert_eq!(all, [("t-0".to_owned(), 1), ("u-3".to_owned(), 2)]);
    let wanted = Some(vec![TopicPartition::new("t", 9), TopicPartition::new("t", 0)]);
    let some = world.call(FetchRequest { group: group(), topic_partitions: wanted, require_stable: false });
    assert_eq!((some.partitions[0].offset, some.partitions[0].error), (Offset(-1), ErrorCode::None));
    assert_eq!(some.partitions[0].leader_epoch, LeaderEpoch(-1));
    assert_eq!((&*some.partitions[1].metadata, some.partitions[1].leader_epoch), ("note", LeaderEpoch(4)));
    let other = FetchRequest { group: "other".into(), topic_partitions: None, require_stable: false };
    assert!(world.call(other).partitions.is_empty());
}

#[test]
fn transactional_offsets_are_unstable_until_the_marker_comes() {
    let fetch = |require_stable| FetchRequest {
        group: group(),
        topic_partitions: Some(vec![TopicPartition::new("t", 0)]),
        require_stable,
    };
    for (committed, expected) in [(true, 2), (false, 1)] {
        let mut world = World::new();
        world.call(simple_commit(&[("t", 0, 1)]));
        assert_eq!(error(&mut world, transactional(simple_commit(&[("t", 0, 2)]))), ErrorCode::None);
        assert_eq!(world.call(fetch(false)).partitions[0].offset, Offset(1));
        assert_eq!(world.call(fetch(true)).partitions[0].error, ErrorCode::UnstableOffsetCommit);
        let all = FetchRequest { group: group(), topic_partitions: None, require_stable: true };
        assert_eq!(world.call(all).partitions[0].error, ErrorCode::UnstableOffsetCommit);
        end_transaction(&mut world, committed);
        assert_eq!(world.call(fetch(true)).partitions[0].offset, Offset(expected));
    }
}

#[test]
fn a_marker_waits_for_the_commits_before_it() {
    let mut world = World::new();
    world.log = Log::Holds;
    world.ask(transactional(simple_commit(&[("t", 0, 2)])));
    end_transaction(&mut world, true);
    assert_eq!(world.committed("t", 0), -1);
    world.finish_appends(Ok(()));
    assert_eq!(world.committed("t", 0), 2);
}

#[test]
fn transactional_commits_need_membership_only_if_they_claim_it() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    let offsets = [("t", 0, 2)];
    assert_eq!(error(&mut world, transactional(simple_commit(&offsets))), ErrorCode::None);
    assert_eq!(error(&mut world, transactional(commit(&ids[0], 1, &offsets))), ErrorCode::None);
    assert_eq!(error(&mut world, transactional(commit(&ids[0], 0, &offsets))), ErrorCode::IllegalGeneration);
    assert_eq!(
        error(&mut world, transactional(commit(&stranger(), 1, &offsets))),
        ErrorCode::UnknownMemberId
    );
}
