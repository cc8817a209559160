//! Batches v2, intact.

use bytes::Bytes;
use ottla_protocol::record::{
    BATCH_HEADER_BYTES, BatchHeader, ControlRecord, EndTransactionMarker, RecordRules, TimestampType,
    check_batch, check_records, decompress, iterate,
};
use serde_json::Value;

use super::expected::{LIMIT_BYTES, batches, file, integer, octets, of, records};

/// Lists of batches with all their records.
pub(crate) const RECORDS: [&str; 10] = [
    "v2-none.log",
    "v2-gzip.log",
    "v2-snappy.log",
    "v2-lz4.log",
    "v2-zstd.log",
    "v2-idempotent.log",
    "v2-snappy-raw.log",
    "v2-gzip-members.log",
    "v2-log-append-time.log",
    "v2-sequence-wrap.log",
];

/// One batch of long values each, in what codecs have beyond the ordinary.
pub(crate) const LONG_VALUES: [&str; 4] =
    ["v2-snappy-blocks.log", "v2-lz4-blocks.log", "v2-lz4-options.log", "v2-lz4-linked.log"];

pub(crate) const OTHERS: [&str; 4] = ["v2-transaction.log", "v2-compacted.log", "segment", "transactions"];

const RULES: RecordRules =
    RecordRules { needs_key: false, timestamps: None, decompressed_bytes_max: LIMIT_BYTES };

/// Compares a batch with what is expected of it, as far as that says something.
pub(crate) fn compare(header: &BatchHeader, batch: &Bytes, expected: &Value) {
    let known: [(&str, i64); 9] = [
        ("base_offset", header.base_offset),
        ("last_offset", header.last_offset()),
        ("leader_epoch", header.partition_leader_epoch.into()),
        ("producer_id", header.producer_id),
        ("producer_epoch", header.producer_epoch.into()),
        ("base_sequence", header.base_sequence.into()),
        ("last_sequence", header.last_sequence().into()),
        ("count", header.record_count.into()),
        ("max_timestamp", header.max_timestamp),
    ];
    for (name, found) in known {
        if let Some(wanted) = expected.get(name) {
            assert_eq!(Some(found), wanted.as_i64(), "{name}");
        }
    }
    if let Some(codec) = expected.get("codec") {
        assert_eq!(header.attributes.compression().unwrap().name(), codec);
    }
    if expected.get("timestamp_type").is_some() {
        assert_eq!(header.attributes.timestamp_type(), TimestampType::LogAppendTime);
    }
    let Some(wanted) = expected.get("records").and_then(Value::as_array) else { return };
    let found = records(batch);
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.offset, integer(wanted, "offset"));
        assert_eq!(found.timestamp, integer(wanted, "timestamp"));
        assert_eq!(found.key.as_deref(), octets(&wanted["key"]).as_deref());
        assert_eq!(found.value.as_deref(), octets(&wanted["value"]).as_deref());
        let headers: Vec<Value> = found
            .headers
            .iter()
            .map(|header| {
                let value = header
                    .value
                    .as_ref()
                    .map(|value| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
                serde_json::json!([header.key, value])
            })
            .collect();
        assert_eq!(Value::from(headers), wanted["headers"]);
    }
}

#[test]
fn batches_of_every_codec() {
    for name in RECORDS {
        let found = batches(file(name));
        let wanted = of(name);
        let wanted = wanted.as_array().unwrap();
        assert_eq!(found.len(), wanted.len(), "{name}");
        for ((header, batch), wanted) in found.iter().zip(wanted) {
            compare(header, batch, wanted);
            let checked = check_records(header, &batch[BATCH_HEADER_BYTES..], RULES).unwrap();
            let largest = records(batch).iter().map(|record| record.timestamp).max().unwrap();
            if header.attributes.timestamp_type() == TimestampType::CreateTime {
                assert_eq!(checked.max_timestamp, largest, "{name}");
            }
            assert_eq!(header.max_timestamp, largest, "{name}");
        }
    }
}

#[test]
fn long_values_in_several_blocks() {
    for name in LONG_VALUES {
        let wanted = of(name);
        let [(header, batch)] = &batches(file(name))[..] else { panic!("{name}") };
        compare(header, batch, &wanted);
        if name == "v2-lz4-linked.log" {
            let error = iterate(batch, LIMIT_BYTES).unwrap_err();
            assert!(error.to_string().contains("dependent blocks"), "as Kafka refuses them: {error}");
            continue;
        }
        let found = records(batch);
        let keys: Vec<_> = found
            .iter()
            .map(|record| String::from_utf8(record.key.clone().unwrap().to_vec()).unwrap())
            .collect();
        assert_eq!(serde_json::json!(keys), wanted["keys"], "{name}");
        let length = usize::try_from(integer(&wanted, "value_length")).unwrap();
        let byte = u8::try_from(integer(&wanted, "value_byte")).unwrap();
        assert!(
            found.iter().all(|record| record.value.as_deref() == Some(&vec![byte; length][..])),
            "{name}"
        );
        let codec = header.attributes.compression().unwrap();
        assert!(decompress(codec, &batch[BATCH_HEADER_BYTES..], length).is_err(), "{name}: the limit holds");
    }
}

