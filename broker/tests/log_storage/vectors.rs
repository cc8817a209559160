//! Kafka's own files, read and written.

use std::fs;
use std::path::{Path, PathBuf};

use ottla_broker::log::{LogConfig, TimestampOffset};
use ottla_broker::types::{BrokerEpoch, LeaderEpoch, Millis, Offset};

use crate::basics::{open, read_all};
use crate::batches::split;

const T0: i64 = 1_700_000_000_000;

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

fn keep_everything() -> LogConfig {
    LogConfig { retention_ms: -1, segment_ms: i64::MAX, ..LogConfig::default() }
}

/// Makes a log directory whose partition has the vector's files.
fn directory_with(files: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let partition = directory.path().join("orders-0");
    fs::create_dir(&partition).unwrap();
    for file in files {
        let from = vector(file);
        fs::copy(&from, partition.join(from.file_name().unwrap())).unwrap();
    }
    directory
}

#[test]
fn appending_the_segment_leaves_kafkas_indexes_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &keep_everything());
    log.truncate_fully_and_start_at(Offset(1000)).unwrap();
    let segment = fs::read(vector("segment/00000000000000001000.log")).unwrap();
    for (_, _, batch) in split(&segment) {
        log.append_as_follower(&batch.into()).unwrap();
    }
    let partition = log.path();
    manager.shutdown(BrokerEpoch(1));
    for name in [
        "00000000000000001000.log",
        "00000000000000001000.index",
        "00000000000000001000.timeindex",
        "leader-epoch-checkpoint",
    ] {
        let written = fs::read(partition.join(name)).unwrap();
        assert_eq!(written, fs::read(vector("segment").join(name)).unwrap(), "{name}");
    }
}

