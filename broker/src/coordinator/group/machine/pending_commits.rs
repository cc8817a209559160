//! Commits under way: offsets that are appended and not yet in sync.

use std::collections::BTreeMap;

use crate::types::TopicPartition;

/// How many appends under way commit an offset of each partition.
#[derive(Debug, Default)]
pub(super) struct PendingCommits {
    plain: BTreeMap<TopicPartition, usize>,
    transactional: BTreeMap<TopicPartition, usize>,
}

impl PendingCommits {
    /// Counts a commit, as part of a transaction or not.
    pub(super) fn add(&mut self, topic_partition: &TopicPartition, is_transactional: bool) {
        *self.counts(is_transactional).entry(topic_partition.clone()).or_default() += 1;
    }

    /// Takes back what [`add`](Self::add) counted.
    pub(super) fn remove(&mut self, topic_partition: &TopicPartition, is_transactional: bool) {
        let counts = self.counts(is_transactional);
        if let Some(count) = counts.get_mut(topic_partition) {
            *count -= 1;
            if *count == 0 {
                counts.remove(topic_partition);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.transactional.is_empty()
    }

    /// Returns whether a commit of the partition is under way.
    pub(super) fn contains(&self, topic_partition: &TopicPartition) -> bool {
        self.plain.contains_key(topic_partition) || self.transactional.contains_key(topic_partition)
    }

    /// Returns whether a commit of the partition is under way as part of a transaction.
    pub(super) fn contains_transactional(&self, topic_partition: &TopicPartition) -> bool {
        self.transactional.contains_key(topic_partition)
    }

    /// Returns all partitions with a commit under way; some may come twice.
    pub(super) fn topic_partitions(&self) -> impl Iterator<Item = &TopicPartition> {
        self.plain.keys().chain(self.transactional.keys())
    }

    fn counts(&mut self, is_transactional: bool) -> &mut BTreeMap<TopicPartition, usize> {
        if is_transactional { &mut self.transactional } else { &mut self.plain }
    }
}
