//! The controller's rules, all of them, as one machine: who leads, who is in sync, where replicas go, what brokers hear.
//!
//! [`ControllerMachine::step`] takes what happened and says what to do. Every change of ZooKeeper is an
//! [`Effect::Write`] that checks the controller's epoch, and only its outcome changes the [`context`]; every request to
//! a broker is sent after the write that it tells about. One event is worked on at a time (see `agenda`), so no decision
//! is made on what is about to change.
//!
//! ```text
//!  no session ─► following ─► campaigning ─► loading ─► active ─┐
//!        ▲            ▲────────────┴────────────┴───────────────┘  lost, fenced, resigned
//!        └── session expired, from anywhere
//! ```
//!
//! The parts by duty: `step` (roles), `startup` (a new controller), `brokers` (joins and deaths), `partitions` (state
//! nodes), `election` (who leads), `topics`, `deletion`, `reassignment`, `preferred` (balance, ElectLeaders), `shutdown`,
//! `alter_partition` (ISR), `log_dirs`, `assignment` (where new replicas go), `outgoing` (requests, batched per broker).
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod agenda;
mod alter_partition;
pub mod assignment;
mod brokers;
pub mod context;
mod deletion;
mod effect;
pub mod election;
mod event;
mod log_dirs;
mod outgoing;
mod partitions;
mod preferred;
mod reassignment;
mod shutdown;
mod startup;
mod step;
mod topics;
mod types;

#[cfg(test)]
mod tests;

pub use effect::{
    AlteredTopic, Command, EPOCH_DURING_DELETE, Effect, LEADER_DURING_DELETE, PartitionUpdate, Refused,
    Reply, StopReplica, Write, WriteId,
};
pub use event::{
    AlterPartition, AlterTopic, AlterWish, Campaign, ClusterEvent, ElectionKind, Event, NewPartitions,
    Outcome, Request, RequestId, Snapshot, TopicRead,
};
pub use step::ControllerMachine;
pub use types::{LeaderAndIsr, LiveBroker, PartitionStatus, ReplicaStatus, Settings};
