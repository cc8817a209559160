//! Partitions of this broker as leader and follower.
//!
//! [`machine`] holds the rules, as plain data. [`ReplicaManager`] drives the machines of all partitions: it appends and
//! reads, obeys the controller, and does what the machines want. [`fetcher`] copies from leaders; `alter_partition` asks
//! the controller for other in-sync replicas; what has to wait waits in purgatories.
//!
//! ```text
//!   produce ──► append ──► log ──► machine: HW? ──► wake fetches, produces
//!   fetch   ──► read ◄──── log     machine: follower state, ISR ──► AlterPartition ──► controller
//!   LeaderAndIsr, StopReplica ──► machine: role ──► fetchers, log, coordinators
//!   fetcher thread ◄── leader      machine: append, truncate, HW
//! ```
//!
//! Start reading at [`ReplicaManager`] and [`HostedPartition`], which says what its locks are for.

mod alter_partition;
mod append;
mod control;
mod delete_records;
mod error_code;
mod fence;
mod fetch;
pub mod fetch_session;
pub mod fetcher;
mod hosted;
mod inter_broker;
mod listener;
pub mod machine;
mod manager;
mod metrics;
mod offsets;
mod options;
mod partition_metrics;
mod session_cache;
mod update_metadata;
mod upkeep;

pub use append::{ProduceComplete, ProduceOutcome};
pub use control::{CommandOutcome, PartitionOutcome};
pub use delete_records::{DeleteComplete, DeleteOutcome};
pub use fence::ControllerFence;
pub use fetch::{FetchComplete, FetchOutcome, FetchParams};
pub use hosted::{HostedPartition, Reader};
pub use listener::LeadershipListener;
pub use manager::ReplicaManager;
pub use offsets::{FoundOffset, OffsetQuery, OffsetsReader};
pub use options::{FetcherOptions, PurgeIntervals, ReplicaDependencies, ReplicaOptions};
pub use session_cache::FetchSessionCache;
pub use upkeep::ReplicaUpkeep;
