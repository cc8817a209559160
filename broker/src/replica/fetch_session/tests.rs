use std::sync::Arc;

use ottla_protocol::message::ErrorCode;
use uuid::Uuid;

use super::{AnswerSummary, FetchKey, FetchPartition, FetchSessions, PlanKind, SessionRequest, TopicKey};
use crate::types::{Millis, Offset};

fn key(partition: i32) -> FetchKey {
    FetchKey { topic: TopicKey::Name(Arc::from("orders")), partition }
}

fn wanted(partition: i32, fetch_offset: i64) -> FetchPartition {
    FetchPartition {
        key: key(partition),
        topic: Some(Arc::from("orders")),
        fetch_offset: Offset(fetch_offset),
        current_leader_epoch: None,
        last_fetched_epoch: None,
        log_start: Offset::UNKNOWN,
        max_bytes: 1_000,
    }
}

fn request(id: i32, epoch: i32, partitions: Vec<FetchPartition>, forgotten: &[i32]) -> SessionRequest {
    SessionRequest {
        id,
        epoch,
        is_follower: false,
        uses_topic_ids: false,
        partitions,
        forgotten: forgotten.iter().copied().map(key).collect(),
    }
}

fn quiet(high_watermark: i64) -> AnswerSummary {
    AnswerSummary {
        has_records: false,
        is_special: false,
        high_watermark: Offset(high_watermark),
        log_start: Offset::ZERO,
    }
}

fn numbers(partitions: &[FetchPartition]) -> Vec<i32> {
    partitions.iter().map(|partition| partition.key.partition).collect()
}

const NOW: Millis = Millis(1_000_000);

fn opened(sessions: &mut FetchSessions, count: i32) -> i32 {
    let answered = (0..count).map(|number| (wanted(number, 0), quiet(0))).collect();
    sessions.open(NOW, (false, false), answered)
}

fn sessions(slots: usize) -> FetchSessions {
    FetchSessions::new(slots, 3, 8, 42)
}

#[test]
fn a_full_request_opens_a_session_in_its_lane() {
    let mut sessions = sessions(2);
    let plan = sessions.begin(NOW, request(0, 0, vec![wanted(0, 5)], &[])).unwrap();
    assert_eq!(plan.kind, PlanKind::Full { is_follower: false, uses_topic_ids: false });
    let id = opened(&mut sessions, 3);
    assert!(id > 0 && id % 8 == 3, "{id}");
    assert_eq!((sessions.len(), sessions.partitions()), (1, 3));
}

#[test]
fn incremental_requests_add_change_and_forget() {
    let mut sessions = sessions(2);
    let id = opened(&mut sessions, 3);
    let plan = sessions.begin(NOW, request(id, 1, vec![wanted(1, 9), wanted(7, 4)], &[2])).unwrap();
    assert_eq!(plan.kind, PlanKind::Incremental { id });
    assert_eq!(numbers(&plan.partitions), [0, 1, 7]);
    assert_eq!(plan.partitions[1].fetch_offset, Offset(9));
}

#[test]
fn an_incremental_answer_leaves_out_what_the_client_knows() {
    let mut sessions = sessions(2);
    let id = opened(&mut sessions, 5);
    sessions.begin(NOW, request(id, 1, Vec::new(), &[])).unwrap();
    let with = |change: fn(&mut AnswerSummary)| {
        let mut answer = quiet(0);
        change(&mut answer);
        answer
    };
    let answers = [
        (key(0), quiet(0)),
        (key(1), with(|answer| answer.has_records = true)),
        (key(2), with(|answer| answer.is_special = true)),
        (key(3), with(|answer| answer.high_watermark = Offset(1))),
        (key(4), with(|answer| answer.log_start = Offset(1))),
    ];
    assert_eq!(sessions.answer(id, &answers), [false, true, true, true, true]);
    let plan = sessions.begin(NOW, request(id, 2, Vec::new(), &[])).unwrap();
    assert_eq!(numbers(&plan.partitions), [0, 2, 3, 4, 1], "who got records goes to the end");
    let again = [(key(3), quiet(1)), (key(2), quiet(0))];
    assert_eq!(sessions.answer(id, &again), [false, true], "that an error is over is news");
}

#[test]
fn a_wrong_id_epoch_or_kind_of_topic_name_is_refused() {
    let mut sessions = sessions(2);
    let id = opened(&mut sessions, 1);
    let by_id = SessionRequest { uses_topic_ids: true, ..request(id, 1, Vec::new(), &[]) };
    for (request, expected) in [
        (request(id + 8, 1, Vec::new(), &[]), ErrorCode::FetchSessionIdNotFound),
        (request(id, 2, Vec::new(), &[]), ErrorCode::InvalidFetchSessionEpoch),
        (by_id, ErrorCode::FetchSessionTopicIdError),
    ] {
        assert_eq!(sessions.begin(NOW, request), Err(expected));
    }
}

#[test]
fn epochs_wrap_to_one() {
    assert_eq!(super::sessions::next_epoch(i32::MAX), 1);
    assert_eq!(super::sessions::next_epoch(1), 2);
}

#[test]
fn a_session_ends_by_request_and_by_forgetting_everything() {
    let mut sessions = sessions(2);
    let id = opened(&mut sessions, 2);
    let plan = sessions.begin(NOW, request(id, 1, Vec::new(), &[0, 1])).unwrap();
    assert_eq!((plan.kind, sessions.len()), (PlanKind::Sessionless, 0));
    for epoch in [-1, 0] {
        let id = opened(&mut sessions, 2);
        sessions.begin(NOW, request(id, epoch, vec![wanted(0, 0)], &[])).unwrap();
        assert_eq!(sessions.len(), 0, "epoch {epoch} closes the session it names");
    }
}

#[test]
fn topics_by_id_and_by_name_are_different_keys() {
    let by_id = FetchKey { topic: TopicKey::Id(Uuid::from_u128(1)), partition: 0 };
    assert_ne!(by_id, key(0));
}

#[test]
fn a_slot_goes_to_whom_it_helps_most() {
    let later = |ms| Millis(NOW.0 + ms);
    for (name, follower_inside, inside, follower_newcomer, newcomer, at, admitted) in [
        ("an equal does not push out a young one", false, 2, false, 2, later(1), false),
        ("nor does a larger one while it is young", false, 2, false, 3, later(1), false),
        ("one that was not used for long goes", false, 2, false, 1, later(120_001), true),
        ("a follower pushes out a consumer at once", false, 9, true, 1, later(1), true),
        ("a consumer never a follower in use", true, 1, false, 9, later(1), false),
    ] {
        let mut sessions = sessions(1);
        let answered = |count: i32| (0..count).map(|number| (wanted(number, 0), quiet(0))).collect();
        assert_ne!(sessions.open(NOW, (follower_inside, false), answered(inside)), 0);
        let id = sessions.open(at, (follower_newcomer, false), answered(newcomer));
        assert_eq!((id != 0, sessions.len()), (admitted, 1), "{name}");
    }
}

#[test]
fn a_session_that_was_pushed_out_leaves_nothing_out() {
    let mut sessions = sessions(1);
    assert_eq!(sessions.answer(99, &[(key(0), quiet(0))]), [true]);
}
