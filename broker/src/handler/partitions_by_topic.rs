//! Results by partition, grouped by topic as responses want them.

use crate::types::TopicPartition;

/// Groups neighbours of the same topic.
pub(super) fn by_topic<T>(
    results: impl IntoIterator<Item = (TopicPartition, T)>,
) -> Vec<(String, Vec<(i32, T)>)> {
    let mut topics: Vec<(String, Vec<(i32, T)>)> = Vec::new();
    for (name, result) in results {
        match topics.last_mut().filter(|(topic, _)| *topic == *name.topic) {
            Some((_, partitions)) => partitions.push((name.partition, result)),
            None => topics.push((name.topic.to_string(), vec![(name.partition, result)])),
        }
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_topic() {
        let tp = TopicPartition::new;
        let grouped = by_topic([(tp("a", 0), 'x'), (tp("a", 1), 'y'), (tp("b", 0), 'z')]);
        assert_eq!(grouped, [("a".to_owned(), vec![(0, 'x'), (1, 'y')]), ("b".to_owned(), vec![(0, 'z')])]);
    }
}
