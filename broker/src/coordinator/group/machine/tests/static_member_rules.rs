//! Static members, rule by rule.

use bytes::Bytes;

use super::world::{Log, World, heartbeat, protocol, static_join, sync};
use crate::coordinator::group::machine::{
    CommitRequest, ErrorCode, Generation, HeartbeatRequest, JoinRequest, MemberId, Record, State, SyncRequest,
};

/// Makes a stable group of static members `one` (the leader) and `two`; returns their ids.
fn stable_pair(world: &mut World) -> Vec<MemberId> {
    let joins = [world.ask(static_join("one")), world.ask(static_join("two"))];
    world.pass(6_000);
    let ids: Vec<MemberId> = joins.into_iter().map(|join| world.joined(join).member_id).collect();
    let leader = world.joined(joins[0]).leader.unwrap();
    assert_eq!(leader, ids[0], "the first to join leads");
    world.sync_all(&ids, 1);
    assert_eq!(world.state(), State::Stable);
    ids
}

fn of_instance(member_id: &MemberId, instance: &str) -> HeartbeatRequest {
    HeartbeatRequest { instance_id: Some(instance.into()), ..heartbeat(member_id, 1) }
}

#[test]
fn a_static_member_is_not_asked_to_come_twice() {
    let mut world = World::new();
    let join = world.ask(static_join("one"));
    assert!(world.is_open(join));
    world.pass(6_000);
    assert!(world.joined(join).member_id.as_str().starts_with("one-"));
}

#[test]
fn a_follower_that_restarts_keeps_its_place_without_a_rebalance() {
    let mut world = World::new();
    let ids = stable_pair(&mut world);
    let reply = world.call(static_join("two"));
    assert_eq!((reply.error, reply.generation), (ErrorCode::None, Generation(1)));
    assert_ne!(reply.member_id, ids[1]);
    assert_eq!(reply.leader, Some(ids[0].clone()));
    assert_eq!(world.state(), State::Stable);
    assert_eq!(world.call(of_instance(&ids[1], "two")).error, ErrorCode::FencedInstanceId);
    assert_eq!(world.call(of_instance(&reply.member_id, "two")).error, ErrorCode::None);
    let synced = world.call(sync(&reply.member_id, 1));
    assert_eq!(synced.assignment, Bytes::from(format!("for {}", ids[1])), "what the old id had");
    let Record::Group { value: Some(stored), .. } = &world.stored.last().unwrap().records[0] else {
        panic!("the new id is stored");
    };
    assert!(stored.members.iter().any(|member| member.member_id == reply.member_id));
}

#[test]
fn a_leader_that_restarts_is_kept_from_assigning() {
    for (supports_skipping_assignment, members, skip) in [(false, 0, false), (true, 2, true)] {
        let mut world = World::new();
        let ids = stable_pair(&mut world);
        let reply = world.call(JoinRequest { supports_skipping_assignment, ..static_join("one") });
        let expected = if supports_skipping_assignment { reply.member_id.clone() } else { ids[0].clone() };
        assert_eq!(reply.leader, Some(expected), "old versions get the old id, which nobody has");
        assert_eq!((reply.members.len(), reply.skip_assignment), (members, skip));
        assert_eq!(world.state(), State::Stable);
    }
}

#[test]
fn a_restart_that_changes_the_protocol_rebalances() {
    let mut world = World::new();
    let both = || vec![protocol("range", &["t"]), protocol("sticky", &["t"])];
    let joins = [
        world.ask(JoinRequest { protocols: both(), ..static_join("one") }),
        world.ask(JoinRequest { protocols: both(), ..static_join("two") }),
    ];
    world.pass(6_000);
    let ids: Vec<MemberId> = joins.into_iter().map(|join| world.joined(join).member_id).collect();
    world.sync_all(&ids, 1);
    let only_sticky = vec![protocol("sticky", &["t"])];
    let restart = world.ask(JoinRequest { protocols: only_sticky, ..static_join("two") });
    assert!(world.is_open(restart));
    assert_eq!(world.state(), State::PreparingRebalance);
}

#[test]
fn a_restart_between_join_and_sync_rebalances() {
    let mut world = World::new();
    let joins = [world.ask(static_join("one")), world.ask(static_join("two"))];
    world.pass(6_000);
    let ids: Vec<MemberId> = joins.into_iter().map(|join| world.joined(join).member_id).collect();
    let waiting = world.ask(sync(&ids[1], 1));
    let restart = world.ask(static_join("two"));
    assert_eq!(world.synced(waiting).error, ErrorCode::FencedInstanceId, "the twin is sent away");
    assert!(world.is_open(restart));
    assert_eq!(world.state(), State::PreparingRebalance);
}

