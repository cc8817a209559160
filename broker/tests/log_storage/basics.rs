//! The life of a log step by step.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ottla_broker::log::{
    AppendOptions, Error, LogConfig, LogManager, LogManagerOptions, Origin, PartitionLog, ReadLimits,
};
use ottla_broker::types::{BrokerEpoch, BrokerId, LeaderEpoch, Millis, Offset, TopicPartition};

use crate::batches::{Batch, Stored, split};

pub(crate) const CLIENT: AppendOptions = AppendOptions { origin: Origin::Client };
pub(crate) const NOW: i64 = 1_700_000_000_000;

pub(crate) fn orders() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

pub(crate) fn options(directory: &Path, config: &LogConfig, clock: &Arc<AtomicI64>) -> LogManagerOptions {
    let clock = clock.clone();
    LogManagerOptions {
        defaults: config.clone(),
        clock: Arc::new(move || Millis(clock.load(Ordering::Relaxed))),
        ..LogManagerOptions::new(vec![directory.to_owned()], BrokerId(1), "cluster")
    }
}

pub(crate) fn small_segments() -> LogConfig {
    LogConfig { segment_bytes: 1000, index_interval_bytes: 100, ..LogConfig::default() }
}

pub(crate) fn open(directory: &Path, config: &LogConfig) -> (Arc<LogManager>, Arc<PartitionLog>) {
    open_at(directory, config, &Arc::new(AtomicI64::new(NOW)))
}

pub(crate) fn open_at(
    directory: &Path,
    config: &LogConfig,
    clock: &Arc<AtomicI64>,
) -> (Arc<LogManager>, Arc<PartitionLog>) {
    let manager = LogManager::open(options(directory, config, clock)).unwrap();
    let log = manager.get_or_create(&orders(), None, config.clone(), true).unwrap();
    (manager, log)
}

pub(crate) fn append(log: &PartitionLog, count: usize) -> i64 {
    let bytes = Batch::of(count, 50, NOW).bytes();
    log.append_as_leader(&bytes, LeaderEpoch(0), CLIENT).unwrap().first_offset.0
}

pub(crate) fn append_many(log: &PartitionLog, batches: usize, count: usize) {
    for _ in 0..batches {
        append(log, count);
    }
}

/// Reads everything from `from` on, a little at a time.
pub(crate) fn read_all(log: &PartitionLog, from: i64) -> Vec<Stored> {
    read_up_to(log, from, log.log_end_offset().0)
}

pub(crate) fn read_up_to(log: &PartitionLog, from: i64, upper: i64) -> Vec<Stored> {
    let mut batches = Vec::new();
    let mut next = from;
    loop {
        let limits = ReadLimits {
            max_bytes: 700,
            at_least_one: true,
            upper: Offset(upper),
            aborted_transactions: false,
        };
        let data = log.read(Offset(next), limits).unwrap();
        let mut bytes = Vec::new();
        for region in &data.regions {
            let mut part = vec![0; region.size()];
            assert_eq!(region.read_at(&mut part, 0).unwrap(), part.len());
            bytes.extend(part);
        }
        assert_eq!(bytes.len(), data.size);
        let found = split(&bytes);
        let Some(last) = found.last() else { return batches };
        next = last.1 + 1;
        batches.extend(found);
    }
}

#[test]
fn what_is_appended_is_read_across_segments() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &small_segments());
    for at in 0..50 {
        assert_eq!(append(&log, 3), at * 3);
    }
    assert!(log.segment_count() > 5);
    assert_eq!(log.log_end_offset(), Offset(150));
    for from in [0, 1, 2, 3, 77, 149] {
        let batches = read_all(&log, from);
        assert_eq!(batches[0].0, from / 3 * 3, "from {from}");
        assert_eq!(batches.last().unwrap().1, 149);
        assert!(batches.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
    }
    assert!(read_all(&log, 150).is_empty());
    let limits =
        ReadLimits { max_bytes: 1, at_least_one: true, upper: Offset(150), aborted_transactions: false };
    assert!(matches!(log.read(Offset(151), limits), Err(Error::OffsetOutOfRange { .. })));
    assert!(matches!(log.read(Offset(-1), limits), Err(Error::OffsetOutOfRange { .. })));
}

#[test]
fn a_read_stops_before_its_upper_bound() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &small_segments());
    append_many(&log, 50, 3);
    for upper in [0, 1, 3, 4, 60, 61, 62, 63, 149, 150] {
        let last = read_up_to(&log, 0, upper).last().map_or(-1, |batch| batch.1);
        assert_eq!(last, upper / 3 * 3 - 1, "up to {upper}");
    }
}

