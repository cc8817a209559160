//! Reads the vectors and what is expected of them.

use std::path::PathBuf;

use bytes::Bytes;
use ottla_protocol::record::{BatchHeader, Record, check_batch, iterate};
use serde_json::Value;

/// More than any vector decompresses to.
pub(crate) const LIMIT_BYTES: usize = 1 << 20;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors").join(name)
}

pub(crate) fn all() -> Value {
    serde_json::from_slice(&std::fs::read(path("expected.json")).unwrap()).unwrap()
}

pub(crate) fn of(name: &str) -> Value {
    let all = all();
    all.get(name).unwrap_or_else(|| panic!("{name}")).clone()
}

pub(crate) fn file(name: &str) -> Bytes {
    Bytes::from(std::fs::read(path(name)).unwrap())
}

/// Splits a log of intact batches v2, checking each.
pub(crate) fn batches(mut log: Bytes) -> Vec<(BatchHeader, Bytes)> {
    let mut found = Vec::new();
    while !log.is_empty() {
        let header = check_batch(&log).unwrap();
        let batch = log.split_to(header.size());
        found.push((header, batch));
    }
    found
}

pub(crate) fn records(batch: &Bytes) -> Vec<Record> {
    iterate(batch, LIMIT_BYTES).unwrap().map(Result::unwrap).collect()
}

pub(crate) fn integer(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or_else(|| panic!("{name} of {value}"))
}

/// Hexadecimal, or null.
pub(crate) fn octets(value: &Value) -> Option<Vec<u8>> {
    let text = value.as_str()?;
    let pairs = (0..text.len()).step_by(2);
    Some(pairs.map(|start| u8::from_str_radix(&text[start..start + 2], 16).unwrap()).collect())
}
