//! Compacted topics: the last record of a key stays, the others go, and nothing else changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use ottla_broker::log::{AppendOptions, LogConfig, LogManager, Origin, PartitionLog, ReadLimits};
use ottla_broker::types::{BrokerEpoch, LeaderEpoch, Offset};
use ottla_protocol::record::{self, BatchBuilder, Compression, NewRecord};

use crate::basics::{CLIENT, NOW, open_at, read_all};
use crate::batches::Batch;

const DAY: i64 = 86_400_000;

fn compacted() -> LogConfig {
    LogConfig {
        compact: true,
        delete: false,
        segment_bytes: 1500,
        index_interval_bytes: 200,
        min_cleanable_dirty_ratio: 0.0,
        ..LogConfig::default()
    }
}

fn open(directory: &Path, clock: &Arc<AtomicI64>) -> (Arc<LogManager>, Arc<PartitionLog>) {
    open_at(directory, &compacted(), clock)
}

/// Appends one batch of records: key, and value or null.
fn put(log: &PartitionLog, records: &[(u32, Option<u32>)], codec: Compression) {
    let bytes = |number: u32| number.to_string().into_bytes();
    let mut builder = BatchBuilder::new().compression(codec);
    for (key, value) in records {
        let (key, value) = (bytes(*key), value.map(bytes));
        builder.add(NewRecord { timestamp: NOW, key: Some(&key), value: value.as_deref(), headers: &[] });
    }
    log.append_as_leader(&builder.build().unwrap(), LeaderEpoch(1), CLIENT).unwrap();
    log.update_high_watermark(log.log_end_offset());
}

fn records(log: &PartitionLog) -> Vec<(i64, Option<Bytes>, Option<Bytes>)> {
    let batches = read_all(log, log.log_start_offset().0).into_iter();
    let all =
        batches.flat_map(|batch| record::iterate(&batch.2.into(), 1 << 20).unwrap()).map(Result::unwrap);
    all.map(|record| (record.offset, record.key, record.value)).collect()
}

/// The last value of each key.
fn state(log: &PartitionLog) -> BTreeMap<Bytes, Option<Bytes>> {
    records(log).into_iter().filter_map(|(_, key, value)| Some((key?, value))).collect()
}

fn clean(manager: &LogManager) -> usize {
    let rounds = (0..20).take_while(|_| manager.clean_dirtiest()).count();
    assert!(rounds < 20, "cleaning comes to an end");
    assert!(manager.uncleanable_partitions().is_empty(), "{:?}", manager.uncleanable_partitions());
    rounds
}

#[test]
fn only_the_last_record_of_a_key_stays_whatever_the_codec() {
    for codec in
        [Compression::None, Compression::Lz4, Compression::Zstd, Compression::Gzip, Compression::Snappy]
    {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(NOW));
        let (manager, log) = open(directory.path(), &clock);
        for round in 0..60_u32 {
            let records: Vec<_> = (0..6).map(|at| ((round * 5 + at) % 17, Some(round * 10 + at))).collect();
            put(&log, &records, codec);
        }
        let (before, size, end) = (state(&log), log.size_bytes(), log.log_end_offset());
        let all = records(&log);
        assert_eq!(clean(&manager), 1, "{codec}");
        assert_eq!(state(&log), before, "{codec}");
        assert_eq!(log.log_end_offset(), end);
        assert!(log.size_bytes() < size / 2, "{codec}: {} of {size}", log.size_bytes());
        let kept = records(&log);
        assert!(kept.iter().all(|record| all.contains(record)), "what stays is what was there");
        // Reads from anywhere still work, and a restart finds the same.
        for from in (0..end.0).step_by(13) {
            assert!(read_all(&log, from).iter().all(|batch| batch.1 >= from));
        }
        manager.shutdown(BrokerEpoch(1));
        assert!(
            fs::read_to_string(directory.path().join("cleaner-offset-checkpoint"))
                .unwrap()
                .contains("orders 0 ")
        );
        let (manager, log) = open(directory.path(), &clock);
        assert_eq!((records(&log), log.log_end_offset()), (kept, end), "{codec}");
        assert_eq!(clean(&manager), 0, "{codec}: nothing is left to do");
    }
}

#[test]
fn a_tombstone_stays_for_its_time_and_then_goes() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let (manager, log) = open(directory.path(), &clock);
    put(&log, &[(1, Some(1)), (2, Some(2))], Compression::None);
    put(&log, &[(1, None)], Compression::None);
    let fill = |log: &PartitionLog| {
        (0..40).for_each(|value| put(log, &[(9, Some(value)), (8, Some(value))], Compression::None))
    };
    fill(&log);
    clean(&manager);
    let has_tombstone =
        |log: &PartitionLog| records(log).iter().any(|record| record.0 == 2 && record.2.is_none());
    assert!(has_tombstone(&log));
    assert!(!records(&log).iter().any(|record| record.0 == 0), "what it deletes is gone");
    let batch = read_all(&log, 2)[0].2.clone();
    let header = record::check_batch(&batch).unwrap();
    assert!(header.attributes.has_delete_horizon());
    assert_eq!((header.base_timestamp, header.max_timestamp), (NOW + DAY, NOW));
    clock.store(NOW + DAY - 1, Ordering::Relaxed);
    fill(&log);
    clean(&manager);
    assert!(has_tombstone(&log));
    clock.store(NOW + DAY, Ordering::Relaxed);
    fill(&log);
    clean(&manager);
    assert!(!has_tombstone(&log));
    assert!(records(&log).iter().any(|record| record.0 == 1));
}

