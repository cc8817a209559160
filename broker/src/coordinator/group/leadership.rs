//! The coordinator follows the leadership of `__consumer_offsets`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::coordinator::GroupCoordinator;
use crate::replica::LeadershipListener;
use crate::types::{LeaderEpoch, TopicPartition};
use crate::zk::layout::topic_name::CONSUMER_OFFSETS;

impl LeadershipListener for GroupCoordinator {
    fn became_leader(&self, partition: &TopicPartition, epoch: LeaderEpoch) {
        if is_ours(partition) {
            self.become_leader(partition.partition, epoch);
        }
    }

    fn became_follower(&self, partition: &TopicPartition, epoch: LeaderEpoch) {
        if is_ours(partition) {
            self.resign(partition.partition, Some(epoch));
        }
    }

    fn stopped(&self, partition: &TopicPartition) {
        if is_ours(partition) {
            self.resign(partition.partition, None);
        }
    }
}

impl GroupCoordinator {
    /// Partitions are being deleted: the offsets of their topics are forgotten.
    pub fn partitions_deleted(&self, deleted: &[TopicPartition]) {
        let topics: BTreeSet<Arc<str>> = deleted.iter().map(|one| Arc::clone(&one.topic)).collect();
        if !topics.is_empty() {
            self.topics_deleted(&topics.into_iter().collect::<Vec<_>>());
        }
    }
}

fn is_ours(partition: &TopicPartition) -> bool {
    *partition.topic == *CONSUMER_OFFSETS
}
