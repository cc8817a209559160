//! `SyncGroup`, rule by rule.

use bytes::Bytes;

use super::world::{Log, World, join, stranger, sync};
use crate::coordinator::group::machine::{ErrorCode, Generation, JoinRequest, Record, State, SyncRequest};

#[test]
fn a_sync_must_come_from_a_member_of_the_generation() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    let told = |protocol_type: Option<&str>, protocol: Option<&str>| SyncRequest {
        protocol_type: protocol_type.map(Into::into),
        protocol: protocol.map(Into::into),
        ..sync(&ids[1], 1)
    };
    let cases = [
        ("a stranger", sync(&stranger(), 1), ErrorCode::UnknownMemberId),
        ("an older generation", sync(&ids[0], 0), ErrorCode::IllegalGeneration),
        ("a later generation", sync(&ids[0], 2), ErrorCode::IllegalGeneration),
        ("another type", told(Some("connect"), Some("range")), ErrorCode::InconsistentGroupProtocol),
        ("another protocol", told(Some("consumer"), Some("sticky")), ErrorCode::InconsistentGroupProtocol),
        (
            "an unknown instance",
            SyncRequest { instance_id: Some("i".into()), ..sync(&ids[0], 1) },
            ErrorCode::UnknownMemberId,
        ),
    ];
    for (name, request, expected) in cases {
        assert_eq!(world.call(request).error, expected, "{name}");
    }
    let right = world.ask(told(Some("consumer"), Some("range")));
    assert!(world.is_open(right), "it waits for the leader");
}

#[test]
fn everybody_waits_for_the_leader_and_then_for_the_log() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    world.log = Log::Holds;
    let follower = world.ask(sync(&ids[1], 1));
    let assignments = vec![(ids[1].clone(), Bytes::from_static(b"all of it"))];
    let leader = world.ask(SyncRequest { assignments, ..sync(&ids[0], 1) });
    assert!(world.is_open(follower) && world.is_open(leader), "nothing is in sync yet");
    assert_eq!(world.state(), State::CompletingRebalance);
    world.finish_appends(Ok(()));
    assert_eq!(world.state(), State::Stable);
    assert_eq!(world.synced(follower).assignment, Bytes::from_static(b"all of it"));
    assert_eq!(world.synced(leader).assignment, Bytes::new(), "whom the leader forgot gets nothing");
    assert_eq!(world.synced(leader).protocol.as_deref(), Some("range"));

    let late = world.call(sync(&ids[1], 1));
    assert_eq!(late.assignment, Bytes::from_static(b"all of it"), "a stable group answers at once");
}

#[test]
fn a_leader_that_repeats_itself_is_stored_once() {
    let mut world = World::new();
    let ids = world.complete_join(&["a"]);
    world.log = Log::Holds;
    let give = |what: &'static [u8]| SyncRequest {
        assignments: vec![(ids[0].clone(), Bytes::from_static(what))],
        ..sync(&ids[0], 1)
    };
    let first = world.ask(give(b"one"));
    let second = world.ask(give(b"two"));
    assert_eq!(world.synced(first).error, ErrorCode::RebalanceInProgress, "the client gave it up");
    assert_eq!(world.held.len(), 1);
    world.finish_appends(Ok(()));
    assert_eq!(world.synced(second).assignment, Bytes::from_static(b"one"));
}

#[test]
fn an_assignment_that_cannot_be_stored_is_nobodys() {
    for (log, expected) in [
        (ErrorCode::RequestTimedOut, ErrorCode::RebalanceInProgress),
        (ErrorCode::NotEnoughReplicas, ErrorCode::CoordinatorNotAvailable),
        (ErrorCode::NotLeaderOrFollower, ErrorCode::NotCoordinator),
        (ErrorCode::MessageTooLarge, ErrorCode::UnknownServerError),
    ] {
        let mut world = World::new();
        let ids = world.complete_join(&["a", "b"]);
        world.log = Log::Refuses(log);
        let replies = world.sync_all(&ids, 1);
        assert!(replies.iter().all(|reply| reply.error == expected), "{log:?}: {replies:?}");
        assert_eq!(world.state(), State::PreparingRebalance, "{log:?}");
    }
}

#[test]
fn an_assignment_that_is_stored_too_late_is_nobodys() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    world.log = Log::Holds;
    let sync = world.ask(sync(&ids[0], 1));
    world.leave(&ids[1]);
    assert_eq!(world.synced(sync).error, ErrorCode::RebalanceInProgress);
    world.finish_appends(Ok(()));
    assert_eq!(world.state(), State::PreparingRebalance);
    assert!(
        matches!(&world.stored[0].records[0], Record::Group { value: Some(value), .. } if value.generation == Generation(1))
    );
}

#[test]
fn while_members_join_there_is_nothing_to_sync() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    world.join_with_new_id("c");
    assert_eq!(world.call(sync(&ids[0], 1)).error, ErrorCode::RebalanceInProgress);
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.leave(&ids[0]);
    assert_eq!(world.call(sync(&ids[0], 2)).error, ErrorCode::UnknownMemberId);
}

#[test]
fn who_does_not_sync_within_the_rebalance_timeout_is_removed() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    let follower = world.ask(sync(&ids[1], 1));
    for _ in 0..11 {
        world.pass(5_000);
        assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::None, "the leader lives, but does not sync");
    }
    assert!(world.is_open(follower));
    world.pass(5_000);
    assert_eq!(world.synced(follower).error, ErrorCode::RebalanceInProgress);
    let rejoin = world.ask(JoinRequest { member_id: ids[1].clone(), ..join("b") });
    assert_eq!(world.joined(rejoin).leader, Some(ids[1].clone()));
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::UnknownMemberId);
}

#[test]
fn a_follower_that_never_syncs_is_removed_from_a_stable_group() {
    let mut world = World::new();
    let ids = world.complete_join(&["a", "b"]);
    world.call(sync(&ids[0], 1));
    assert_eq!(world.state(), State::Stable);
    for _ in 0..12 {
        world.pass(5_000);
        world.heartbeat(&ids[0], 1);
        world.heartbeat(&ids[1], 1);
    }
    assert_eq!(world.state(), State::PreparingRebalance);
    assert_eq!(world.describe().members.len(), 1);
}
