//! The nouns that every room of the engine shares, each a type of its own so that two numbers cannot be swapped.
//!
//! Plain data: no clock, file, socket or lock.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod ids;
mod offset;
mod time;
mod topic_id;
mod topic_name;
mod topic_partition;

pub use ids::{BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, PartitionEpoch};
pub use offset::Offset;
pub use time::Millis;
pub use topic_id::{topic_id_of_wire, topic_id_to_wire};
pub use topic_name::check_topic_name;
pub use topic_partition::TopicPartition;
