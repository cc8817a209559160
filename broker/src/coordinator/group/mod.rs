//! The group coordinator: members, generations, assignments and committed offsets, kept in `__consumer_offsets`.
//!
//! A group belongs to one partition of that topic ([`partition_for`]), and the partition's leader coordinates it. The
//! rules are in [`machine`], which is pure; around it:
//!
//! ```text
//!  handler ──call──► GroupCoordinator ──by group──► Partition: inbox ──► Shard (machine) ──► effects
//!                                                     ▲  ▲  ▲                                 │  │
//!                          Deadlines (thread) ──tick──┘  │  └──── append is in sync ◄─ storage ┘  └─► answers
//!                          Loads (thread) ──the log──────┘
//! ```
//!
//! No thread waits for another: whoever brings an input works on what waits. Start reading at [`GroupCoordinator`].

mod clock;
mod coordinator;
mod coordinator_metrics;
mod deadlines;
mod gather;
mod leadership;
mod loader;
mod log_reader;
pub mod machine;
mod partition;
mod partitioner;
mod record_codec;
mod replica_storage;
mod storage;
#[cfg(test)]
mod tests;

pub use coordinator::GroupCoordinator;
pub use gather::Gather;
pub use partitioner::partition_for;
pub use replica_storage::ReplicaStorage;
pub use storage::{AppendDone, Batch, GroupStorage, LoadError, Loaded};