#[test]
fn sets_of_batches_are_indexed_batch_by_batch() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &keep_everything());
    log.truncate_fully_and_start_at(Offset(1000)).unwrap();
    let segment = fs::read(vector("segment/00000000000000001000.log")).unwrap();
    for set in split(&segment).chunks(3) {
        let bytes: Vec<u8> = set.iter().flat_map(|batch| batch.2.clone()).collect();
        log.append_as_follower(&bytes.into()).unwrap();
    }
    let partition = log.path();
    manager.shutdown(BrokerEpoch(1));
    for name in ["00000000000000001000.index", "00000000000000001000.timeindex"] {
        assert_eq!(
            fs::read(partition.join(name)).unwrap(),
            fs::read(vector("segment").join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn recovering_the_segment_leaves_kafkas_indexes_byte_for_byte() {
    let directory = directory_with(&["segment/00000000000000001000.log"]);
    let (manager, log) = open(directory.path(), &keep_everything());
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(1000), Offset(1300)));
    assert_eq!(log.latest_leader_epoch(), Some(LeaderEpoch(2)));
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(1)), Some((LeaderEpoch(1), Offset(1150))));
    let partition = log.path();
    manager.shutdown(BrokerEpoch(1));
    for name in ["00000000000000001000.index", "00000000000000001000.timeindex", "leader-epoch-checkpoint"] {
        assert_eq!(
            fs::read(partition.join(name)).unwrap(),
            fs::read(vector("segment").join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn every_index_of_the_same_log_gives_the_same_answers() {
    let indexes = ["segment", "segment-sets", "segment-active"];
    for name in indexes {
        let directory = directory_with(&[
            "segment/00000000000000001000.log",
            &format!("{name}/00000000000000001000.index"),
            &format!("{name}/00000000000000001000.timeindex"),
            "segment/leader-epoch-checkpoint",
        ]);
        fs::write(directory.path().join(".kafka_cleanshutdown"), b"").unwrap();
        let (_manager, log) = open(directory.path(), &keep_everything());
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(1000), Offset(1300)), "{name}");
        for from in 1000..1300 {
            assert_eq!(read_all(&log, from)[0].0, from / 5 * 5, "{name}");
        }
        let at = |timestamp| log.offset_for_timestamp(Millis(timestamp), Offset(1300)).unwrap();
        let found = |timestamp, offset| {
            let leader_epoch = log.epoch_for_offset(Offset(offset));
            Some(TimestampOffset { timestamp: Millis(timestamp), offset: Offset(offset), leader_epoch })
        };
        assert_eq!(at(0), found(T0, 1000));
        assert_eq!(at(T0 + 30_002), found(T0 + 30_002, 1152), "{name}");
        assert_eq!(at(T0 + 30_005), found(T0 + 31_000, 1155), "{name}");
        assert_eq!(at(T0 + 59_004), found(T0 + 59_004, 1299), "{name}");
        assert_eq!(at(T0 + 59_005), None);
        assert_eq!(log.max_timestamp_offset(Offset(1300)).unwrap(), found(T0 + 59_004, 1299), "{name}");
    }
}

#[test]
fn damaged_files_are_cut_where_kafka_cuts_them() {
    let cases = [
        ("torn.log", 1762),
        ("torn-header.log", 222),
        ("torn-size.log", 333),
        ("corrupt-crc.log", 1762),
        ("corrupt-middle.log", 222),
        ("corrupt-size.log", 333),
        ("zeros-corrupt.log", 1762),
        ("empty.log", 0),
    ];
    for (name, valid_bytes) in cases {
        let base = if valid_bytes == 1762 { 1000 } else { 0 };
        let directory = tempfile::tempdir().unwrap();
        let partition = directory.path().join("orders-0");
        fs::create_dir(&partition).unwrap();
        let file = partition.join(format!("{base:020}.log"));
        fs::copy(vector(name), &file).unwrap();
        let (_manager, log) = open(directory.path(), &keep_everything());
        assert_eq!(fs::metadata(&file).unwrap().len(), valid_bytes, "{name}");
        assert_eq!(log.size_bytes(), valid_bytes, "{name}");
    }
}

#[test]
fn transactions_are_rebuilt_as_kafka_has_them() {
    let directory = directory_with(&["transactions/00000000000000000000.log"]);
    let (manager, log) = open(directory.path(), &keep_everything());
    let partition = log.path();
    assert_eq!(log.log_end_offset(), Offset(13));
    log.update_high_watermark(Offset(13));
    assert_eq!(log.last_stable_offset(), Offset(10));
    let aborted = |from, upper| {
        let found = log.aborted_transactions(Offset(from), Offset(upper)).unwrap();
        found.iter().map(|a| (a.producer_id, a.first_offset.0)).collect::<Vec<_>>()
    };
    assert_eq!(aborted(0, 10), [(11, 0), (11, 7)]);
    assert_eq!(aborted(6, 10), [(11, 7)]);
    manager.shutdown(BrokerEpoch(1));
    for name in ["00000000000000000000.txnindex", "00000000000000000013.snapshot"] {
        assert_eq!(
            fs::read(partition.join(name)).unwrap(),
            fs::read(vector("transactions").join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn old_formats_on_disk_are_served_as_they_are() {
    for (name, end) in
        [("v0.log", 13), ("v1.log", 13), ("v1-gzip.log", 13), ("v0-lz4.log", 13), ("upgraded.log", 16)]
    {
        let directory = tempfile::tempdir().unwrap();
        let partition = directory.path().join("orders-0");
        fs::create_dir(&partition).unwrap();
        let file = partition.join(format!("{:020}.log", 10));
        fs::copy(vector(name), &file).unwrap();
        let (_manager, log) = open(directory.path(), &keep_everything());
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(10), Offset(end)), "{name}");
        assert_eq!(fs::read(&file).unwrap(), fs::read(vector(name)).unwrap(), "{name}");
        if name.starts_with("v1") {
            let found = log.offset_for_timestamp(Millis(T0 + 1), Offset(end)).unwrap().unwrap();
            assert_eq!((found.timestamp, found.offset), (Millis(T0 + 1), Offset(11)), "{name}");
        }
    }
}

#[test]
fn a_directory_that_kafka_left_is_taken_over() {
    let directory = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(vector("logdir")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), directory.path().join(entry.file_name())).unwrap();
        }
    }
    let partition = directory.path().join("orders-0");
    fs::create_dir(&partition).unwrap();
    for entry in fs::read_dir(vector("logdir/orders-0")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), partition.join(entry.file_name())).unwrap();
    }
    let clock = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(T0));
    let options = ottla_broker::log::LogManagerOptions {
        broker_id: ottla_broker::types::BrokerId(3),
        cluster_id: "AAECAwQFBgcICQoLDA0ODw".to_owned(),
        ..crate::basics::options(directory.path(), &keep_everything(), &clock)
    };
    let manager = ottla_broker::log::LogManager::open(options).unwrap();
    let log = manager.get(&crate::basics::orders()).unwrap();
    assert_eq!(log.topic_id().unwrap().as_bytes()[0], 0x20);
    let other = uuid::Uuid::from_u128(7);
    assert!(matches!(
        manager.get_or_create(log.name(), Some(other), keep_everything(), false),
        Err(ottla_broker::log::Error::TopicIdMismatch { .. })
    ));
}
