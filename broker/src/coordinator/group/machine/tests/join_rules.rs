//! `JoinGroup`, rule by rule.

use super::world::{Log, World, group, join, old_join, protocol, stranger, sync};
use crate::coordinator::group::machine::{
    CommitRequest, Config, DeleteGroupRequest, ErrorCode, Generation, GroupRequest, HeartbeatRequest,
    JoinRequest, MemberId, State,
};
use crate::types::Millis;

/// Asks for a join and returns the error it is answered with at once.
fn refused(world: &mut World, request: JoinRequest) -> ErrorCode {
    world.call(request).error
}

#[test]
fn session_timeouts_outside_the_range_are_refused() {
    for (session_timeout_ms, expected) in [
        (5_999, ErrorCode::InvalidSessionTimeout),
        (6_000, ErrorCode::MemberIdRequired),
        (1_800_000, ErrorCode::MemberIdRequired),
        (1_800_001, ErrorCode::InvalidSessionTimeout),
        (-1, ErrorCode::InvalidSessionTimeout),
    ] {
        let error = refused(&mut World::new(), JoinRequest { session_timeout_ms, ..join("c") });
        assert_eq!(error, expected, "{session_timeout_ms}");
    }
}

#[test]
fn an_id_without_its_group_is_unknown_and_makes_no_group() {
    let mut world = World::new();
    assert_eq!(
        refused(&mut world, JoinRequest { member_id: stranger(), ..join("c") }),
        ErrorCode::UnknownMemberId
    );
    assert_eq!(world.shard.group_count(), 0);
}

#[test]
fn protocols_must_fit_the_group() {
    let other_type = JoinRequest { protocol_type: "connect".into(), ..join("c") };
    let other_name = JoinRequest { protocols: vec![protocol("sticky", &["t"])], ..join("c") };
    let one_of_two =
        JoinRequest { protocols: vec![protocol("sticky", &[]), protocol("range", &[])], ..join("c") };
    let cases: [(&str, bool, JoinRequest, ErrorCode); 6] = [
        (
            "no type",
            false,
            JoinRequest { protocol_type: "".into(), ..join("c") },
            ErrorCode::InconsistentGroupProtocol,
        ),
        (
            "no protocols",
            false,
            JoinRequest { protocols: vec![], ..join("c") },
            ErrorCode::InconsistentGroupProtocol,
        ),
        ("another type", true, other_type.clone(), ErrorCode::InconsistentGroupProtocol),
        ("no common protocol", true, other_name, ErrorCode::InconsistentGroupProtocol),
        ("one common protocol", true, one_of_two, ErrorCode::MemberIdRequired),
        ("an empty group takes any type", false, other_type, ErrorCode::MemberIdRequired),
    ];
    for (name, with_member, request, expected) in cases {
        let mut world = World::new();
        if with_member {
            world.stable(&["a"]);
        }
        assert_eq!(refused(&mut world, request), expected, "{name}");
    }
}

#[test]
fn dynamic_members_get_an_id_first_unless_they_are_old() {
    let mut world = World::new();
    let given = world.call(join("c")).member_id;
    assert!(given.as_str().starts_with("c-"), "{given}");
    assert_eq!(world.state(), State::Empty, "a given id is no member yet");
    let joined = world.ask(JoinRequest { member_id: given.clone(), ..join("c") });
    assert!(world.is_open(joined));
    assert_eq!(world.state(), State::PreparingRebalance);

    let old = world.ask(old_join("old"));
    assert!(world.is_open(old), "versions 0 to 3 join directly");
    world.pass(6_000);
    assert_eq!(world.joined(joined).member_id, given);
    assert!(world.joined(old).member_id.as_str().starts_with("old-"));
}

#[test]
fn a_given_id_lapses_after_the_session_timeout() {
    let mut world = World::new();
    let given = world.call(join("c")).member_id;
    world.pass(10_000);
    assert_eq!(world.shard.group_count(), 0, "nothing is left of it");
    assert_eq!(
        refused(&mut world, JoinRequest { member_id: given, ..join("c") }),
        ErrorCode::UnknownMemberId
    );
}

#[test]
fn a_rebalance_waits_for_given_ids() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    let given = world.call(join("b")).member_id;
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    assert!(world.is_open(rejoin), "the leader forces a rebalance, and an id is pending");
    world.leave(&given);
    assert_eq!(world.joined(rejoin).generation, Generation(2));
}

