//! The name of a partition.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A topic's name and a partition's number, cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition's number, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// Names partition `partition` of `topic`.
    pub fn new(topic: impl Into<Arc<str>>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// As it appears in JSON nodes: `{"topic":"orders","partition":3}`.
#[derive(Serialize, Deserialize)]
struct Named {
    topic: String,
    partition: i32,
}

impl Serialize for TopicPartition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Named { topic: self.topic.to_string(), partition: self.partition }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TopicPartition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Named { topic, partition } = Named::deserialize(deserializer)?;
        Ok(Self::new(topic, partition))
    }
}
