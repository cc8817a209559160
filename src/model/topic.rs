//! Topics.

use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, Millis};
use serde::{Deserialize, Serialize};

use super::history::History;
use super::partition::Partition;

/// What can become known of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicUpdate {
    /// It exists with these partitions, as in `/brokers/topics/[topic]`.
    Assigned {
        /// Its id, where the cluster gives topics ids.
        #[serde(default)]
        topic_id: Option<String>,
        /// The assigned replicas of each partition, the preferred leader first.
        partitions: BTreeMap<i32, Vec<BrokerId>>,
    },
    /// Its own settings, those that differ from the broker's.
    Configured(BTreeMap<String, String>),
    /// It is marked for deletion.
    DeletionRequested,
    /// It is gone.
    Deleted,
}

/// What is known of a topic.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topic {
    /// Its id.
    pub topic_id: Option<String>,
    /// Its partitions by number.
    pub partitions: BTreeMap<i32, Partition>,
    /// Its own settings.
    pub configs: BTreeMap<String, String>,
    /// Whether it is marked for deletion.
    pub deleting: bool,
    /// Records per second, from the growth of its leaders' logs.
    pub records_per_second: f64,
    /// Records per second over the last minute.
    pub rate_history: History,
}

impl Topic {
    /// Returns whether the cluster made the topic for itself.
    pub fn is_internal(name: &str) -> bool {
        matches!(name, "__consumer_offsets" | "__transaction_state")
    }

    /// Returns the number of replicas of its partitions: that of the first one.
    pub fn replication_factor(&self) -> usize {
        self.partitions.values().next().map_or(0, |partition| partition.replicas.len())
    }

    /// Sums up the rates of its partitions.
    pub(super) fn settle_rate(&mut self, now: Millis) {
        self.records_per_second =
            self.partitions.values().map(|partition| partition.records_per_second).sum();
        self.rate_history.push(now, self.records_per_second);
    }
}
