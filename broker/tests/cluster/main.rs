//! Whole brokers in this process, with a ZooKeeper server beside them: started, asked, broken and stopped.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

mod groups;
mod records;
mod replicated;
mod single;
mod support;
mod topics;
mod versions;
