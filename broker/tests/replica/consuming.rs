//! What consumers and followers are given, and when.

use std::time::Duration;

use ottla_broker::replica::machine::{Acks, EpochEnd};
use ottla_broker::replica::{DeleteOutcome, FetchParams, FoundOffset, OffsetQuery, OffsetsReader, Reader};
use ottla_broker::types::{LeaderEpoch, Millis, Offset, TopicPartition};
use ottla_protocol::message::ErrorCode;

use super::support::{Broker, LONG, consumer, follower, not_yet, partition, soon, wanted, wanted_after};

#[test]
fn a_consumer_is_woken_by_the_fetch_that_commits() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let fetch = broker.fetch(consumer(), wanted(0));
    soon(&broker.produce(Acks::Leader, LONG, 3));
    not_yet(&fetch);
    let outcome = broker.follower_at(2, 0);
    assert_eq!((outcome.high_watermark, outcome.data.size > 0), (Offset(0), true));
    not_yet(&fetch);
    broker.follower_at(2, 3);
    let outcome = fetch.try_recv().expect("woken by the follower's fetch");
    assert_eq!((outcome.error, outcome.high_watermark), (ErrorCode::None, Offset(3)));
    assert_eq!(outcome.data.first_batch_offset, Some(Offset(0)));
}

#[test]
fn a_follower_is_woken_by_the_append() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let fetch = broker.fetch(follower(2), wanted(0));
    not_yet(&fetch);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    assert!(fetch.try_recv().expect("woken by the append").data.size > 0);
}

#[test]
fn a_fetch_that_finds_too_little_waits_for_its_time() {
    let broker = Broker::new(1);
    broker.lead(0, &[1]);
    soon(&broker.produce(Acks::Leader, LONG, 1));
    let patient = FetchParams { min_bytes: 1_000, max_wait: Duration::from_millis(20), ..consumer() };
    let outcome = soon(&broker.fetch(patient, wanted(0)));
    assert!(outcome.data.size > 0 && outcome.data.size < 1_000);
    let greedy = FetchParams { min_bytes: 200, ..consumer() };
    let fetch = broker.fetch(greedy, wanted(0));
    not_yet(&fetch);
    for _ in 0..3 {
        soon(&broker.produce(Acks::Leader, LONG, 1));
    }
    assert!(fetch.try_recv().expect("woken when there is enough").data.size >= 200);
}

#[test]
fn a_waiting_fetch_is_answered_when_the_leader_changes() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let (consumer, follower) = (broker.fetch(consumer(), wanted(0)), broker.fetch(follower(2), wanted(0)));
    assert_eq!(broker.command(2, 1, &[1, 2]), ErrorCode::None);
    assert_eq!(consumer.try_recv().unwrap().error, ErrorCode::NotLeaderOrFollower);
    assert_eq!(follower.try_recv().unwrap().error, ErrorCode::NotLeaderOrFollower);
}

#[test]
fn offsets_outside_of_the_log_are_out_of_range() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    for (offset, expected) in
        [(-1, ErrorCode::OffsetOutOfRange), (3, ErrorCode::None), (4, ErrorCode::OffsetOutOfRange)]
    {
        let params = FetchParams { max_wait: Duration::ZERO, ..consumer() };
        assert_eq!(soon(&broker.fetch(params, wanted(offset))).error, expected, "{offset}");
    }
}

#[test]
fn a_follower_whose_log_took_another_turn_is_told_where() {
    let broker = Broker::new(1);
    broker.lead(2, &[1]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    broker.lead(5, &[1]);
    soon(&broker.produce(Acks::Leader, LONG, 2));
    let end = |epoch, end| Some(EpochEnd { epoch: LeaderEpoch(epoch), end: Offset(end) });
    for (name, offset, epoch, diverging) in [
        ("the same history", 3, 2, None),
        ("an epoch this leader never saw", 4, 3, end(2, 3)),
        ("more of an epoch than there was", 4, 2, end(2, 3)),
        ("the newest epoch", 5, 5, None),
    ] {
        let params = FetchParams { max_wait: Duration::ZERO, ..follower(2) };
        let outcome = soon(&broker.fetch(params, wanted_after(offset, epoch)));
        assert_eq!((outcome.error, outcome.diverging), (ErrorCode::None, diverging), "{name}");
    }
    let params = FetchParams { max_wait: Duration::ZERO, ..follower(2) };
    assert_eq!(soon(&broker.fetch(params, wanted_after(5, 9))).error, ErrorCode::OffsetOutOfRange);
}

#[test]
fn offsets_are_found_for_clients_followers_and_debuggers() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    broker.follower_at(2, 2);
    let client = OffsetsReader::Client { committed: false };
    let find = |reader, query| broker.manager.list_offset(&partition(0), reader, None, query);
    let offset = |found: Result<FoundOffset, ErrorCode>| found.unwrap().offset.0;
    assert_eq!(offset(find(client, OffsetQuery::Latest)), 2);
    assert_eq!(
        offset(find(OffsetsReader::Follower(ottla_broker::types::BrokerId(2)), OffsetQuery::Latest)),
        3
    );
    assert_eq!(offset(find(OffsetsReader::Debugging, OffsetQuery::Latest)), 3);
    assert_eq!(offset(find(client, OffsetQuery::Earliest)), 0);
    assert_eq!(offset(find(client, OffsetQuery::At(Millis(0)))), 0);
    assert_eq!(offset(find(client, OffsetQuery::At(Millis(i64::MAX)))), -1);
    assert_eq!(broker.command(2, 1, &[1, 2]), ErrorCode::None);
    assert_eq!(find(client, OffsetQuery::Latest), Err(ErrorCode::NotLeaderOrFollower));
    assert_eq!(offset(find(OffsetsReader::Debugging, OffsetQuery::Latest)), 3, "any replica, to its end");
}

#[test]
fn a_new_leader_tells_no_end_before_it_knows_it() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    broker.lead(1, &[1, 2]);
    let client = OffsetsReader::Client { committed: false };
    let latest = || broker.manager.list_offset(&partition(0), client, None, OffsetQuery::Latest);
    assert_eq!(latest(), Err(ErrorCode::OffsetNotAvailable));
    broker.follower_at(2, 3);
    assert_eq!(latest().unwrap().offset, Offset(3));
}

#[test]
fn deletion_waits_for_the_live_replicas() {
    let broker = Broker::new(1);
    broker.live(&[1, 2]);
    broker.lead(0, &[1, 2]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    broker.follower_at(2, 3);
    let delete = |before| {
        let (told, heard) = std::sync::mpsc::channel();
        let complete = move |outcomes: Vec<(TopicPartition, DeleteOutcome)>| {
            told.send(outcomes[0].1).unwrap();
        };
        broker.manager.delete_records(LONG, vec![(partition(0), Offset(before))], Box::new(complete));
        heard
    };
    assert_eq!(soon(&delete(4)).error, ErrorCode::OffsetOutOfRange);
    let deletion = delete(-1);
    not_yet(&deletion);
    let mut fetch = wanted(3);
    fetch.log_start = Offset(3);
    let params = FetchParams { max_wait: Duration::ZERO, ..follower(2) };
    soon(&broker.fetch(params, fetch));
    let outcome = deletion.try_recv().expect("completed by the follower's fetch");
    assert_eq!((outcome.error, outcome.low_watermark), (ErrorCode::None, Offset(3)));
    let debugging = FetchParams { reader: Reader::Follower, max_wait: Duration::ZERO, ..consumer() };
    assert_eq!(soon(&broker.fetch(debugging, wanted(0))).error, ErrorCode::OffsetOutOfRange);
}