#[test]
fn limits_hold_save_for_the_first_batch() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &LogConfig::default());
    append_many(&log, 5, 3);
    let size = log.size_bytes() / 5;
    let read = |max_bytes, at_least_one| {
        let limits = ReadLimits { max_bytes, at_least_one, upper: Offset(15), aborted_transactions: false };
        log.read(Offset(0), limits).unwrap().size as u64
    };
    assert_eq!(read(1, true), size);
    assert_eq!(read(1, false), 0);
    assert_eq!(read(0, false), 0);
    assert_eq!(read(size as u32 + 10, false), size + 10);
    assert_eq!(read(u32::MAX, false), size * 5);
}

#[test]
fn a_clean_stop_and_a_kill_both_come_back_with_everything() {
    for clean in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (manager, log) = open(directory.path(), &small_segments());
        append_many(&log, 50, 3);
        log.update_high_watermark(Offset(90));
        let before = read_all(&log, 0);
        if clean {
            manager.shutdown(BrokerEpoch(7));
            let marker = std::fs::read_to_string(directory.path().join(".kafka_cleanshutdown")).unwrap();
            assert_eq!(marker, r#"{"version":0,"brokerEpoch":7}"#);
            assert!(!directory.path().join(".lock").exists());
        }
        drop((manager, log));
        let (_manager, log) = open(directory.path(), &small_segments());
        assert!(!directory.path().join(".kafka_cleanshutdown").exists());
        assert_eq!(read_all(&log, 0), before, "clean: {clean}");
        assert_eq!(log.high_watermark(), Offset(if clean { 90 } else { 0 }));
        assert_eq!(log.latest_leader_epoch(), Some(LeaderEpoch(0)));
        assert_eq!(append(&log, 1), 150);
    }
}

#[test]
fn truncation_cuts_whole_batches_and_goes_on_from_there() {
    for target in [0, 1, 3, 50, 51, 60, 149, 150, 151] {
        let directory = tempfile::tempdir().unwrap();
        let (_manager, log) = open(directory.path(), &small_segments());
        append_many(&log, 50, 3);
        assert_eq!(log.truncate_to(Offset(target)).unwrap(), target < 150);
        let end = target.min(150) / 3 * 3;
        assert_eq!(log.log_end_offset(), Offset(end));
        assert_eq!(read_all(&log, 0).last().map_or(-1, |batch| batch.1), end / 3 * 3 - 1, "{target}");
        assert_eq!(append(&log, 2), end);
        assert_eq!(read_all(&log, end)[0].0, end);
        drop((_manager, log));
        let (_manager, log) = open(directory.path(), &small_segments());
        assert_eq!(log.log_end_offset(), Offset(end + 2));
        assert_eq!(read_all(&log, end)[0].0, end);
    }
}

#[test]
fn a_follower_copies_byte_for_byte_and_rolls_on_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, leader) = open(&directory.path().join("leader"), &LogConfig::default());
    let (_manager2, follower) = open(&directory.path().join("follower"), &small_segments());
    append_many(&leader, 50, 3);
    let all: Vec<u8> = read_all(&leader, 0).into_iter().flat_map(|batch| batch.2).collect();
    let cut = all.len() - 5;
    let info = follower.append_as_follower(&all[..cut].to_vec().into()).unwrap().unwrap();
    assert_eq!((info.first_offset, info.last_offset), (Offset(0), Offset(146)));
    let last = read_all(&leader, 147);
    follower.append_as_follower(&last[0].2.clone().into()).unwrap();
    assert_eq!(read_all(&follower, 0), read_all(&leader, 0));
    assert!(follower.segment_count() > 5);
    assert_eq!(follower.latest_leader_epoch(), Some(LeaderEpoch(0)));
    let again = follower.append_as_follower(&last[0].2.clone().into());
    assert!(matches!(again, Err(Error::OffsetsNotRising { .. })));
    let mut flipped = Batch::of(1, 10, NOW).at(150, 0).bytes().to_vec();
    flipped[70] ^= 1;
    assert!(matches!(follower.append_as_follower(&flipped.into()), Err(Error::CorruptBatch { .. })));
    assert_eq!(follower.append_as_follower(&vec![0, 0, 0].into()).unwrap(), None);
}

#[test]
fn a_follower_that_starts_inside_a_batch_begins_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &small_segments());
    log.truncate_fully_and_start_at(Offset(42)).unwrap();
    log.append_as_follower(&Batch::of(5, 10, NOW).at(40, 3).bytes()).unwrap();
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(42), Offset(45)));
    assert_eq!(read_all(&log, 42)[0].0, 40);
    let below = log.append_as_follower(&Batch::of(1, 10, NOW).at(30, 3).bytes());
    assert!(matches!(below, Err(Error::OffsetsNotRising { .. })));
}

