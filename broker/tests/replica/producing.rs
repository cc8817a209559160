//! What producers are told, and when.

use std::time::Duration;

use ottla_broker::replica::machine::Acks;
use ottla_broker::types::Offset;
use ottla_protocol::message::ErrorCode;

use super::support::{Broker, LONG, consumer, not_yet, soon, wanted};

#[test]
fn the_leaders_word_suffices_for_acks_1() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let first = soon(&broker.produce(Acks::Leader, LONG, 3));
    let second = soon(&broker.produce(Acks::Leader, LONG, 2));
    assert_eq!((first.error, first.base_offset), (ErrorCode::None, Offset(0)));
    assert_eq!((second.error, second.base_offset), (ErrorCode::None, Offset(3)));
}

#[test]
fn acks_all_wait_for_every_in_sync_replica() {
    let broker = Broker::new(2);
    broker.lead(0, &[1, 2, 3]);
    let produce = broker.produce(Acks::All, LONG, 3);
    broker.follower_at(2, 3);
    not_yet(&produce);
    broker.follower_at(3, 2);
    not_yet(&produce);
    broker.follower_at(3, 3);
    assert_eq!(produce.try_recv().expect("answered by the fetch that completes it").error, ErrorCode::None);
}

#[test]
fn acks_all_of_one_replica_are_answered_at_once() {
    let broker = Broker::new(1);
    broker.lead(0, &[1]);
    assert_eq!(broker.produce(Acks::All, LONG, 1).try_recv().unwrap().error, ErrorCode::None);
}

#[test]
fn what_is_not_replicated_in_time_times_out_and_stays() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let outcome = soon(&broker.produce(Acks::All, Duration::from_millis(20), 3));
    assert_eq!((outcome.error, outcome.base_offset), (ErrorCode::RequestTimedOut, Offset(0)));
    broker.follower_at(2, 3);
    let outcome = soon(&broker.fetch(consumer(), wanted(0)));
    assert_eq!(outcome.high_watermark, Offset(3));
}

#[test]
fn too_few_in_sync_replicas_append_nothing() {
    let broker = Broker::new(2);
    broker.lead(0, &[1]);
    let outcome = soon(&broker.produce(Acks::All, LONG, 3));
    assert_eq!((outcome.error, outcome.base_offset), (ErrorCode::NotEnoughReplicas, Offset::UNKNOWN));
    let outcome = soon(&broker.produce(Acks::Leader, LONG, 1));
    assert_eq!((outcome.error, outcome.base_offset), (ErrorCode::None, Offset(0)));
}

#[test]
fn a_lost_leadership_fails_those_who_wait() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let produce = broker.produce(Acks::All, LONG, 3);
    assert_eq!(broker.command(2, 1, &[1, 2]), ErrorCode::None);
    assert_eq!(produce.try_recv().unwrap().error, ErrorCode::NotLeaderOrFollower);
}

#[test]
fn a_smaller_isr_of_a_reelected_leader_completes_those_who_wait() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    let produce = broker.produce(Acks::All, LONG, 3);
    broker.lead(1, &[1]);
    assert_eq!(produce.try_recv().unwrap().error, ErrorCode::None);
}

#[test]
fn a_follower_an_unknown_partition_and_damaged_bytes_are_refused() {
    let broker = Broker::new(1);
    let refused = |broker: &Broker| soon(&broker.produce(Acks::Leader, LONG, 1)).error;
    assert_eq!(refused(&broker), ErrorCode::NotLeaderOrFollower, "the cluster has it, this broker not yet");
    assert_eq!(broker.command(2, 0, &[1, 2]), ErrorCode::None);
    assert_eq!(refused(&broker), ErrorCode::NotLeaderOrFollower);
    broker.lead(1, &[1]);
    let mut damaged = super::support::batch(1).to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    let (told, heard) = std::sync::mpsc::channel();
    let complete = move |outcomes| told.send(outcomes).unwrap();
    let batches = vec![
        (super::support::partition(0), damaged.into()),
        (super::support::partition(7), super::support::batch(1)),
        (super::support::partition(0), super::support::batch(1)),
    ];
    broker.manager.append(Acks::All, LONG, batches, ottla_broker::log::Origin::Client, Box::new(complete));
    let outcomes: Vec<(_, ottla_broker::replica::ProduceOutcome)> = soon(&heard);
    let errors: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.error).collect();
    assert_eq!(
        errors,
        [ErrorCode::CorruptMessage, ErrorCode::UnknownTopicOrPartition, ErrorCode::None],
        "each partition is answered for itself"
    );
}
