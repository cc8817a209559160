//! What the controller taught this broker about the cluster, as snapshots that never change.
//!
//! [`ClusterSnapshot`] is plain data: brokers, topics, who leads which partition. Applying an UpdateMetadata request
//! makes a new one that shares what did not change. [`MetadataCache`] holds the newest: readers take it without a lock
//! and keep it as long as they like; whoever waits for the cluster to look some way is told after each update.

mod cache;
pub mod snapshot;

pub use cache::MetadataCache;
pub use snapshot::{
    Applied, BrokerMetadata, ClusterSnapshot, EndpointMetadata, MetadataQuery, PartitionMetadata,
    TopicMetadata, is_internal_topic,
};
