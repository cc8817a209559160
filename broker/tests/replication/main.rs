//! Three whole brokers in this process, commanded by a controller that the test plays: so that it decides who leads,
//! and who does not hear of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a failed step is a failed test"
)]

mod agreement;
mod controller;
mod producer;
mod world;
