//! What the offset APIs have in common: partitions grouped by topic, in the order of the request.

use std::sync::Arc;

use crate::metadata::ClusterSnapshot;
use crate::types::TopicPartition;

/// Returns whether the cluster has the partition.
pub(super) fn exists(cluster: &ClusterSnapshot, topic_partition: &TopicPartition) -> bool {
    cluster.partition(topic_partition).is_some()
}

/// Returns the partitions of a topic.
pub(super) fn partitions_of(topic: String, partitions: impl IntoIterator<Item = i32>) -> Vec<TopicPartition> {
    let topic: Arc<str> = topic.into();
    partitions.into_iter().map(|partition| TopicPartition::new(Arc::clone(&topic), partition)).collect()
}

/// Puts neighbours of the same topic together, as responses list them.
pub(super) fn by_topic<T>(items: Vec<T>, topic_of: impl Fn(&T) -> &Arc<str>) -> Vec<(String, Vec<T>)> {
    let mut topics: Vec<(String, Vec<T>)> = Vec::new();
    for item in items {
        match topics.last_mut() {
            Some((topic, of_topic)) if **topic == **topic_of(&item) => of_topic.push(item),
            _ => topics.push((topic_of(&item).to_string(), vec![item])),
        }
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_topic_come_together() {
        let items = [partitions_of("a".to_owned(), [2, 1]), partitions_of("b".to_owned(), [0])].concat();
        let topics = by_topic(items, |item| &item.topic);
        let shape: Vec<(String, Vec<i32>)> = topics
            .into_iter()
            .map(|(topic, items)| (topic, items.into_iter().map(|item| item.partition).collect()))
            .collect();
        assert_eq!(shape, [("a".to_owned(), vec![2, 1]), ("b".to_owned(), vec![0])]);
    }
}
