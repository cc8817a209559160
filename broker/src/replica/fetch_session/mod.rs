//! Fetch sessions (KIP-227): a client that fetches the same partitions again and again names only what changed, and is
//! told only what changed.
//!
//! ```text
//!   (id 0, epoch 0) full ──► answered with a new id, or with 0 when there is no room
//!   (id x, epoch n) incremental ──► partitions added, changed, forgotten; next epoch n+1
//!   (any,  epoch -1) sessionless, closes x        (id x, epoch 0) closes x, full, a new one
//! ```
//!
//! [`FetchSessions`] is the machine: what each session remembers, who may have a slot when they are scarce, and what an
//! incremental answer may leave out. `FetchSessionCache` holds it behind locks.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod eviction;
mod partition;
mod session;
mod sessions;
#[cfg(test)]
mod tests;

pub use partition::{AnswerSummary, FetchKey, FetchPartition, TopicKey};
pub use sessions::{FetchPlan, FetchSessions, PlanKind, SessionRequest};