#[test]
fn the_first_rebalance_waits_for_more_members_and_is_extended_by_them() {
    let mut world = World::new();
    let first = world.ask(old_join("a"));
    world.pass(2_999);
    let second = world.ask(old_join("b"));
    world.pass(1);
    assert!(world.is_open(first), "a newcomer extends the delay");
    world.pass(2_999);
    assert!(world.is_open(first));
    world.pass(1);
    assert_eq!(world.joined(first).generation, Generation(1));
    assert_eq!(world.joined(second).generation, Generation(1));
}

#[test]
fn newcomers_cannot_extend_the_first_rebalance_beyond_the_rebalance_timeout() {
    let mut world = World::new();
    let short = JoinRequest { rebalance_timeout_ms: 7_000, ..old_join("a") };
    let first = world.ask(short.clone());
    for at in [2_000, 2_000, 2_000] {
        world.pass(at);
        world.ask(short.clone());
    }
    world.pass(999);
    assert!(world.is_open(first));
    world.pass(1);
    assert_eq!(world.joined(first).generation, Generation(1));
}

#[test]
fn the_initial_delay_can_be_switched_off() {
    let config = Config { initial_rebalance_delay: Millis(0), ..Config::default() };
    let mut world = World::with_config(config);
    let first = world.ask(old_join("a"));
    world.pass(0);
    assert_eq!(world.joined(first).generation, Generation(1));
}

#[test]
fn only_the_leader_gets_the_members() {
    let mut world = World::new();
    let joins: Vec<_> = ["a", "b"].iter().map(|client| world.ask(old_join(client))).collect();
    world.pass(6_000);
    let replies: Vec<_> = joins.into_iter().map(|join| world.joined(join)).collect();
    let leader = replies[0].leader.clone().unwrap();
    for reply in replies {
        let expected = if reply.member_id == leader { 2 } else { 0 };
        assert_eq!(reply.members.len(), expected);
        assert_eq!(reply.leader, Some(leader.clone()));
        assert_eq!(reply.protocol.as_deref(), Some("range"));
        assert_eq!(reply.protocol_type.as_deref(), Some("consumer"));
    }
}

/// What a known member's join does in each state.
#[test]
fn joining_again_depends_on_state_leadership_and_metadata() {
    let changed = || vec![protocol("range", &["t", "u"])];
    let same = || vec![protocol("range", &["t"])];
    // state, leader, protocols → whether a rebalance starts
    let cases = [
        (State::CompletingRebalance, true, same(), false),
        (State::CompletingRebalance, false, same(), false),
        (State::CompletingRebalance, true, changed(), true),
        (State::CompletingRebalance, false, changed(), true),
        (State::Stable, true, same(), true),
        (State::Stable, false, same(), false),
        (State::Stable, true, changed(), true),
        (State::Stable, false, changed(), true),
    ];
    for (state, is_leader, protocols, rebalances) in cases {
        let name = format!("{state} leader: {is_leader} {protocols:?}");
        let mut world = World::new();
        let ids =
            if state == State::Stable { world.stable(&["a", "b"]) } else { world.complete_join(&["a", "b"]) };
        let member_id = ids[usize::from(!is_leader)].clone();
        let again = world.ask(JoinRequest { member_id: member_id.clone(), protocols, ..join("c") });
        if rebalances {
            assert!(world.is_open(again), "{name}");
            assert_eq!(world.state(), State::PreparingRebalance, "{name}");
        } else {
            let reply = world.joined(again);
            assert_eq!((reply.error, reply.generation), (ErrorCode::None, Generation(1)), "{name}");
            assert_eq!(reply.members.len(), if is_leader { 2 } else { 0 }, "{name}");
            assert_eq!(world.state(), state, "{name}");
        }
    }
}

#[test]
fn an_empty_group_does_not_know_former_members() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.leave(&ids[0]);
    assert_eq!(world.state(), State::Empty);
    assert_eq!(
        refused(&mut world, JoinRequest { member_id: ids[0].clone(), ..join("a") }),
        ErrorCode::UnknownMemberId
    );
}

#[test]
fn a_join_displaces_the_one_before_it() {
    let mut world = World::new();
    let given = world.call(join("c")).member_id;
    let lost = world.ask(JoinRequest { member_id: given.clone(), ..join("c") });
    let again = world.ask(JoinRequest { member_id: given, ..join("c") });
    assert_eq!(world.joined(lost).error, ErrorCode::RebalanceInProgress);
    world.pass(6_000);
    assert_eq!(world.joined(again).error, ErrorCode::None);
}

