//! Every view at every size from one story, without a terminal: texts, colours, keys, pictures.
//!
//! `OTTLA_SCREENSHOTS=write cargo test --test screens` rewrites `screenshots/` and `docs/keys.md`; without it a stale
//! one fails.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod budget;
mod docs;
mod keys;
mod pictures;
mod screen;
mod sizes;
mod story;
mod texts;
