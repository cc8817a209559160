//! `/feature`: the feature levels that the whole cluster agreed on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{check_version, parse, render};

/// The node's path.
pub const PATH: &str = "/feature";

/// Whether features are versioned at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureStatus {
    /// Below inter-broker protocol 2.7.
    Disabled,
    /// From inter-broker protocol 2.7 on.
    Enabled,
}

/// What the node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureNode {
    /// Whether features are versioned.
    pub status: FeatureStatus,
    /// The finalized highest level by feature; empty in ordinary ZooKeeper mode.
    pub features: BTreeMap<String, i16>,
}

#[derive(Serialize, Deserialize)]
struct Level {
    max_version_level: i16,
}

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    status: i32,
    features: BTreeMap<String, Level>,
}

impl FeatureNode {
    /// Returns the node's data, version 2.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let status = match self.status {
            FeatureStatus::Disabled => 0,
            FeatureStatus::Enabled => 1,
        };
        let features = self
            .features
            .iter()
            .map(|(name, level)| (name.clone(), Level { max_version_level: *level }))
            .collect();
        render(&Node { version: 2, status, features })
    }

    /// Reads the node, versions 1 and 2.
    ///
    /// # Errors
    /// When the data is not the node's JSON or the status is unknown.
    pub fn decode(data: &[u8]) -> Result<Self, LayoutError> {
        let node: Node = parse(PATH, data)?;
        check_version(PATH, node.version, 1..=2)?;
        let status = match node.status {
            0 => FeatureStatus::Disabled,
            1 => FeatureStatus::Enabled,
            other => return Err(LayoutError::invalid(PATH, format!("unknown status {other}"))),
        };
        let features =
            node.features.into_iter().map(|(name, level)| (name, level.max_version_level)).collect();
        Ok(Self { status, features })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":2,"status":1,"features":{"f":{"max_version_level":2}}}"#;
        let node =
            FeatureNode { status: FeatureStatus::Enabled, features: BTreeMap::from([("f".to_owned(), 2)]) };
        assert_eq!(node.encode(), data);
        assert_eq!(FeatureNode::decode(data).unwrap(), node);
    }

    #[test]
    fn reads_version_1_and_refuses_others() {
        let data =
            br#"{"version":1,"status":0,"features":{"f":{"min_version_level":1,"max_version_level":2}}}"#;
        assert_eq!(FeatureNode::decode(data).unwrap().features, BTreeMap::from([("f".to_owned(), 2)]));
        assert!(FeatureNode::decode(br#"{"version":3,"status":1,"features":{}}"#).is_err());
        assert!(FeatureNode::decode(br#"{"version":2,"status":7,"features":{}}"#).is_err());
    }
}
