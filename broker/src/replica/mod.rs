//! Partitions of this broker as leader and follower.

pub mod machine;
