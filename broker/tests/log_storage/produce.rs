//! What a leader makes of produced batches of every shape.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use ottla_broker::log::{AppendInfo, AppendOptions, Error, LogConfig, Origin, PartitionLog, TimestampType};
use ottla_broker::types::{LeaderEpoch, Millis, Offset};
use ottla_protocol::record::{self, Compression};

use crate::basics::{CLIENT, NOW, open, read_all};
use crate::batches::{Batch, Stored};

fn vector(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)).unwrap()
}

/// A vector's batch as a producer would send it: from offset 0. The checksum does not cover that.
fn from_zero(name: &str) -> Bytes {
    let mut bytes = vector(name);
    bytes[..8].fill(0);
    bytes.into()
}

fn send(log: &PartitionLog, bytes: impl Into<Bytes>) -> Result<AppendInfo, Error> {
    log.append_as_leader(&bytes.into(), LeaderEpoch(5), CLIENT)
}

/// What is in the log: offset, timestamp, key and value of every record.
fn records(log: &PartitionLog) -> Vec<(i64, i64, Option<Bytes>, Option<Bytes>)> {
    let batches = read_all(log, 0).into_iter();
    let iterate = |batch: Stored| record::iterate(&batch.2.into(), 1 << 20).unwrap();
    let records = batches.flat_map(iterate).map(Result::unwrap);
    records.map(|record| (record.offset, record.timestamp, record.key, record.value)).collect()
}

#[test]
fn every_codec_passes_through_untouched() {
    let names = [
        "v2-none.log",
        "v2-gzip.log",
        "v2-snappy.log",
        "v2-lz4.log",
        "v2-zstd.log",
        "v2-snappy-raw.log",
        "v2-snappy-blocks.log",
        "v2-lz4-blocks.log",
        "v2-lz4-options.log",
        "v2-gzip-members.log",
    ];
    for name in names {
        let directory = tempfile::tempdir().unwrap();
        let (_manager, log) = open(directory.path(), &LogConfig::default());
        let sent = from_zero(name);
        send(&log, sent.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let next = log.log_end_offset();
        send(&log, sent.clone()).unwrap();
        let stored = &read_all(&log, next.0)[0].2;
        assert_eq!(stored[..8], next.0.to_be_bytes(), "{name}");
        assert_eq!(stored[12..16], [0, 0, 0, 5], "{name}");
        assert_eq!((&stored[8..12], &stored[16..]), (&sent[8..12], &sent[16..]), "{name}");
    }
}

#[test]
fn a_wrong_largest_timestamp_is_corrected_and_the_checksum_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &LogConfig::default());
    let mut sent = Batch::of(3, 10, NOW).bytes().to_vec();
    sent[35..43].copy_from_slice(&(NOW + 999).to_be_bytes());
    let crc = crc_fast::crc32_iscsi(&sent[21..]);
    sent[17..21].copy_from_slice(&crc.to_be_bytes());
    assert_eq!(send(&log, sent).unwrap().max_timestamp, Millis(NOW));
    let stored = read_all(&log, 0)[0].2.clone();
    assert_eq!(record::check_batch(&stored).unwrap().max_timestamp, NOW);
    assert_eq!(stored, Batch::of(3, 10, NOW).at(0, 5).bytes());
}

#[test]
fn the_leaders_clock_overrides_the_producers() {
    let config = LogConfig { timestamp_type: TimestampType::LogAppendTime, ..LogConfig::default() };
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &config);
    let info = send(&log, Batch::of(2, 10, 42).bytes()).unwrap();
    assert_eq!((info.log_append_time, info.max_timestamp), (Some(Millis(NOW)), Millis(NOW)));
    record::check_batch(&read_all(&log, 0)[0].2).unwrap();
    assert!(records(&log).iter().all(|record| record.1 == NOW));
    assert_eq!(log.offset_for_timestamp(Millis(43), Offset(2)).unwrap().unwrap().timestamp, Millis(NOW));
}