#[test]
fn a_map_that_is_too_small_cleans_in_rounds() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let mut options = crate::basics::options(directory.path(), &compacted(), &clock);
    options.cleaner.dedupe_buffer_bytes = 24 * 30;
    let manager = LogManager::open(options).unwrap();
    let log = manager.get_or_create(&crate::basics::orders(), None, compacted(), true).unwrap();
    for round in 0..80_u32 {
        put(&log, &[(round % 40, Some(round)), (100 + round % 20, Some(round))], Compression::None);
    }
    let before = state(&log);
    assert!(clean(&manager) > 1);
    assert_eq!(state(&log), before);
}

#[test]
fn aborted_records_go_and_markers_follow_them() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let (manager, log) = open(directory.path(), &clock);
    let coordinator = AppendOptions { origin: Origin::Coordinator };
    let data = |id: i64| Batch::of(2, 10, NOW).by_producer(id, 0, 0).transactional().bytes();
    log.append_as_leader(&data(7), LeaderEpoch(1), CLIENT).unwrap();
    log.append_as_leader(&Batch::marker(7, 0, false).bytes(), LeaderEpoch(1), coordinator).unwrap();
    log.append_as_leader(&data(8), LeaderEpoch(1), CLIENT).unwrap();
    log.append_as_leader(&Batch::marker(8, 0, true).bytes(), LeaderEpoch(1), coordinator).unwrap();
    log.update_high_watermark(log.log_end_offset());
    let fill =
        |log: &PartitionLog| (0..60).for_each(|value| put(log, &[(9, Some(value))], Compression::None));
    fill(&log);
    clean(&manager);
    let shown = |log: &PartitionLog| {
        records(log).iter().map(|record| record.0).filter(|offset| *offset < 6).collect::<Vec<_>>()
    };
    // The aborted records are gone, their batch stays empty for its producer's last sequence, both markers stay.
    assert_eq!(shown(&log), [2, 4, 5]);
    let limits = ReadLimits {
        max_bytes: 1 << 20,
        at_least_one: true,
        upper: log.log_end_offset(),
        aborted_transactions: true,
    };
    assert_eq!(log.read(Offset(0), limits).unwrap().aborted_transactions.unwrap().len(), 1);
    let late = Batch::of(1, 10, NOW).by_producer(7, 0, 2).transactional().bytes();
    log.append_as_leader(&late, LeaderEpoch(1), CLIENT).unwrap();
}

#[test]
fn what_a_crash_leaves_of_a_swap_is_finished_or_undone() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let (manager, log) = open(directory.path(), &clock);
    (0..60).for_each(|value| put(&log, &[(value % 7, Some(value))], Compression::None));
    let (all, before, path) = (records(&log), state(&log), log.path());
    manager.abandon();
    let original = tempfile::tempdir().unwrap();
    copy(directory.path(), original.path());
    // The same log, cleaned: its first segment is what a swap would bring.
    let (manager, log) = open(directory.path(), &clock);
    log.set_config(LogConfig { segment_bytes: 1 << 20, ..compacted() });
    log.update_high_watermark(log.log_end_offset());
    clean(&manager);
    assert_eq!(log.segment_count(), 2, "all but the active one were put together");
    let cleaned_records = records(&log);
    manager.shutdown(BrokerEpoch(1));
    let cleaned = path.join("00000000000000000000.log");
    let removed: Vec<_> = fs::read_dir(original.path().join("orders-0"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !path.join(name).exists() && name.to_str().unwrap().ends_with(".log"))
        .collect();
    assert!(!removed.is_empty());
    for (suffix, expected) in [("cleaned", &all), ("swap", &cleaned_records)] {
        let crashed = tempfile::tempdir().unwrap();
        copy(original.path(), crashed.path());
        let partition = crashed.path().join("orders-0");
        fs::copy(&cleaned, partition.join(format!("00000000000000000000.log.{suffix}"))).unwrap();
        let (_manager, log) = open(crashed.path(), &clock);
        assert_eq!(state(&log), before, "{suffix}");
        assert_eq!(&records(&log), expected, "{suffix}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn readers_go_on_while_segments_are_swapped() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(NOW));
    let (manager, log) = open(directory.path(), &clock);
    (0..100).for_each(|value| put(&log, &[(value % 7, Some(value))], Compression::None));
    let before = state(&log);
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            (0..2).map(|_| scope.spawn(|| (0..60).for_each(|_| assert_eq!(state(&log), before)))).collect();
        for value in 0..20 {
            clean(&manager);
            // A record of a key that the readers know, with the value it has.
            let (key, last) = before.iter().next().unwrap();
            let number = |bytes: &Bytes| std::str::from_utf8(bytes).unwrap().parse().unwrap();
            let records: Vec<_> = (0..20).map(|_| (number(key), last.as_ref().map(number))).collect();
            put(&log, &records, if value % 2 == 0 { Compression::None } else { Compression::Lz4 });
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}