#[test]
fn retention_by_time_and_size_leaves_the_newest() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let config = LogConfig { retention_ms: 1000, ..small_segments() };
    let (manager, log) = open_at(directory.path(), &config, &clock);
    append_many(&log, 50, 3);
    let segments = log.segment_count();
    assert_eq!(log.apply_retention().unwrap(), 0);
    clock.store(NOW + 2000, Ordering::Relaxed);
    assert_eq!(log.apply_retention().unwrap(), 0, "nothing above the high watermark goes");
    log.update_high_watermark(Offset(75));
    let deleted = log.apply_retention().unwrap();
    assert!(deleted > 0 && deleted < segments);
    let start = log.log_start_offset();
    assert!(start > Offset(0) && start <= Offset(75));
    assert_eq!(read_all(&log, start.0)[0].0, start.0);
    log.update_high_watermark(Offset(150));
    log.apply_retention().unwrap();
    assert_eq!((log.log_start_offset(), log.segment_count()), (Offset(150), 1));
    assert_eq!(log.size_bytes(), 0);
    assert_eq!(log.apply_retention().unwrap(), 0);
    let deleted_files = || {
        let names = std::fs::read_dir(log.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().ends_with(".deleted")).count()
    };
    assert!(deleted_files() > 0);

    let by_size = LogConfig { retention_ms: -1, retention_bytes: 2500, ..small_segments() };
    log.set_config(by_size);
    append_many(&log, 50, 3);
    log.update_high_watermark(Offset(300));
    log.apply_retention().unwrap();
    assert!((2500..3500).contains(&log.size_bytes()), "{}", log.size_bytes());
    manager.shutdown(BrokerEpoch(1));
}

#[test]
fn deleted_records_are_not_shown_after_a_restart_either() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &small_segments());
    append_many(&log, 50, 3);
    log.update_high_watermark(Offset(150));
    assert!(matches!(log.advance_log_start(Offset(151)), Err(Error::OffsetOutOfRange { .. })));
    assert_eq!(log.advance_log_start(Offset(100)).unwrap(), Offset(100));
    assert_eq!(log.advance_log_start(Offset(50)).unwrap(), Offset(100));
    manager.shutdown(BrokerEpoch(1));
    drop((manager, log));
    let (_manager, log) = open(directory.path(), &small_segments());
    assert_eq!(log.log_start_offset(), Offset(100));
    assert_eq!(read_all(&log, 100)[0].0, 99);
    assert!(log.apply_retention().unwrap() > 0);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(100), Offset(150)));
}

#[test]
fn duplicates_are_answered_and_known_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let batch = |sequence| Batch::of(2, 10, NOW).by_producer(9, 0, sequence).bytes();
    let (manager, log) = open(directory.path(), &small_segments());
    let first = log.append_as_leader(&batch(0), LeaderEpoch(0), CLIENT).unwrap();
    log.append_as_leader(&batch(2), LeaderEpoch(0), CLIENT).unwrap();
    let again = log.append_as_leader(&batch(0), LeaderEpoch(0), CLIENT).unwrap();
    assert!(again.duplicate && !first.duplicate);
    assert_eq!((again.first_offset, again.last_offset), (Offset(0), Offset(1)));
    let gap = log.append_as_leader(&batch(6), LeaderEpoch(0), CLIENT);
    assert!(matches!(gap, Err(Error::OutOfOrderSequence { last_sequence: 3, .. })));
    let old = Batch::of(2, 10, NOW).by_producer(9, -1, 4).bytes();
    assert!(log.append_as_leader(&old, LeaderEpoch(0), CLIENT).is_err());
    for clean in [true, false] {
        let (manager, log) = if clean {
            manager.shutdown(BrokerEpoch(1));
            open(directory.path(), &small_segments())
        } else {
            open(directory.path(), &small_segments())
        };
        let last = log.append_as_leader(&batch(2), LeaderEpoch(0), CLIENT).unwrap();
        assert!(last.duplicate, "clean: {clean}");
        assert_eq!(log.log_end_offset(), Offset(4));
        let gap = log.append_as_leader(&batch(6), LeaderEpoch(0), CLIENT);
        assert!(matches!(gap, Err(Error::OutOfOrderSequence { .. })));
        drop((manager, log));
    }
}