#[test]
fn transactions_and_their_markers() {
    let wanted = of("v2-transaction.log");
    let coordinator_epoch = i32::try_from(integer(&wanted, "coordinator_epoch")).unwrap();
    let mut markers = serde_json::Map::new();
    let mut data = Vec::new();
    for (header, batch) in batches(file("v2-transaction.log")) {
        assert!(header.attributes.is_transactional());
        let found = records(&batch);
        if header.attributes.is_control() {
            let [record] = &found[..] else { panic!("{found:?}") };
            let Some(ControlRecord::EndTransaction(marker)) = ControlRecord::parse(record) else {
                panic!("{record:?}")
            };
            assert_eq!(marker.coordinator_epoch, coordinator_epoch);
            assert_eq!(batch.len(), 78);
            markers.insert(record.offset.to_string(), name_of(marker).into());
        } else {
            data.extend(found.iter().map(|record| record.offset));
        }
    }
    assert_eq!(Value::from(markers), wanted["markers"]);
    assert_eq!(data, [0, 1, 3]);
}

fn name_of(marker: EndTransactionMarker) -> &'static str {
    if marker.committed { "commit" } else { "abort" }
}

#[test]
fn transactions_that_overlap() {
    let wanted = of("transactions");
    let mut markers = serde_json::Map::new();
    let mut next_offset = 0;
    for (header, batch) in batches(file("transactions/00000000000000000000.log")) {
        assert_eq!(header.base_offset, next_offset);
        next_offset = header.last_offset() + 1;
        if header.attributes.is_control() {
            let found = records(&batch);
            let Some(ControlRecord::EndTransaction(marker)) = ControlRecord::parse(&found[0]) else {
                panic!("{found:?}")
            };
            markers.insert(header.base_offset.to_string(), name_of(marker).into());
        } else {
            check_records(&header, &batch[BATCH_HEADER_BYTES..], RULES).unwrap();
        }
    }
    assert_eq!(Value::from(markers), wanted["markers"]);
    assert_eq!(next_offset, integer(&wanted, "end_offset"));
}

#[test]
fn batches_that_compaction_left() {
    let wanted = of("v2-compacted.log");
    let found = batches(file("v2-compacted.log"));
    assert_eq!(found.len(), wanted.as_array().unwrap().len());
    for ((header, batch), wanted) in found.iter().zip(wanted.as_array().unwrap()) {
        compare(header, batch, wanted);
        let found = records(batch);
        let offsets: Vec<_> = found.iter().map(|record| record.offset).collect();
        let timestamps: Vec<_> = found.iter().map(|record| record.timestamp).collect();
        assert_eq!(serde_json::json!(offsets), wanted["offsets"]);
        assert_eq!(serde_json::json!(timestamps), wanted["timestamps"]);
        let horizon = header.attributes.has_delete_horizon().then_some(header.base_timestamp);
        assert_eq!(serde_json::json!(horizon), wanted["delete_horizon"]);
        // What compaction leaves is fine in a log, and no producer may send it.
        assert!(check_records(header, &batch[BATCH_HEADER_BYTES..], RULES).is_err() || found.is_empty());
    }
}

#[test]
fn a_whole_segment() {
    let wanted = of("segment");
    let log = file("segment/00000000000000001000.log");
    assert_eq!(i64::try_from(log.len()).unwrap(), integer(&wanted, "size"));
    let found = batches(log.clone());
    assert_eq!(i64::try_from(found.len()).unwrap(), integer(&wanted, "batches"));
    let count: usize = found.iter().map(|(_, batch)| records(batch).len()).sum();
    assert_eq!(i64::try_from(count).unwrap(), integer(&wanted, "records"));
    assert_eq!(found[0].0.base_offset, integer(&wanted, "base_offset"));
    assert_eq!(found.last().unwrap().0.last_offset(), integer(&wanted, "last_offset"));
    for (_, position) in wanted["at"].as_object().unwrap() {
        let position = usize::try_from(position.as_u64().unwrap()).unwrap();
        check_batch(&log[position..]).unwrap();
    }
}

#[test]
fn a_header_rewritten_by_a_leader_still_fits() {
    let (header, batch) = batches(file("v2-zstd.log")).remove(0);
    let records = &batch[BATCH_HEADER_BYTES..];
    let assigned = header.assigned(5_000, 9);
    assert_eq!(assigned.crc, header.crc, "the checksum does not cover these");
    let stamped = assigned.with_timestamps(TimestampType::LogAppendTime, 77, records);
    assert_ne!(stamped.crc, header.crc);
    for rewritten in [assigned, stamped] {
        let whole = [&rewritten.encode()[..], records].concat();
        assert_eq!(check_batch(&whole), Ok(rewritten));
        let found = super::expected::records(&Bytes::from(whole));
        assert_eq!(found[0].offset, 5_000);
    }
    let whole = Bytes::from([&stamped.encode()[..], records].concat());
    assert!(super::expected::records(&whole).iter().all(|record| record.timestamp == 77));
}
