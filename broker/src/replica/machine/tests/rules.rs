//! Single rules as tables.

use ottla_protocol::message::ErrorCode;
use uuid::Uuid;

use super::support::{
    Conversation, LAG_TIME_MAX, accepted, answered, appended, command, fetched, follow, lead, position,
    proposal, records,
};
use crate::replica::machine::{Acks, Effect, Event, FetchAnswer, ProduceProgress};
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset};

fn leader(min_insync_replicas: usize, isr: &[i32]) -> Conversation {
    let mut talk = Conversation::new(min_insync_replicas, 0, None, 0);
    talk.tell(lead(5, isr, 0));
    talk
}

#[test]
fn acks_are_read_from_the_wire() {
    for (wire, expected) in [
        (-1, Ok(Acks::All)),
        (0, Ok(Acks::None)),
        (1, Ok(Acks::Leader)),
        (2, Err(ErrorCode::InvalidRequiredAcks)),
        (-2, Err(ErrorCode::InvalidRequiredAcks)),
    ] {
        assert_eq!(Acks::from_wire(wire), expected, "{wire}");
    }
}

#[test]
fn appending_needs_a_leader_and_for_all_acks_enough_in_sync_replicas() {
    let epoch = Ok(LeaderEpoch(5));
    for (name, min, isr, acks, expected) in [
        ("enough", 2, &[1, 2][..], Acks::All, epoch),
        ("too few", 2, &[1], Acks::All, Err(ErrorCode::NotEnoughReplicas)),
        ("too few, but the leader suffices", 2, &[1], Acks::Leader, epoch),
        ("the minimum is above the replication factor", 9, &[1, 2, 3], Acks::All, epoch),
    ] {
        assert_eq!(leader(min, isr).partition.check_append(acks), expected, "{name}");
    }
    let mut follower = Conversation::new(1, 0, None, 0);
    assert_eq!(follower.partition.check_append(Acks::Leader), Err(ErrorCode::NotLeaderOrFollower));
    follower.tell(follow(2, 1));
    assert_eq!(follower.partition.check_append(Acks::None), Err(ErrorCode::NotLeaderOrFollower));
}

#[test]
fn a_produce_is_acknowledged_when_the_high_watermark_has_passed_it() {
    let mut talk = leader(2, &[1, 2]);
    talk.tell(appended(10)).tell(fetched(2, 7));
    let progress =
        |talk: &Conversation, required| talk.partition.produce_progress(LeaderEpoch(5), Offset(required));
    assert_eq!(progress(&talk, 7), ProduceProgress::Done(ErrorCode::None));
    assert_eq!(progress(&talk, 8), ProduceProgress::Waiting);
    talk.tell(fetched(2, 10));
    assert_eq!(progress(&talk, 10), ProduceProgress::Done(ErrorCode::None));
}

#[test]
fn a_produce_that_passed_with_too_few_replicas_says_so() {
    let mut talk = leader(1, &[1]);
    talk.tell(appended(3)).tell(Event::MinInsyncReplicas(2));
    let progress = talk.partition.produce_progress(LeaderEpoch(5), Offset(3));
    assert_eq!(progress, ProduceProgress::Done(ErrorCode::NotEnoughReplicasAfterAppend));
}

#[test]
fn a_produce_survives_a_reelection_but_not_a_lost_leadership() {
    let mut talk = leader(1, &[1, 2]);
    talk.tell(appended(3)).tell(lead(6, &[1], 1));
    let progress = |talk: &Conversation| talk.partition.produce_progress(LeaderEpoch(5), Offset(3));
    assert_eq!(progress(&talk), ProduceProgress::Done(ErrorCode::None));
    talk.tell(follow(2, 7));
    assert_eq!(progress(&talk), ProduceProgress::Done(ErrorCode::NotLeaderOrFollower));
    talk.tell(lead(8, &[1], 3));
    assert_eq!(
        progress(&talk),
        ProduceProgress::Done(ErrorCode::NotLeaderOrFollower),
        "what was appended before may have been truncated in between"
    );
}

#[test]
fn readers_are_checked_by_epoch_then_role() {
    let talk = leader(1, &[1, 2, 3]);
    for (epoch, expected) in [
        (None, Ok(())),
        (Some(5), Ok(())),
        (Some(4), Err(ErrorCode::FencedLeaderEpoch)),
        (Some(6), Err(ErrorCode::UnknownLeaderEpoch)),
    ] {
        assert_eq!(talk.partition.check_readable(epoch.map(LeaderEpoch), true), expected, "{epoch:?}");
    }
    let mut follower = Conversation::new(1, 0, None, 0);
    follower.tell(follow(2, 1));
    assert_eq!(follower.partition.check_readable(None, false), Ok(()));
    assert_eq!(follower.partition.check_readable(None, true), Err(ErrorCode::NotLeaderOrFollower));
}