#[test]
fn transactions_hold_the_last_stable_offset_and_list_the_aborted() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &small_segments());
    let coordinator = AppendOptions { origin: Origin::Coordinator };
    let data = Batch::of(2, 10, NOW).by_producer(9, 0, 0).transactional().bytes();
    log.append_as_leader(&data, LeaderEpoch(0), CLIENT).unwrap();
    append(&log, 3);
    log.update_high_watermark(Offset(5));
    assert_eq!(log.last_stable_offset(), Offset(0));
    log.append_as_leader(&Batch::marker(9, 0, false).bytes(), LeaderEpoch(0), coordinator).unwrap();
    assert_eq!(log.last_stable_offset(), Offset(0));
    log.update_high_watermark(Offset(6));
    assert_eq!(log.last_stable_offset(), Offset(6));
    {
        let limits = ReadLimits {
            max_bytes: 10_000,
            at_least_one: true,
            upper: Offset(6),
            aborted_transactions: true,
        };
        let aborted = log.read(Offset(0), limits).unwrap().aborted_transactions.unwrap();
        let shown: Vec<_> = aborted.iter().map(|a| (a.producer_id, a.first_offset, a.last_offset)).collect();
        assert_eq!(shown, [(9, Offset(0), Offset(5))]);
    }
    drop((manager, log));
    let (_manager, log) = open(directory.path(), &small_segments());
    assert_eq!(log.aborted_transactions(Offset(0), Offset(6)).unwrap().len(), 1);
    let late = Batch::of(1, 10, NOW).by_producer(9, 0, 2).bytes();
    log.append_as_leader(&late, LeaderEpoch(0), CLIENT).unwrap();
}

#[test]
fn bad_batches_are_refused_with_their_rule() {
    let directory = tempfile::tempdir().unwrap();
    let config = LogConfig { max_message_bytes: 2000, ..small_segments() };
    let (_manager, log) = open(directory.path(), &config);
    let good = Batch::of(2, 10, NOW).bytes();
    let send = |bytes: Vec<u8>| log.append_as_leader(&bytes.into(), LeaderEpoch(0), CLIENT);
    let flipped = |at: usize| {
        let mut bytes = good.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    assert!(matches!(send(flipped(100)), Err(Error::CorruptBatch { .. })));
    assert!(matches!(send(flipped(20)), Err(Error::CorruptBatch { .. })));
    assert!(matches!(send(good[..30].to_vec()), Err(Error::CorruptBatch { .. })));
    assert!(matches!(send(good[..good.len() - 1].to_vec()), Err(Error::CorruptBatch { .. })));
    assert!(matches!(send([&good[..], &good].concat()), Err(Error::InvalidRecord { .. })));
    assert!(matches!(send(flipped(7)), Err(Error::InvalidRecord { .. })));
    assert!(matches!(send(Batch::of(10, 300, NOW).bytes().to_vec()), Err(Error::BatchTooLarge { .. })));
    assert!(matches!(send(Batch::of(5, 300, NOW).bytes().to_vec()), Err(Error::LargerThanSegment { .. })));
    assert!(matches!(send(Batch::marker(9, 0, true).bytes().to_vec()), Err(Error::InvalidRecord { .. })));
    assert_eq!(log.log_end_offset(), Offset(0));
    append(&log, 1);
    assert_eq!(log.log_end_offset(), Offset(1));
}

#[test]
fn a_deleted_partition_can_be_made_again_with_nothing_of_its_past() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &small_segments());
    append_many(&log, 50, 3);
    log.update_high_watermark(Offset(150));
    log.advance_log_start(Offset(100)).unwrap();
    log.flush().unwrap();
    manager.checkpoint_recovery_points().unwrap();
    manager.checkpoint_high_watermarks().unwrap();
    let data =
        ReadLimits { max_bytes: 100, at_least_one: true, upper: Offset(150), aborted_transactions: false };
    let held = log.read(Offset(100), data).unwrap();
    manager.delete(&orders()).unwrap();
    assert!(matches!(
        log.append_as_leader(&Batch::of(1, 1, NOW).bytes(), LeaderEpoch(0), CLIENT),
        Err(Error::Closed { .. })
    ));
    assert!(manager.get(&orders()).is_none());
    let mut bytes = vec![0; held.regions[0].size()];
    held.regions[0].read_at(&mut bytes, 0).unwrap();
    let log = manager.get_or_create(&orders(), None, small_segments(), true).unwrap();
    append(&log, 1);
    drop((manager, log));
    let (_manager, log) = open(directory.path(), &small_segments());
    assert_eq!(
        (log.log_start_offset(), log.log_end_offset(), log.high_watermark()),
        (Offset(0), Offset(1), Offset(0))
    );
}

#[test]
fn directories_of_others_are_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let open_as = |broker, cluster: &str| {
        let options = LogManagerOptions {
            broker_id: BrokerId(broker),
            cluster_id: cluster.to_owned(),
            ..options(directory.path(), &LogConfig::default(), &clock)
        };
        LogManager::open(options).map_err(|error| error.to_string())
    };
    let manager = open_as(1, "cluster").unwrap();
    assert!(open_as(1, "cluster").unwrap_err().contains("in use by another broker of this process"));
    drop(manager);
    assert!(open_as(2, "cluster").unwrap_err().contains("belongs to broker 1"));
    assert!(open_as(1, "other").unwrap_err().contains("belongs to cluster cluster"));
    open_as(1, "cluster").unwrap();
}
