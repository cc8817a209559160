//! Partitions of this broker as leader and follower.

pub mod fetch_session;
pub mod machine;
