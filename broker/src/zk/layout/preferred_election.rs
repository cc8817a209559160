//! `/admin/preferred_replica_election`: an old tool's wish that preferred replicas lead.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::TopicPartition;

/// The node's path.
pub const PATH: &str = "/admin/preferred_replica_election";

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    partitions: Vec<TopicPartition>,
}

/// Returns the node's data.
#[must_use]
pub fn encode(partitions: &[TopicPartition]) -> Vec<u8> {
    render(&Node { version: 1, partitions: partitions.to_vec() })
}

/// Returns the partitions that the node names.
///
/// # Errors
/// When the data is not the node's JSON.
pub fn decode(data: &[u8]) -> Result<Vec<TopicPartition>, LayoutError> {
    parse::<Node>(PATH, data).map(|node| node.partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":1,"partitions":[{"topic":"t","partition":0}]}"#;
        assert_eq!(encode(&[TopicPartition::new("t", 0)]), data);
        assert_eq!(decode(data).unwrap(), [TopicPartition::new("t", 0)]);
        assert!(decode(b"").is_err());
    }
}
