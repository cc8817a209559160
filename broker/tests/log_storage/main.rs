//! The storage of the broker from outside: against a model, against faults, against Kafka's own files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a failed step is a failed test"
)]

mod basics;
mod batches;
mod compaction;
mod crash;
mod faults;
mod faulty;
mod model;
mod produce;
mod vectors;
