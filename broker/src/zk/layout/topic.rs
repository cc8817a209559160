//! `/brokers/topics/T`: the topic's id and which brokers hold which partition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::{check_version, parse, render};
use super::{LayoutError, decode_uuid, encode_uuid};
use crate::types::BrokerId;

/// The parent of all topics.
pub const ROOT: &str = "/brokers/topics";

/// The replicas of one partition, in order of preference.
///
/// The list is full: it holds the replicas being added and those being removed. The target of a reassignment is the
/// list without the removed ones, its origin the list without the added ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// All replicas; the first is the preferred leader.
    pub replicas: Vec<BrokerId>,
    /// Those that a running reassignment adds.
    pub adding: Vec<BrokerId>,
    /// Those that a running reassignment takes away.
    pub removing: Vec<BrokerId>,
}

/// What the node says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicNode {
    /// The topic's id; none for topics made before Kafka 2.8.
    pub id: Option<Uuid>,
    /// The partitions by number.
    pub partitions: BTreeMap<i32, Assignment>,
}

type Replicas = BTreeMap<i32, Vec<BrokerId>>;

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic_id: Option<String>,
    partitions: Replicas,
    #[serde(default)]
    adding_replicas: Replicas,
    #[serde(default)]
    removing_replicas: Replicas,
}

/// Returns the path of the topic's node.
#[must_use]
pub fn path(topic: &str) -> String {
    format!("{ROOT}/{topic}")
}

/// Returns the path of the parent of the topic's partitions.
#[must_use]
pub fn partitions_path(topic: &str) -> String {
    format!("{ROOT}/{topic}/partitions")
}

impl Assignment {
    /// Returns an assignment that nothing changes.
    #[must_use]
    pub fn of(replicas: Vec<BrokerId>) -> Self {
        Self { replicas, adding: Vec::new(), removing: Vec::new() }
    }

    /// Says whether a reassignment runs.
    #[must_use]
    pub fn is_reassigning(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }

    /// Returns the replicas that will be left.
    #[must_use]
    pub fn target(&self) -> Vec<BrokerId> {
        self.replicas.iter().copied().filter(|replica| !self.removing.contains(replica)).collect()
    }

    /// Returns the replicas that there were before.
    #[must_use]
    pub fn origin(&self) -> Vec<BrokerId> {
        self.replicas.iter().copied().filter(|replica| !self.adding.contains(replica)).collect()
    }

    /// Returns the preferred leader.
    #[must_use]
    pub fn preferred(&self) -> Option<BrokerId> {
        self.replicas.first().copied()
    }
}

impl TopicNode {
    /// Returns the node's data: version 3 when the topic has an id, else version 2.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let changing = |part: fn(&Assignment) -> &Vec<BrokerId>| {
            self.partitions
                .iter()
                .filter(|(_, assignment)| !part(assignment).is_empty())
                .map(|(number, assignment)| (*number, part(assignment).clone()))
                .collect()
        };
        render(&Node {
            version: if self.id.is_some() { 3 } else { 2 },
            topic_id: self.id.map(encode_uuid),
            partitions: self.partitions.iter().map(|(number, it)| (*number, it.replicas.clone())).collect(),
            adding_replicas: changing(|assignment| &assignment.adding),
            removing_replicas: changing(|assignment| &assignment.removing),
        })
    }

    /// Reads the data of `topic`'s node, versions 1 to 3.
    ///
    /// # Errors
    /// When the data is not the node's JSON, or names an impossible partition or id.
    pub fn decode(topic: &str, data: &[u8]) -> Result<Self, LayoutError> {
        let path = path(topic);
        let mut node: Node = parse(&path, data)?;
        check_version(&path, node.version, 1..=i32::MAX)?;
        let id = match &node.topic_id {
            None => None,
            Some(text) => Some(
                decode_uuid(text)
                    .ok_or_else(|| LayoutError::invalid(&path, format!("{text:?} is not a topic id")))?,
            ),
        };
        if let Some(number) = node.partitions.keys().find(|number| **number < 0) {
            return Err(LayoutError::invalid(&path, format!("partition {number} is negative")));
        }
        let partitions = std::mem::take(&mut node.partitions)
            .into_iter()
            .map(|(number, replicas)| {
                let adding = node.adding_replicas.remove(&number).unwrap_or_default();
                let removing = node.removing_replicas.remove(&number).unwrap_or_default();
                (number, Assignment { replicas, adding, removing })
            })
            .collect();
        Ok(Self { id, partitions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brokers(ids: &[i32]) -> Vec<BrokerId> {
        ids.iter().copied().map(BrokerId).collect()
    }

    fn moving() -> TopicNode {
        TopicNode {
            id: decode_uuid("q4Hk2yqvQ1mP0N3uB7w8xg"),
            partitions: BTreeMap::from([
                (0, Assignment::of(brokers(&[1, 2, 3]))),
                (
                    1,
                    Assignment {
                        replicas: brokers(&[2, 3, 1, 4]),
                        adding: brokers(&[4]),
                        removing: brokers(&[1]),
                    },
                ),
            ]),
        }
    }

    #[test]
    fn golden_version_3() {
        let data = br#"{"version":3,"topic_id":"q4Hk2yqvQ1mP0N3uB7w8xg","partitions":{"0":[1,2,3],"1":[2,3,1,4]},"adding_replicas":{"1":[4]},"removing_replicas":{"1":[1]}}"#;
        assert_eq!(moving().encode(), data);
        assert_eq!(TopicNode::decode("t", data).unwrap(), moving());
    }

    #[test]
    fn without_an_id_version_2_is_written() {
        let node = TopicNode { id: None, partitions: BTreeMap::from([(0, Assignment::of(brokers(&[1])))]) };
        assert_eq!(
            node.encode(),
            br#"{"version":2,"partitions":{"0":[1]},"adding_replicas":{},"removing_replicas":{}}"#
        );
    }

    #[test]
    fn reads_version_1() {
        let node = TopicNode::decode("t", br#"{"version":1,"partitions":{"10":[1,2],"2":[2]}}"#).unwrap();
        assert_eq!(node.partitions.keys().copied().collect::<Vec<_>>(), [2, 10]);
        assert_eq!(node.id, None);
    }

    #[test]
    fn target_and_origin() {
        let moving = moving();
        let assignment = &moving.partitions[&1];
        assert_eq!(assignment.target(), brokers(&[2, 3, 4]));
        assert_eq!(assignment.origin(), brokers(&[2, 3, 1]));
        assert_eq!(assignment.preferred(), Some(BrokerId(2)));
        assert!(assignment.is_reassigning());
    }

    #[test]
    fn impossible_nodes_are_refused() {
        for data in [
            br#"{"version":3,"topic_id":"short","partitions":{}}"#.as_slice(),
            br#"{"version":2,"partitions":{"-1":[1]}}"#,
            br#"{"version":2,"partitions":{"x":[1]}}"#,
            br#"{"version":0,"partitions":{}}"#,
            br#"{"version":2}"#,
            b"",
        ] {
            let error = TopicNode::decode("t", data).unwrap_err();
            assert!(error.to_string().contains("/brokers/topics/t"), "{error}");
        }
    }
}
