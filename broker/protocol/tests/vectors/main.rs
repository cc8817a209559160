//! Log vectors that Kafka's own classes were checked with: every file that `expected.json` names is decoded as it says.
//!
//! The files lie beside the engine's tests, which use the same ones. A vector that no test here knows fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

mod damaged;
mod expected;
mod legacy;
mod v2;

/// Vectors of the log itself, with no records of their own to decode.
const NOT_RECORDS: [&str; 3] = ["segment-sets", "segment-active", "logdir"];

#[test]
fn every_vector_is_known() {
    let mut known: Vec<&str> = Vec::new();
    known.extend(NOT_RECORDS);
    known.extend(v2::RECORDS);
    known.extend(v2::LONG_VALUES);
    known.extend(v2::OTHERS);
    known.extend(legacy::MESSAGES);
    known.extend(legacy::OTHERS);
    known.extend(damaged::ALL);
    known.sort_unstable();
    let mut named: Vec<String> = expected::all().as_object().unwrap().keys().cloned().collect();
    named.sort();
    assert_eq!(known, named);
}
