//! Message sets of magic 0 and 1.

use bytes::Bytes;
use ottla_protocol::record::{check_batch, convert_to_batch, entries, messages};
use serde_json::Value;

use super::expected::{LIMIT_BYTES, batches, file, integer, octets, of, records};
use super::v2;

/// Lists of messages.
pub(crate) const MESSAGES: [&str; 9] = [
    "v0.log",
    "v0-gzip.log",
    "v0-snappy.log",
    "v0-lz4.log",
    "v1.log",
    "v1-gzip.log",
    "v1-snappy.log",
    "v1-lz4.log",
    "v1-log-append-time.log",
];

pub(crate) const OTHERS: [&str; 1] = ["upgraded.log"];

fn compare(set: &Bytes, wanted: &Value) {
    let found = messages(set, LIMIT_BYTES).unwrap();
    let wanted = wanted.as_array().unwrap();
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.offset, integer(wanted, "offset"));
        assert_eq!(found.timestamp, integer(wanted, "timestamp"));
        assert_eq!(found.key.as_deref(), octets(&wanted["key"]).as_deref());
        assert_eq!(found.value.as_deref(), octets(&wanted["value"]).as_deref());
    }
    for entry in entries(set).unwrap() {
        assert_eq!(i64::from(entry.magic), integer(&wanted[0], "magic"));
    }
}

#[test]
fn message_sets_of_every_codec() {
    for name in MESSAGES {
        compare(&file(name), &of(name));
    }
}

#[test]
fn message_sets_become_batches() {
    for name in MESSAGES {
        let set = file(name);
        let batch = convert_to_batch(&set, LIMIT_BYTES).unwrap();
        let header = check_batch(&batch).unwrap();
        assert_eq!(header.attributes.compression().unwrap(), entries(&set).unwrap()[0].compression, "{name}");
        let messages = messages(&set, LIMIT_BYTES).unwrap();
        let records = records(&batch);
        assert_eq!(records.len(), messages.len(), "{name}");
        for ((record, message), offset) in records.iter().zip(&messages).zip(0..) {
            assert_eq!(record.offset, offset, "{name}");
            assert_eq!((record.timestamp, &record.key), (message.timestamp, &message.key), "{name}");
            assert_eq!(record.value, message.value, "{name}");
        }
    }
}

#[test]
fn a_log_that_was_upgraded() {
    let wanted = of("upgraded.log");
    let log = file("upgraded.log");
    // The magic is at the same place in all formats.
    let mut position = 0;
    while log[position + 16] < 2 {
        let size = i32::from_be_bytes(log[position + 8..position + 12].try_into().unwrap());
        position += 12 + usize::try_from(size).unwrap();
    }
    compare(&log.slice(..position), &wanted["legacy"]);
    let found = batches(log.slice(position..));
    for ((header, batch), wanted) in found.iter().zip(wanted["batches"].as_array().unwrap()) {
        v2::compare(header, batch, wanted);
    }
    assert_eq!(found.len(), wanted["batches"].as_array().unwrap().len());
}
