//! What is known of the cluster: plain data, changed only by applying updates.
//!
//! ```text
//!  sources ──► Update ──► Model::apply(now, update) ──► views, `--json`, recordings
//!  effects ──────┘          │
//!                           └─► derived at once: lag, rates, health, histories, the timeline of events
//! ```
//! One file per noun holds what can be said of it (its update), what is kept of it, and what follows from that. Whoever
//! reads the model finds every derived value computed; drawing never sums up.
//!
//! Moments are milliseconds since the Unix epoch and are passed in. Everything that grows with time is bounded.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod action;
mod apply;
mod broker;
mod cluster;
mod group;
mod history;
mod load;
mod network;
mod partition;
mod process;
mod source;
mod state;
mod status;
mod summary;
#[cfg(test)]
mod tests;
mod timeline;
mod topic;
mod update;

pub use action::{Action, ActionId, ActionUpdate, Actions, Progress};
pub use broker::{Broker, BrokerState, BrokerUpdate, Registration};
pub use cluster::{Cluster, ClusterUpdate, Profile, ZookeeperConnection};
pub use group::{
    CommittedOffset, Group, GroupDescription, GroupOffset, GroupState, GroupUpdate, Member, Rebalance,
};
pub use history::{HISTORY_SECONDS, History};
pub use load::{Load, LoadGroup, LoadState};
pub use network::{
    Network, NetworkSample, Processor, ProcessorSample, RequestKind, RequestSample, RequestTimes,
};
pub use partition::{Leaderless, Partition, PartitionHealth, PartitionState, PartitionUpdate, Replica};
pub use process::{Process, ProcessKind, ProcessState, ProcessUpdate, Usage};
pub use source::{Source, SourceHealth, SourceName, SourceUpdate};
pub use state::Model;
pub use status::{
    BrokerStatus, ControllerStatus, GroupMemberStatus, GroupOffsetStatus, GroupStatus, NetworkStatus,
    PartitionStatus, ProcessorStatus, ReplicaStatus, SourceStatus, Status, TopicStatus, ZookeeperStatus,
};
pub use summary::{BrokerShare, Summary};
pub use timeline::{Election, Event, EventKind, Severity, Timeline};
pub use topic::{Topic, TopicUpdate};
pub use update::{ReplicaOffsets, Update};
