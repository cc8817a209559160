//! The cluster at one moment, how a request of the controller changes it, and what clients may ask of it.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod apply;
mod cluster;
mod query;
#[cfg(test)]
mod tests;

pub use apply::Applied;
pub use cluster::{BrokerMetadata, ClusterSnapshot, EndpointMetadata, PartitionMetadata, TopicMetadata};
pub use query::{MetadataQuery, is_internal_topic};
