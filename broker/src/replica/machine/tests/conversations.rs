//! Whole conversations, to be read like stories.

use ottla_protocol::message::ErrorCode;

use super::support::{
    Conversation, accepted, answered, appended, brokers, command, epoch_end, fetched, follow, lead, position,
    proposal, records, refused, replicated, truncated,
};
use crate::replica::machine::{Event, FetchAnswer};
use crate::types::{LeaderEpoch, Offset};

#[test]
fn a_leader_commits_what_all_in_sync_replicas_have() {
    let mut talk = Conversation::new(2, 0, None, 0);
    talk.say("elected over an empty log").tell(lead(0, &[1, 2, 3], 0));
    talk.say("ten records, and both followers come for them").tell(appended(10));
    talk.tell(fetched(2, 0))
        .tell(fetched(3, 0))
        .tell(fetched(2, 10))
        .tell(fetched(3, 6))
        .tell(fetched(3, 10));
    talk.say("the controller sees broker 3 die and elects broker 1 again").tell(lead(1, &[1, 2], 1));
    talk.tell(appended(12)).tell(fetched(2, 12));
    talk.say("the same command again is refused and does no harm").tell(lead(1, &[1, 2], 1));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_follower_that_lags_leaves_the_isr_and_returns() {
    let mut talk = Conversation::new(2, 0, None, 0);
    talk.tell(lead(0, &[1, 2, 3], 0)).tell(appended(10)).tell(fetched(2, 10)).tell(fetched(3, 4));
    talk.say("broker 2 keeps up, broker 3 is silent").wait(20_000).tell(fetched(2, 10)).tell(Event::Tick);
    talk.wait(15_000).tell(fetched(2, 10)).tell(Event::Tick);
    talk.say("until the controller has agreed, broker 3 still counts")
        .tell(appended(11))
        .tell(fetched(2, 11));
    talk.tell(accepted(proposal(0, 0, &[1, 2])));
    talk.say("it comes back, and must first have all that is committed").tell(fetched(3, 4));
    talk.tell(fetched(3, 11)).tell(appended(12)).tell(fetched(2, 12));
    talk.say("the proposal counts before it is answered, then is settled").tell(fetched(3, 12));
    talk.tell(accepted(proposal(0, 1, &[1, 2, 3])));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn too_few_in_sync_replicas_hold_everything_back() {
    let mut talk = Conversation::new(2, 5, Some(0), 5);
    talk.say("alone in the isr, two are needed").tell(lead(4, &[1], 3)).tell(appended(8));
    talk.say("a follower catches up and is proposed, and the high watermark waits for the answer");
    talk.tell(fetched(2, 5)).tell(fetched(2, 8));
    talk.say("the controller does not take it yet")
        .tell(refused(proposal(4, 3, &[1, 2]), ErrorCode::IneligibleReplica));
    talk.tell(fetched(2, 8)).tell(accepted(proposal(4, 3, &[1, 2])));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_proposal_that_may_have_been_applied_waits_for_the_controllers_word() {
    let mut talk = Conversation::new(1, 0, None, 0);
    talk.tell(lead(2, &[1, 2], 6)).tell(fetched(2, 0)).tell(fetched(3, 0));
    talk.say("another controller cannot be asked")
        .tell(refused(proposal(2, 6, &[1, 2, 3]), ErrorCode::NotController));
    talk.tell(refused(proposal(2, 6, &[1, 2, 3]), ErrorCode::InvalidUpdateVersion));
    talk.say("broker 3 counts until the newer state arrives").tell(appended(4)).tell(fetched(2, 4));
    talk.tell(lead(3, &[1, 2], 8));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_returning_leader_truncates_by_epoch_and_catches_up() {
    let mut talk = Conversation::new(2, 15, Some(4), 10);
    talk.say("broker 1 led epoch 4 and died with five records nobody else had").tell(follow(2, 6));
    talk.say("the leader's epoch 4 ended at 11, there is none here above it");
    talk.tell(answered(
        position(6, 15),
        FetchAnswer::Diverging { leader: epoch_end(4, 11), local: Some(epoch_end(4, 15)) },
    ));
    talk.tell(truncated(11, Some(4)));
    talk.say("the first records of epoch 6").tell(answered(position(6, 11), records(true, 13, 0)));
    talk.tell(replicated(20, 6, 13)).tell(answered(position(6, 20), records(false, 20, 7)));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_follower_that_does_not_know_the_leaders_epoch_asks_twice() {
    let mut talk = Conversation::new(2, 30, Some(5), 10);
    talk.tell(follow(2, 8));
    talk.say("the leader knows 3 as the largest epoch not above 5; here 2 is the largest not above 3");
    talk.tell(answered(
        position(8, 30),
        FetchAnswer::Diverging { leader: epoch_end(3, 18), local: Some(epoch_end(2, 14)) },
    ));
    talk.tell(truncated(14, Some(2)));
    talk.tell(answered(
        position(8, 14),
        FetchAnswer::Diverging { leader: epoch_end(2, 12), local: Some(epoch_end(2, 14)) },
    ));
    talk.tell(truncated(12, Some(2)));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn an_unclean_leader_makes_a_follower_lose_committed_records_loudly() {
    let mut talk = Conversation::new(1, 30, Some(5), 28);
    talk.tell(follow(3, 9))
        .tell(answered(position(9, 30), FetchAnswer::Refused(ErrorCode::OffsetOutOfRange)));
    talk.say("the leader's log ends before ours")
        .tell(Event::LeaderOffsets { leader_epoch: LeaderEpoch(9), offsets: Ok((Offset(0), Offset(21))) });
    talk.tell(truncated(21, Some(4)));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_follower_that_was_away_too_long_starts_over() {
    let mut talk = Conversation::new(1, 30, Some(5), 28);
    talk.tell(follow(3, 9))
        .tell(answered(position(9, 30), FetchAnswer::Refused(ErrorCode::OffsetOutOfRange)));
    talk.say("the leader could not be asked").tell(Event::LeaderOffsets {
        leader_epoch: LeaderEpoch(9),
        offsets: Err(ErrorCode::NotLeaderOrFollower),
    });
    talk.wait(1_000).tell(answered(position(9, 30), FetchAnswer::Refused(ErrorCode::OffsetOutOfRange)));
    talk.say("its log begins after ours ends")
        .tell(Event::LeaderOffsets { leader_epoch: LeaderEpoch(9), offsets: Ok((Offset(100), Offset(140))) });
    talk.tell(Event::Truncated { log_start: Offset(100), log_end: Offset(100), latest_epoch: None });
    insta::assert_snapshot!(talk.text);
}

#[test]
fn a_log_without_epochs_keeps_only_what_is_known_to_be_committed() {
    let mut talk = Conversation::new(1, 30, None, 25);
    talk.tell(follow(2, 3)).tell(truncated(25, None));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn commands_are_fenced_by_epoch() {
    let mut talk = Conversation::new(1, 0, None, 0);
    talk.tell(lead(5, &[1, 2, 3], 0));
    talk.say("an older election").tell(follow(2, 4));
    talk.say("a newer one that names a leader nobody here knows")
        .tell(Event::LeaderAndIsr { command: command(9, 6, &[2, 3], 1), leader_is_known: false });
    talk.say("an assignment without this broker").tell({
        let mut elsewhere = command(2, 6, &[2, 3], 1);
        elsewhere.assignment.replicas.retain(|id| id.0 != 1);
        Event::LeaderAndIsr { command: elsewhere, leader_is_known: true }
    });
    talk.say("the same epoch, its leader known now").tell(follow(2, 6));
    talk.say("stale and current commands to stop");
    talk.tell(Event::Stop { leader_epoch: LeaderEpoch(5) })
        .tell(Event::Stop { leader_epoch: LeaderEpoch(6) });
    talk.say("a stopped follower rests until a newer command").tell(follow(2, 6)).tell(follow(3, 7));
    insta::assert_snapshot!(talk.text);
}

#[test]
fn deleted_records_are_gone_when_every_live_replica_says_so() {
    let mut talk = Conversation::new(1, 0, None, 0);
    talk.tell(lead(0, &[1, 2, 3], 0)).tell(appended(10)).tell(fetched(2, 10)).tell(fetched(3, 10));
    talk.say("records before 6 are deleted").tell(Event::LogStartAdvanced { log_start: Offset(6) });
    let with_start = |replica, start| Event::FollowerFetched {
        replica: crate::types::BrokerId(replica),
        fetch_offset: Offset(10),
        log_start: Offset(start),
        is_live: true,
    };
    talk.tell(with_start(2, 6));
    talk.say("broker 3 died meanwhile").tell(Event::LiveBrokers(brokers(&[1, 2])));
    insta::assert_snapshot!(talk.text);
}
