//! Whole conversations, as stories.

use super::world::{World, commit, group, join, static_join, sync};
use crate::coordinator::group::machine::{JoinRequest, LeaveRequest, LeavingMember, MemberId};

#[test]
fn two_members_join_one_dies_the_other_goes_on() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    for _ in 0..2 {
        world.pass(6_000);
        world.heartbeat(&ids[0], 1);
    }
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    assert!(!world.is_open(rejoin));
    world.sync_all(&ids[..1], 2);
    insta::assert_snapshot!(world.transcript.text());
}

#[test]
fn a_static_member_restarts() {
    let mut world = World::new();
    let joins = [world.ask(static_join("one")), world.ask(static_join("two"))];
    world.pass(6_000);
    let ids: Vec<MemberId> = joins.into_iter().map(|join| world.joined(join).member_id).collect();
    world.sync_all(&ids, 1);
    let new_id = world.call(static_join("two")).member_id;
    world.call(sync(&new_id, 1));
    world.heartbeat(&new_id, 1);
    let by_name = LeavingMember { member_id: MemberId::unknown(), instance_id: Some("two".into()) };
    world.call(LeaveRequest { group: group(), members: vec![by_name] });
    insta::assert_snapshot!(world.transcript.text());
}

#[test]
fn the_leader_leaves() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b", "c"]);
    world.leave(&ids[0]);
    for (id, client) in ids[1..].iter().zip(["b", "c"]) {
        world.heartbeat(id, 1);
        world.ask(JoinRequest { member_id: id.clone(), ..join(client) });
    }
    world.sync_all(&ids[1..], 2);
    insta::assert_snapshot!(world.transcript.text());
}

#[test]
fn members_commit_during_a_rebalance() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.join_with_new_id("b");
    world.call(commit(&ids[0], 1, &[("t", 0, 10)]));
    world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    world.call(commit(&ids[0], 1, &[("t", 0, 11)]));
    world.call(commit(&ids[0], 2, &[("t", 0, 12)]));
    let members: Vec<MemberId> =
        world.describe().members.into_iter().map(|member| member.member_id).collect();
    let newcomer = members.into_iter().find(|id| *id != ids[0]).unwrap();
    world.sync_all(&[ids[0].clone(), newcomer], 2);
    world.call(commit(&ids[0], 2, &[("t", 0, 13)]));
    insta::assert_snapshot!(world.transcript.text());
}
