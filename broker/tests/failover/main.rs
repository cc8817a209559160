//! Brokers as processes of their own, killed at any moment under producers that ask for every in-sync replica's word.
//!
//! One line of figures is printed; `OTTLA_FAILOVER_ROUNDS` makes it longer than the few rounds of every day.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a failed step is a failed test"
)]

mod broker_process;
mod cluster;
mod kills;
mod traffic;