#[test]
fn a_restart_during_the_join_phase_fences_the_twin() {
    let mut world = World::new();
    let first = world.ask(static_join("one"));
    let twin = world.ask(static_join("one"));
    assert_eq!(world.joined(first).error, ErrorCode::FencedInstanceId);
    world.pass(6_000);
    assert_eq!(world.joined(twin).error, ErrorCode::None);
    assert_eq!(world.describe().members.len(), 1);
}

#[test]
fn a_new_id_that_cannot_be_stored_is_taken_back() {
    let mut world = World::new();
    let ids = stable_pair(&mut world);
    world.log = Log::Refuses(ErrorCode::NotEnoughReplicas);
    let reply = world.call(static_join("two"));
    assert_eq!(reply.error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(reply.member_id, MemberId::unknown());
    assert_eq!(world.state(), State::Stable);
    assert_eq!(world.call(of_instance(&ids[1], "two")).error, ErrorCode::None, "the old id is good again");
}

#[test]
fn a_rebalance_that_overtakes_the_storing_answers_the_restart() {
    let mut world = World::new();
    let ids = stable_pair(&mut world);
    world.log = Log::Holds;
    let restart = world.ask(static_join("two"));
    assert!(world.is_open(restart));
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..static_join("one") });
    assert_eq!(world.joined(restart).generation, Generation(2), "it counts as joined");
    assert_eq!(world.joined(rejoin).generation, Generation(2));
    world.finish_appends(Ok(()));
}

#[test]
fn static_members_that_do_not_rejoin_are_kept_until_their_session_ends() {
    let mut world = World::new();
    let ids = stable_pair(&mut world);
    let newcomer = world.join_with_new_id("c");
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..static_join("one") });
    for _ in 0..12 {
        world.pass(5_000);
        world.call(of_instance(&ids[1], "two"));
    }
    assert_eq!(world.joined(rejoin).generation, Generation(2));
    assert_eq!(world.joined(newcomer).generation, Generation(2));
    assert_eq!(world.describe().members.len(), 3, "two is still there");
}

#[test]
fn a_join_phase_that_nobody_comes_to_is_repeated() {
    let mut world = World::new();
    let long = |instance| JoinRequest { session_timeout_ms: 100_000, ..static_join(instance) };
    let joins = [world.ask(long("one")), world.ask(long("two"))];
    world.pass(6_000);
    let ids: Vec<MemberId> = joins.into_iter().map(|join| world.joined(join).member_id).collect();
    world.sync_all(&ids, 1);
    let newcomer = world.join_with_new_id("c");
    let newcomer_id = world.describe().members.into_iter().map(|member| member.member_id);
    let newcomer_id = newcomer_id.collect::<Vec<_>>().into_iter().find(|id| !ids.contains(id)).unwrap();
    world.leave(&newcomer_id);
    assert_eq!(world.joined(newcomer).error, ErrorCode::UnknownMemberId);
    world.pass(60_000);
    assert_eq!(world.state(), State::PreparingRebalance, "the generation cannot begin without anybody");
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..long("one") });
    world.pass(40_000);
    assert_eq!(world.joined(rejoin).generation, Generation(2), "two's session has ended");
}

#[test]
fn every_request_of_a_fenced_twin_is_refused() {
    let mut world = World::new();
    let ids = stable_pair(&mut world);
    world.call(static_join("two"));
    let instance_id = Some("two".into());
    let join = JoinRequest { member_id: ids[1].clone(), ..static_join("two") };
    assert_eq!(world.call(join).error, ErrorCode::FencedInstanceId);
    let sync = SyncRequest { instance_id: instance_id.clone(), ..sync(&ids[1], 1) };
    assert_eq!(world.call(sync).error, ErrorCode::FencedInstanceId);
    let commit = CommitRequest { instance_id, ..super::world::commit(&ids[1], 1, &[("t", 0, 1)]) };
    assert_eq!(world.call(commit).partitions[0].1, ErrorCode::FencedInstanceId);
    let unknown = JoinRequest { member_id: ids[1].clone(), ..static_join("three") };
    assert_eq!(world.call(unknown).error, ErrorCode::UnknownMemberId);
}