#[test]
fn a_fetcher_outside_the_assignment_is_told_why() {
    let talk = leader(1, &[1, 2, 3]);
    for (replica, epoch, expected) in [
        (2, Some(5), Ok(())),
        (4, Some(5), Err(ErrorCode::UnknownLeaderEpoch)),
        (4, None, Err(ErrorCode::NotLeaderOrFollower)),
        (1, None, Err(ErrorCode::NotLeaderOrFollower)),
    ] {
        let epoch = epoch.map(LeaderEpoch);
        assert_eq!(talk.partition.check_follower(BrokerId(replica), epoch), expected, "{replica} {epoch:?}");
    }
}

#[test]
fn the_end_is_not_told_before_the_new_epoch_is_committed() {
    let mut talk = Conversation::new(1, 10, Some(1), 4);
    talk.tell(lead(2, &[1, 2], 0));
    assert_eq!(talk.partition.check_end_known(), Err(ErrorCode::OffsetNotAvailable));
    talk.tell(fetched(2, 10));
    assert_eq!(talk.partition.check_end_known(), Ok(()));
}

#[test]
fn a_follower_behind_the_start_of_the_epoch_is_not_proposed() {
    let mut talk = Conversation::new(1, 10, Some(1), 4);
    talk.tell(lead(2, &[1], 0));
    // The only in-sync replica commits all it has, so the follower must reach 10 on both counts.
    assert_eq!(talk.effects(fetched(2, 9)), []);
    let effects = talk.effects(fetched(2, 10));
    assert_eq!(effects, [Effect::ProposeIsr(proposal(2, 0, &[1, 2]))]);
    assert_eq!(talk.effects(fetched(2, 10)), [], "one proposal at a time");
}

#[test]
fn a_dead_follower_neither_enters_nor_holds_back() {
    let mut talk = leader(1, &[1]);
    talk.tell(appended(5));
    let dead = Event::FollowerFetched {
        replica: BrokerId(2),
        fetch_offset: Offset(5),
        log_start: Offset::ZERO,
        is_live: false,
    };
    assert_eq!(talk.effects(dead), []);
    assert_eq!(talk.effects(appended(6)), [Effect::HighWatermark(Offset(6))]);
}

#[test]
fn a_caught_up_follower_that_is_about_to_enter_is_waited_for() {
    let mut talk = leader(1, &[1]);
    talk.tell(fetched(2, 0));
    assert_eq!(talk.effects(appended(6)), [], "broker 2 is caught up by time and already proposed");
    talk.tell(accepted(proposal(5, 0, &[1, 2])));
    assert_eq!(talk.effects(fetched(2, 6)), [Effect::HighWatermark(Offset(6))]);
}

#[test]
fn a_replica_whose_entry_may_be_in_force_is_waited_for_whatever_its_lag() {
    let mut talk = leader(1, &[1]);
    talk.tell(fetched(2, 0)).wait(LAG_TIME_MAX.0 + 1);
    assert_eq!(talk.effects(appended(6)), [], "the controller may have stored it, and may elect it");
}

#[test]
fn a_follower_is_caught_up_by_reaching_where_the_leader_was() {
    let mut talk = leader(1, &[1, 2, 3]);
    talk.tell(fetched(3, 0)).tell(appended(10)).tell(fetched(2, 0)).tell(fetched(3, 10));
    // Every ten seconds broker 2 reaches what the leader had ten seconds before, and never the end.
    for round in 1..8 {
        talk.wait(10_000).tell(appended(10 + round)).tell(fetched(2, 9 + round)).tell(fetched(3, 10 + round));
        assert_eq!(talk.effects(Event::Tick), [], "round {round}");
    }
    talk.wait(LAG_TIME_MAX.0 + 10_001).tell(fetched(3, 17));
    assert_eq!(talk.effects(Event::Tick), [Effect::ProposeIsr(proposal(5, 0, &[1, 3]))]);
}

