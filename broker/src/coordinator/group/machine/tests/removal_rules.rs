//! `DeleteGroups`, `OffsetDelete`, `DescribeGroups` and `ListGroups`, rule by rule.

use bytes::Bytes;

use super::world::{Log, World, commit, group, join, simple_commit};
use crate::coordinator::group::machine::{
    DeleteGroupRequest, DeleteOffsetsRequest, ErrorCode, Event, JoinRequest, ListRequest, Record, State,
};
use crate::types::TopicPartition;

fn delete(world: &mut World) -> ErrorCode {
    world.call(DeleteGroupRequest { group: group() }).error
}

fn delete_offsets(world: &mut World, topics: &[&str]) -> (ErrorCode, Vec<ErrorCode>) {
    let topic_partitions = topics.iter().map(|topic| TopicPartition::new(*topic, 0)).collect();
    let reply = world.call(DeleteOffsetsRequest { group: group(), topic_partitions });
    (reply.error, reply.partitions.into_iter().map(|(_, error)| error).collect())
}

#[test]
fn only_empty_groups_are_deleted_with_all_they_remember() {
    let mut world = World::new();
    assert_eq!(delete(&mut world), ErrorCode::GroupIdNotFound);
    let ids = world.stable(&["a"]);
    world.call(commit(&ids[0], 1, &[("t", 0, 1), ("t", 1, 2)]));
    assert_eq!(delete(&mut world), ErrorCode::NonEmptyGroup);
    world.leave(&ids[0]);
    assert_eq!(delete(&mut world), ErrorCode::None);
    let last = &world.stored.last().unwrap().records;
    assert_eq!(last.len(), 3, "two offsets and the group");
    assert!(last.iter().all(|record| matches!(
        record,
        Record::Group { value: None, .. } | Record::Offset { value: None, .. }
    )));
    assert_eq!(world.state(), State::Dead);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn a_group_that_only_stores_offsets_has_no_tombstone_of_its_own() {
    let mut world = World::new();
    world.call(simple_commit(&[("t", 0, 1)]));
    assert_eq!(delete(&mut world), ErrorCode::None);
    assert_eq!(world.stored.last().unwrap().records.len(), 1);
}

#[test]
fn a_deletion_that_is_not_stored_did_not_happen() {
    let mut world = World::new();
    world.call(simple_commit(&[("t", 0, 1)]));
    world.log = Log::Refuses(ErrorCode::NotEnoughReplicas);
    assert_eq!(delete(&mut world), ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.state(), State::Empty);
    assert_eq!(world.committed("t", 0), 1);
}

#[test]
fn a_deletion_takes_commits_under_way_along() {
    let mut world = World::new();
    world.log = Log::Holds;
    world.ask(simple_commit(&[("t", 0, 1)]));
    world.ask(DeleteGroupRequest { group: group() });
    world.finish_appends(Ok(()));
    assert_eq!(world.shard.group_count(), 0);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn large_groups_are_removed_in_parts() {
    let mut world = World::new();
    let offsets: Vec<(&str, i32, i64)> = (0..4_500).map(|partition| ("t", partition, 1)).collect();
    world.call(simple_commit(&offsets));
    assert_eq!(delete(&mut world), ErrorCode::None);
    let sizes: Vec<usize> = world.stored.iter().skip(1).map(|appended| appended.records.len()).collect();
    assert_eq!(sizes, [2_000, 2_000, 500]);
    assert_eq!(world.reload().group_count(), 0);
}

#[test]
fn offsets_of_topics_in_use_are_kept() {
    let mut world = World::new();
    assert_eq!(delete_offsets(&mut world, &["t"]).0, ErrorCode::GroupIdNotFound);
    let ids = world.stable(&["a"]);
    world.call(commit(&ids[0], 1, &[("t", 0, 1), ("u", 0, 2)]));
    let (error, partitions) = delete_offsets(&mut world, &["t", "u", "v"]);
    assert_eq!(error, ErrorCode::None);
    assert_eq!(partitions, [ErrorCode::GroupSubscribedToTopic, ErrorCode::None, ErrorCode::None]);
    assert_eq!((world.committed("t", 0), world.committed("u", 0)), (1, -1));
    world.leave(&ids[0]);
    assert_eq!(delete_offsets(&mut world, &["t"]).1, [ErrorCode::None]);
    assert_eq!(world.committed("t", 0), -1);
}

#[test]
fn offsets_of_active_groups_that_are_no_consumers_are_kept() {
    let mut world = World::new();
    let request =
        JoinRequest { protocol_type: "connect".into(), require_known_member_id: false, ..join("a") };
    world.ask(request);
    world.pass(3_000);
    assert_eq!(delete_offsets(&mut world, &["t"]).0, ErrorCode::NonEmptyGroup);
}

#[test]
fn offsets_of_deleted_topics_are_forgotten() {
    let mut world = World::new();
    world.call(simple_commit(&[("t", 0, 1), ("t", 1, 1), ("u", 0, 2)]));
    world.event(Event::TopicsDeleted { topics: vec!["t".into(), "w".into()] });
    assert_eq!((world.committed("t", 0), world.committed("t", 1), world.committed("u", 0)), (-1, -1, 2));
    assert_eq!(world.reload().group_count(), 1);
}

#[test]
fn a_description_shows_what_members_have_only_while_it_holds() {
    let mut world = World::new();
    let absent = world.describe();
    assert_eq!((absent.error, absent.state), (ErrorCode::None, Some(State::Dead)));
    let ids = world.complete_join(&["a"]);
    let joining = world.describe();
    assert_eq!((&*joining.protocol_type, &*joining.protocol), ("consumer", ""));
    assert_eq!(joining.members[0].metadata, Bytes::new());
    world.sync_all(&ids, 1);
    let stable = world.describe();
    assert_eq!((stable.state, &*stable.protocol), (Some(State::Stable), "range"));
    let member = &stable.members[0];
    assert_eq!((&*member.client_id, &*member.client_host), ("a", "/127.0.0.1"));
    assert!(!member.metadata.is_empty());
    assert_eq!(member.assignment, Bytes::from(format!("for {}", ids[0])));
}

#[test]
fn lists_are_filtered_by_state_and_type() {
    let mut world = World::new();
    world.stable(&["a"]);
    world.call(crate::coordinator::group::machine::CommitRequest {
        group: "simple".into(),
        ..simple_commit(&[("t", 0, 1)])
    });
    let cases: [(&[&str], &[&str], &[&str]); 7] = [
        (&[], &[], &["g", "simple"]),
        (&["Stable"], &[], &["g"]),
        (&["stable", "EMPTY"], &[], &["g", "simple"]),
        (&["Dead"], &[], &[]),
        (&[], &["classic"], &["g", "simple"]),
        (&[], &["Classic", "consumer"], &["g", "simple"]),
        (&[], &["consumer"], &[]),
    ];
    for (states, types, expected) in cases {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let reply = world.call(ListRequest { states: owned(states), types: owned(types) });
        let groups: Vec<&str> = reply.groups.iter().map(|group| group.group.as_str()).collect();
        assert_eq!(groups, expected, "{states:?} {types:?}");
    }
    let all = world.call(ListRequest { states: vec![], types: vec![] });
    assert_eq!((&*all.groups[0].protocol_type, &*all.groups[1].protocol_type), ("consumer", ""));
}
