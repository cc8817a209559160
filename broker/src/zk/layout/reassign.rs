//! `/admin/reassign_partitions`: an old tool's wish that partitions move.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::{BrokerId, TopicPartition};

/// The node's path.
pub const PATH: &str = "/admin/reassign_partitions";

/// The wished replicas by partition.
pub type Targets = BTreeMap<TopicPartition, Vec<BrokerId>>;

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    partitions: Vec<Target>,
}

#[derive(Serialize, Deserialize)]
struct Target {
    topic: String,
    partition: i32,
    replicas: Vec<BrokerId>,
}

/// Returns the node's data.
#[must_use]
pub fn encode(targets: &Targets) -> Vec<u8> {
    let partitions = targets
        .iter()
        .map(|(partition, replicas)| Target {
            topic: partition.topic.to_string(),
            partition: partition.partition,
            replicas: replicas.clone(),
        })
        .collect();
    render(&Node { version: 1, partitions })
}

/// Returns the wished replicas.
///
/// # Errors
/// When the data is not the node's JSON; the controller then deletes the node.
pub fn decode(data: &[u8]) -> Result<Targets, LayoutError> {
    let node: Node = parse(PATH, data)?;
    Ok(node
        .partitions
        .into_iter()
        .map(|target| (TopicPartition::new(target.topic, target.partition), target.replicas))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[4,5,6]}]}"#;
        let targets =
            Targets::from([(TopicPartition::new("t", 0), vec![BrokerId(4), BrokerId(5), BrokerId(6)])]);
        assert_eq!(encode(&targets), data);
        assert_eq!(decode(data).unwrap(), targets);
        assert!(decode(b"nonsense").is_err());
    }
}
