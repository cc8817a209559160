//! The replica manager over real logs: one broker, and what controller, producers, consumers and followers do to it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a failed step is a failed test"
)]

mod commands;
mod consuming;
mod producing;
mod support;
