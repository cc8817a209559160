//! What a person does with the real program: real processes, real clients, real `kill -9`. A module per promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod bad_input;
mod failover;
mod groups;
mod lifecycle;

/// The program under test.
const OTTLA: &str = env!("CARGO_BIN_EXE_ottla");