#[test]
fn timestamps_outside_of_the_topics_bounds_are_refused() {
    let config =
        LogConfig { timestamp_before_max_ms: 1000, timestamp_after_max_ms: 10, ..LogConfig::default() };
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &config);
    for (timestamp, allowed) in
        [(NOW, true), (NOW - 1000, true), (NOW + 10, true), (NOW - 1001, false), (NOW + 11, false)]
    {
        let sent = send(&log, Batch::of(1, 10, timestamp).bytes());
        assert_eq!(sent.is_ok(), allowed, "{timestamp}");
        assert!(allowed || matches!(sent, Err(Error::InvalidTimestamp { .. })));
    }
}

#[test]
fn a_compacted_topic_needs_keys() {
    let config = LogConfig { compact: true, delete: false, ..LogConfig::default() };
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &config);
    let mut batch = Batch::of(3, 10, NOW);
    send(&log, batch.bytes()).unwrap();
    batch.records[2].1 = None;
    let refusal = send(&log, batch.bytes()).unwrap_err();
    assert!(
        matches!(&refusal, Error::InvalidRecord { reason, .. } if reason.contains("record 2")),
        "{refusal}"
    );
    let coordinator = AppendOptions { origin: Origin::Coordinator };
    log.append_as_leader(&Batch::marker(9, 0, true).bytes(), LeaderEpoch(5), coordinator).unwrap();
}

#[test]
fn records_that_do_not_parse_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (_manager, log) = open(directory.path(), &LogConfig::default());
    for name in ["bad-count.log", "bad-record-length.log"] {
        let refusal = send(&log, from_zero(name)).unwrap_err();
        assert!(matches!(refusal, Error::InvalidRecord { .. }), "{name}: {refusal}");
    }
    let mut garbage = vector("v2-zstd.log");
    garbage[..8].fill(0);
    garbage[70..80].fill(0xAA);
    let crc = crc_fast::crc32_iscsi(&garbage[21..]);
    garbage[17..21].copy_from_slice(&crc.to_be_bytes());
    assert!(matches!(send(&log, garbage), Err(Error::CorruptBatch { .. })));
    assert_eq!(log.log_end_offset(), Offset(0));
}

#[test]
fn old_formats_are_converted() {
    let key = |text: &'static str| Some(Bytes::from_static(text.as_bytes()));
    for name in [
        "v0.log",
        "v1.log",
        "v0-gzip.log",
        "v1-gzip.log",
        "v0-lz4.log",
        "v1-lz4.log",
        "v0-snappy.log",
        "v1-snappy.log",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (_manager, log) = open(directory.path(), &LogConfig::default());
        let info = send(&log, vector(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((info.first_offset, info.last_offset), (Offset(0), Offset(2)), "{name}");
        let time = |delta| if name.starts_with("v0") { -1 } else { NOW + delta };
        let expected = vec![
            (0, time(0), key("a"), key("1")),
            (1, time(1), None, key("2")),
            (2, time(2), key("c"), None),
        ];
        assert_eq!(records(&log), expected, "{name}");
        assert_eq!(read_all(&log, 0)[0].2[16], 2);
    }
}

#[test]
fn the_topics_codec_replaces_the_producers() {
    for wanted in
        [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd]
    {
        let config = LogConfig { compression: Some(wanted), ..LogConfig::default() };
        for name in ["v2-none.log", "v2-zstd.log"] {
            let directory = tempfile::tempdir().unwrap();
            let (_manager, log) = open(directory.path(), &config);
            send(&log, from_zero(name)).unwrap();
            let header = record::check_batch(&read_all(&log, 0)[0].2).unwrap();
            assert_eq!(header.attributes.compression().unwrap(), wanted, "{name}");
            let plain_directory = tempfile::tempdir().unwrap();
            let (_manager, plain) = open(plain_directory.path(), &LogConfig::default());
            send(&plain, from_zero(name)).unwrap();
            assert_eq!(records(&log), records(&plain), "{name} to {wanted}");
        }
    }
}
