//! What the tests share: deadlines, clusters in temporary folders, a real ZooKeeper, a terminal that can be read, and
//! clients that nobody here wrote.
//!
//! A test that fails panics, so everything here may panic: a failed step is a failed test. Nothing waits for luck:
//! [`wait_until`] looks for a condition until a deadline.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test, and a test speaks on standard error"
)]

mod apache_zookeeper;
mod cluster;
mod kcat;
mod ports;
mod screen;
mod wait;

pub use apache_zookeeper::ApacheZookeeper;
pub use cluster::{Cluster, Options};
pub use kcat::Kcat;
pub use ports::{PORTS_PER_BLOCK, PortBlock};
pub use screen::Screen;
pub use wait::{LONG, SHORT, skip, wait_until};