#[test]
fn topic_ids_are_installed_and_compared() {
    let id = |number| Some(Uuid::from_u128(number));
    let with = |topic_id, epoch| {
        let command = crate::replica::machine::PartitionCommand { topic_id, ..command(1, epoch, &[1], 0) };
        Event::LeaderAndIsr { command, leader_is_known: true }
    };
    let mut talk = Conversation::new(1, 0, None, 0);
    talk.tell(with(None, 3));
    for (name, topic_id, epoch, expected) in [
        ("an id is learnt", id(7), 3, ErrorCode::None),
        ("and learnt once", id(7), 3, ErrorCode::StaleControllerEpoch),
        ("another is refused", id(8), 4, ErrorCode::InconsistentTopicId),
        ("an older command too", id(7), 2, ErrorCode::StaleControllerEpoch),
        ("an id is taken back", None, 3, ErrorCode::None),
    ] {
        assert_eq!(talk.effects(with(topic_id, epoch)), [Effect::Answer(expected)], "{name}");
    }
    assert_eq!(talk.partition.topic_id(), None);
}

#[test]
fn a_follower_rests_after_an_error_and_ignores_what_is_late() {
    let mut talk = Conversation::new(1, 4, Some(0), 0);
    talk.tell(follow(2, 3));
    let now = talk.now;
    let fetchable = |talk: &Conversation, after: i64| {
        talk.partition.fetch_position(now.plus(Millis(after))).map(|position| position.fetch_offset.0)
    };
    assert_eq!(fetchable(&talk, 0), Some(4));
    for (error, rest) in [
        // A leader that has not heard of its election is asked again soon, then less and less often.
        (ErrorCode::UnknownLeaderEpoch, 10),
        (ErrorCode::NotLeaderOrFollower, 20),
        (ErrorCode::UnknownTopicOrPartition, 40),
        (ErrorCode::UnknownTopicId, 80),
        (ErrorCode::NotLeaderOrFollower, 160),
        (ErrorCode::NotLeaderOrFollower, 320),
        (ErrorCode::NotLeaderOrFollower, 640),
        (ErrorCode::NotLeaderOrFollower, 1_000),
        (ErrorCode::InconsistentTopicId, 1_000),
        (ErrorCode::KafkaStorageError, 1_000),
    ] {
        talk.tell(answered(position(3, 4), FetchAnswer::Refused(error)));
        assert_eq!((fetchable(&talk, rest - 1), fetchable(&talk, rest)), (None, Some(4)), "{error:?}");
        assert_eq!(talk.partition.next_deadline(), Some(now.plus(Millis(rest))));
    }
    talk.tell(answered(position(3, 4), records(false, 0, 0)));
    talk.tell(answered(position(3, 4), FetchAnswer::Refused(ErrorCode::UnknownLeaderEpoch)));
    assert_eq!(fetchable(&talk, 10), Some(4), "a good answer begins anew");
    let late = [position(2, 4), position(3, 1)];
    for position in late {
        assert_eq!(talk.effects(answered(position, records(true, 9, 0))), [], "{position:?}");
    }
}

#[test]
fn a_fenced_follower_waits_for_the_controller_unless_it_knows_better() {
    let mut talk = Conversation::new(1, 4, Some(0), 0);
    talk.tell(follow(2, 3));
    let fenced = |epoch| answered(position(epoch, 4), FetchAnswer::Refused(ErrorCode::FencedLeaderEpoch));
    assert_eq!(talk.effects(fenced(2)), []);
    assert!(talk.partition.fetch_position(talk.now).is_some(), "what an older epoch met does not matter");
    assert_eq!(talk.effects(fenced(3)), [Effect::ReplicationHalted]);
    assert_eq!(talk.partition.fetch_position(Millis(i64::MAX)), None);
    talk.tell(follow(2, 4));
    assert!(talk.partition.fetch_position(talk.now).is_some());
}

#[test]
fn records_that_cannot_be_appended_are_tried_again_unless_the_disk_failed() {
    for (is_transient, after) in [(true, Some(Offset(4))), (false, None)] {
        let mut talk = Conversation::new(1, 4, Some(0), 0);
        talk.tell(follow(2, 3));
        assert_eq!(talk.effects(answered(position(3, 4), records(true, 9, 0))), [Effect::AppendRecords]);
        assert_eq!(talk.partition.fetch_position(Millis(i64::MAX)), None, "not while it appends");
        talk.tell(Event::ReplicationFailed { is_transient });
        let position = talk.partition.fetch_position(talk.now.plus(Millis(1_000)));
        assert_eq!(position.map(|position| position.fetch_offset), after);
    }
}
