//! Logs with damage: how far they are valid, and what the damage is called.

use bytes::Bytes;
use ottla_protocol::record::{
    BATCH_HEADER_BYTES, BatchError, RecordError, RecordRules, check_batch, check_records, iterate,
};

use super::expected::{LIMIT_BYTES, file, integer, of};

pub(crate) const ALL: [&str; 10] = [
    "torn.log",
    "torn-size.log",
    "torn-header.log",
    "corrupt-crc.log",
    "corrupt-middle.log",
    "corrupt-size.log",
    "zeros-corrupt.log",
    "bad-count.log",
    "bad-record-length.log",
    "empty.log",
];

/// Walks a log to its first damage.
fn walk(log: &Bytes) -> (usize, Option<BatchError>) {
    let mut position = 0;
    while position < log.len() {
        match check_batch(&log[position..]) {
            Ok(header) => position += header.size(),
            Err(error) => return (position, Some(error)),
        }
    }
    (position, None)
}

#[test]
fn logs_are_valid_up_to_their_damage() {
    type Expected = fn(&BatchError) -> bool;
    let cases: [(&str, Expected); 7] = [
        ("torn.log", |error| matches!(error, BatchError::Short { .. })),
        ("torn-size.log", |error| matches!(error, BatchError::Short { .. })),
        ("torn-header.log", |error| matches!(error, BatchError::Short { .. })),
        ("corrupt-crc.log", |error| matches!(error, BatchError::Crc { .. })),
        ("corrupt-middle.log", |error| matches!(error, BatchError::Crc { .. })),
        ("corrupt-size.log", |error| matches!(error, BatchError::Length(13))),
        ("zeros-corrupt.log", |error| matches!(error, BatchError::Magic(0))),
    ];
    for (name, expected) in cases {
        let (valid, error) = walk(&file(name));
        assert_eq!(i64::try_from(valid).unwrap(), integer(&of(name), "valid_bytes"), "{name}");
        assert!(error.as_ref().is_some_and(expected), "{name}: {error:?}");
    }
    assert_eq!(walk(&file("empty.log")), (0, None));
}

#[test]
fn damage_in_the_middle_spares_its_neighbours() {
    let (log, wanted) = (file("corrupt-middle.log"), of("corrupt-middle.log"));
    let size = usize::try_from(integer(&wanted, "batch_size")).unwrap();
    let valid: Vec<bool> = log.chunks(size).map(|batch| check_batch(batch).is_ok()).collect();
    assert_eq!(serde_json::json!(valid), wanted["valid"]);
}

#[test]
fn records_that_do_not_fit_their_batch() {
    let rules = RecordRules { needs_key: false, timestamps: None, decompressed_bytes_max: LIMIT_BYTES };
    for (name, index, expected) in [
        ("bad-count.log", 3, RecordError::Count { claimed: 4 }),
        ("bad-record-length.log", 0, RecordError::Length),
    ] {
        let batch = file(name);
        let header = check_batch(&batch).expect("the checksum is right");
        let found = check_records(&header, &batch[BATCH_HEADER_BYTES..], rules);
        assert_eq!(found, Err(BatchError::Record { index, error: expected }), "{name}");
        let read: Vec<_> = iterate(&batch, LIMIT_BYTES).unwrap().collect();
        assert!(read.last().unwrap().is_err(), "{name}");
    }
}
