//! Topics that come, change and go.

use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, Millis, TopicPartition};

use crate::model::state::Model;
use crate::model::timeline::{EventKind, Severity};
use crate::model::topic::TopicUpdate;

impl Model {
    pub(super) fn apply_topic(&mut self, now: Millis, name: &str, update: TopicUpdate) {
        match update {
            TopicUpdate::Assigned { topic_id, partitions } => {
                self.apply_assignment(now, name, topic_id, &partitions);
            }
            TopicUpdate::Configured(configs) => {
                if let Some(topic) = self.topics.get_mut(name) {
                    topic.configs = configs;
                }
            }
            TopicUpdate::DeletionRequested => {
                if let Some(topic) = self.topics.get_mut(name)
                    && !std::mem::replace(&mut topic.deleting, true)
                {
                    let text = format!("topic {name} is to be deleted");
                    self.timeline.add(now, Severity::Info, EventKind::Topic, text);
                }
            }
            TopicUpdate::Deleted => self.remove_topic(now, name),
        }
    }

    fn apply_assignment(
        &mut self,
        now: Millis,
        name: &str,
        topic_id: Option<String>,
        assigned: &BTreeMap<i32, Vec<BrokerId>>,
    ) {
        let known = self.topics.contains_key(name);
        let topic = self.topics.entry(name.to_owned()).or_default();
        // A topic of the same name with another id is another topic, and its deletion was missed.
        if topic.topic_id.is_some() && topic_id.is_some() && topic.topic_id != topic_id {
            self.remove_topic(now, name);
            self.apply_assignment(now, name, topic_id, assigned);
            return;
        }
        topic.topic_id = topic_id.or(topic.topic_id.take());
        let before = topic.partitions.len();
        let removed: Vec<_> =
            topic.partitions.keys().filter(|number| !assigned.contains_key(number)).copied().collect();
        for number in removed {
            self.take_partition(&TopicPartition::new(name, number));
        }
        for (number, replicas) in assigned {
            let partition_name = TopicPartition::new(name, *number);
            let mut partition = self.take_partition(&partition_name);
            partition.replicas.clone_from(replicas);
            partition.out_of_sync_since.retain(|broker, _| replicas.contains(broker));
            self.put_partition(&partition_name, partition);
        }
        if self.listed.topics && !known {
            let text = format!(
                "topic {name} created: {}, replication factor {}",
                count(assigned.len(), "partition"),
                assigned.values().next().map_or(0, Vec::len)
            );
            self.timeline.add(now, Severity::Info, EventKind::Topic, text);
        } else if known && before > 0 && assigned.len() > before {
            let text = format!("topic {name} has {} now", count(assigned.len(), "partition"));
            self.timeline.add(now, Severity::Info, EventKind::Topic, text);
        }
    }

    pub(super) fn apply_topics_listed(&mut self, now: Millis, names: &[String]) {
        let gone: Vec<_> = self.topics.keys().filter(|name| !names.contains(name)).cloned().collect();
        for name in gone {
            self.remove_topic(now, &name);
        }
        if !std::mem::replace(&mut self.listed.topics, true) {
            for name in names {
                self.topics.entry(name.clone()).or_default();
            }
        }
    }

    fn remove_topic(&mut self, now: Millis, name: &str) {
        let Some(topic) = self.topics.remove(name) else { return };
        for partition in topic.partitions.values() {
            self.summary.remove(partition);
        }
        let text = format!("topic {name} deleted, {}", count(topic.partitions.len(), "partition"));
        self.timeline.add(now, Severity::Info, EventKind::Topic, text);
        self.settle_group_lags(now, None);
    }
}

/// Returns "1 partition", "3 partitions".
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
