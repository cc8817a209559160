//! The session and what is done with it, against real servers: the embedded one, and Apache ZooKeeper where it is
//! installed (Debian: `apt-get install zookeeper`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod cluster;
mod controller;
mod registration;
mod servers;
mod session;
