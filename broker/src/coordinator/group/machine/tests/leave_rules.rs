//! `LeaveGroup`, rule by rule.

use super::world::{World, group, join, old_join, static_join, stranger};
use crate::coordinator::group::machine::{
    ErrorCode, Generation, JoinRequest, LeaveRequest, LeavingMember, MemberId, State,
};

fn leaving(member_id: &MemberId, instance_id: Option<&str>) -> LeavingMember {
    LeavingMember { member_id: member_id.clone(), instance_id: instance_id.map(Into::into) }
}

#[test]
fn each_member_has_an_outcome_of_its_own() {
    let mut world = World::new();
    let dynamic = world.ask(old_join("a"));
    let fixed = world.ask(static_join("one"));
    let other = world.ask(static_join("two"));
    world.pass(9_000);
    let dynamic = world.joined(dynamic).member_id;
    let fixed = world.joined(fixed).member_id;
    let other = world.joined(other).member_id;
    let cases = [
        ("a stranger", leaving(&stranger(), None), ErrorCode::UnknownMemberId),
        ("an unknown instance", leaving(&MemberId::unknown(), Some("three")), ErrorCode::UnknownMemberId),
        ("nobody", leaving(&MemberId::unknown(), None), ErrorCode::UnknownMemberId),
        ("an instance under another's id", leaving(&dynamic, Some("one")), ErrorCode::FencedInstanceId),
        ("an id with an unknown instance", leaving(&dynamic, Some("three")), ErrorCode::UnknownMemberId),
        ("a member", leaving(&dynamic, None), ErrorCode::None),
        ("the same once more", leaving(&dynamic, None), ErrorCode::UnknownMemberId),
        ("a static member by name", leaving(&MemberId::unknown(), Some("one")), ErrorCode::None),
        ("it is gone by id, too", leaving(&fixed, Some("one")), ErrorCode::UnknownMemberId),
        ("a static member by id and name", leaving(&other, Some("two")), ErrorCode::None),
    ];
    let members = cases.iter().map(|(_, member, _)| member.clone()).collect();
    let reply = world.call(LeaveRequest { group: group(), members });
    assert_eq!(reply.error, ErrorCode::None);
    for ((name, member, expected), (answered, error)) in cases.iter().zip(&reply.members) {
        assert_eq!((answered, error), (member, expected), "{name}");
    }
    assert_eq!(world.state(), State::Empty);
}

#[test]
fn a_given_id_can_be_given_back() {
    let mut world = World::new();
    let given = world.call(join("c")).member_id;
    assert_eq!(world.leave(&given).members[0].1, ErrorCode::None);
    assert_eq!(world.shard.group_count(), 0);
}

#[test]
fn the_leader_leaves_and_another_leads() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    world.leave(&ids[0]);
    let rejoin = world.ask(JoinRequest { member_id: ids[1].clone(), ..join("b") });
    let reply = world.joined(rejoin);
    assert_eq!((reply.generation, reply.leader), (Generation(2), Some(ids[1].clone())));
    assert_eq!(reply.members.len(), 1);
}

#[test]
fn a_member_that_leaves_while_others_wait_for_it_ends_their_wait() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    assert!(world.is_open(rejoin));
    world.leave(&ids[1]);
    assert_eq!(world.joined(rejoin).generation, Generation(2));
}