#[test]
fn members_that_do_not_rejoin_in_time_are_removed_and_the_leader_is_replaced() {
    let mut world = World::new();
    let ids = world.stable(&["a", "b"]);
    let newcomer = world.join_with_new_id("c");
    let rejoin = world.ask(JoinRequest { member_id: ids[1].clone(), ..join("b") });
    for _ in 0..11 {
        // The leader shows signs of life, but does not join.
        world.pass(5_000);
        world.heartbeat(&ids[0], 1);
    }
    assert!(world.is_open(rejoin));
    world.pass(5_000);
    let reply = world.joined(rejoin);
    assert_eq!(reply.generation, Generation(2));
    assert_ne!(reply.leader, Some(ids[0].clone()));
    assert_eq!(world.joined(newcomer).generation, Generation(2));
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::UnknownMemberId);
    assert_eq!(world.describe().members.len(), 2);
}

#[test]
fn a_new_member_is_given_up_after_five_minutes_of_waiting() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    // A member of long patience holds the rebalance up.
    let patient = JoinRequest { rebalance_timeout_ms: 1_000_000, ..old_join("b") };
    let waiting = world.ask(patient);
    for _ in 0..59 {
        world.pass(5_000);
        assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::RebalanceInProgress);
    }
    assert!(world.is_open(waiting));
    world.pass(5_000);
    assert_eq!(world.joined(waiting).error, ErrorCode::UnknownMemberId);
    assert_eq!(world.joined(waiting).member_id, MemberId::unknown());
}

#[test]
fn a_full_group_refuses_new_members_and_keeps_its_own() {
    let config = || Config { max_size: 2, ..Config::default() };
    let mut world = World::with_config(config());
    let ids = world.stable(&["a", "b"]);
    assert_eq!(refused(&mut world, old_join("c")), ErrorCode::GroupMaxSizeReached);
    let rejoin = world.ask(JoinRequest { member_id: ids[0].clone(), ..join("a") });
    assert!(world.is_open(rejoin), "an existing member is kept");

    // In the join phase as many may wait as there are places.
    let newcomer = world.ask(old_join("c"));
    assert!(world.is_open(newcomer));
    let late = world.call(JoinRequest { member_id: ids[1].clone(), ..join("b") });
    assert_eq!(late.error, ErrorCode::GroupMaxSizeReached);
    assert_eq!(world.joined(newcomer).generation, Generation(2), "nobody is missing any more");
    assert_eq!(world.describe().members.len(), 2);
}

#[test]
fn a_dead_group_sends_everybody_away_for_a_moment() {
    let mut world = World::new();
    let ids = world.stable(&["a"]);
    world.leave(&ids[0]);
    world.log = Log::Holds;
    world.ask(DeleteGroupRequest { group: group() });
    assert_eq!(world.state(), State::Dead);
    assert_eq!(refused(&mut world, join("a")), ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.call(sync(&ids[0], 1)).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.heartbeat(&ids[0], 1), ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.leave(&ids[0]).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.commit(&MemberId::unknown(), -1), ErrorCode::CoordinatorNotAvailable);
    world.finish_appends(Ok(()));
    assert_eq!(world.shard.group_count(), 0);
    assert_eq!(refused(&mut world, join("a")), ErrorCode::MemberIdRequired);
}

#[test]
fn what_needs_a_group_answers_without_one() {
    fn error<R: GroupRequest>(request: R) -> R::Reply {
        World::new().call(request)
    }
    assert_eq!(error(sync(&stranger(), 1)).error, ErrorCode::UnknownMemberId);
    let heartbeat = HeartbeatRequest {
        group: group(),
        generation: Generation(1),
        member_id: stranger(),
        instance_id: None,
    };
    assert_eq!(error(heartbeat).error, ErrorCode::UnknownMemberId);
    let commit: CommitRequest = super::world::commit(&stranger(), 1, &[("t", 0, 1)]);
    assert_eq!(error(commit).partitions[0].1, ErrorCode::IllegalGeneration);
    assert_eq!(error(DeleteGroupRequest { group: group() }).error, ErrorCode::GroupIdNotFound);
    let mut world = World::new();
    let left = world.leave(&stranger());
    assert_eq!((left.error, left.members[0].1), (ErrorCode::None, ErrorCode::UnknownMemberId));
    assert_eq!(world.shard.group_count(), 0);
}
