//! The nodes that Kafka keeps in ZooKeeper: one file per kind, each with its paths, its JSON and its readers' rules.
//!
//! Byte for byte what Apache Kafka 3.9 writes in ZooKeeper mode, and everything that 0.8 to 3.9 wrote is read. Writers
//! emit compact JSON; readers look fields up by name, ignore what they do not know, and refuse a node that cannot mean
//! anything with a [`LayoutError`] that names the node. Nothing here touches a session: see `zk::session` for that.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

pub mod broker;
pub mod cluster_id;
pub mod config;
pub mod config_change;
pub mod consumer_offset;
pub mod controller;
pub mod delete_topics;
mod error;
pub mod feature;
pub mod isr_change;
pub mod log_dir_event;
pub mod partition_state;
pub mod preferred_election;
pub mod producer_ids;
pub mod reassign;
mod sequence;
mod top_paths;
pub mod topic;
pub mod topic_name;
mod uuid_text;

pub use error::LayoutError;
pub use sequence::sequence_number;
pub use top_paths::TOP_PATHS;
pub use uuid_text::{decode_uuid, encode_uuid, is_reserved, topic_id_from_bytes};
