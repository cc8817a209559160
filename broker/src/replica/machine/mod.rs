//! One replica of one partition as a machine: what it does as leader, what as follower, and when it changes.
//!
//! ```text
//!                 LeaderAndIsr (greater leader epoch)
//!   Undecided ──────────────┬───────────────► Leader    appends, follower states, high watermark, in-sync replicas
//!                           └───────────────► Follower  fetch position, truncation by epoch, high watermark
//!        any role ── Stop ──► Undecided or a halted follower
//! ```
//!
//! A [`Partition`] is plain data. The driver tells it what happened with [`Partition::step`] and performs the
//! [`Effect`]s it gets, in their order, before it reports anything else of this partition; between steps it asks the
//! pure queries (may this be appended? how far may that one read? is this produce acknowledged?). The machine keeps its
//! own view of where the log begins and ends, so what it decides never depends on when a file was looked at.
//!
//! The rules are those of Kafka's `Partition`, `Replica`, `PartitionState` and `AbstractFetcherThread` (KIP-101,
//! KIP-279, KIP-320, KIP-497, KIP-966 as far as ZooKeeper mode has it). Start reading at [`Event`] and [`Effect`], then
//! `step`; `leader`, `isr`, `follower` and `epochs` hold the rules.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod assignment;
mod effect;
mod epochs;
mod event;
mod follower;
mod isr;
mod leader;
mod leader_and_isr;
mod local;
mod partition;
mod produce;
mod step;
#[cfg(test)]
mod tests;

pub use assignment::Assignment;
pub use effect::{Effect, RoleChange};
pub use epochs::{EpochEnd, Truncation, truncation_point};
pub use event::{Event, FetchAnswer, FetchPosition, IsrAnswer, LeaderRecovery, PartitionCommand};
pub use isr::IsrProposal;
pub use local::{LogView, ReplicaSettings};
pub use partition::{FollowerView, Partition, PartitionView, RoleKind};
pub use produce::{Acks, ProduceProgress};
