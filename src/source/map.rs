//! What one source must know of another's findings: where brokers are, and which replicas lie where.

use std::collections::{BTreeMap, BTreeSet};

use ottla_broker::types::{BrokerId, TopicPartition};

use crate::model::{BrokerUpdate, ClusterUpdate, PartitionUpdate, TopicUpdate, Update};

/// Brokers and partitions, as ZooKeeper says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterMap {
    /// Where each registered broker is: `host:port`.
    pub brokers: BTreeMap<BrokerId, String>,
    /// The assigned replicas of each partition.
    pub replicas: BTreeMap<TopicPartition, Vec<BrokerId>>,
    /// The controller, while there is one.
    pub controller: Option<BrokerId>,
    /// The leader of each partition that has one.
    pub leaders: BTreeMap<TopicPartition, BrokerId>,
}

impl ClusterMap {
    /// Takes in what was found; returns whether the map is another now.
    pub(super) fn observe(&mut self, update: &Update) -> bool {
        match update {
            Update::Cluster(ClusterUpdate::Controller(controller)) => {
                std::mem::replace(&mut self.controller, *controller) != *controller
            }
            Update::Broker { broker, update: BrokerUpdate::Registered(registration) } => {
                let address = format!("{}:{}", registration.host, registration.port);
                self.brokers.insert(*broker, address.clone()) != Some(address)
            }
            Update::Broker { broker, update: BrokerUpdate::Unregistered | BrokerUpdate::Forgotten } => {
                self.brokers.remove(broker).is_some()
            }
            Update::BrokersListed(listed) => retain(&mut self.brokers, |broker| listed.contains(broker)),
            Update::Topic { topic, update: TopicUpdate::Assigned { partitions, .. } } => {
                let mut changed = false;
                for (number, replicas) in partitions {
                    let partition = TopicPartition::new(topic.as_str(), *number);
                    changed |= self.replicas.insert(partition, replicas.clone()).as_ref() != Some(replicas);
                }
                changed
            }
            Update::Topic { topic, update: TopicUpdate::Deleted } => {
                let other = |partition: &TopicPartition| *partition.topic != **topic;
                retain(&mut self.leaders, other) | retain(&mut self.replicas, other)
            }
            Update::TopicsListed(listed) => {
                let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
                let known = |partition: &TopicPartition| listed.contains(&*partition.topic);
                retain(&mut self.leaders, known) | retain(&mut self.replicas, known)
            }
            Update::Partition { partition, update: PartitionUpdate::State(state) } if state.leader.0 >= 0 => {
                self.leaders.insert(partition.clone(), state.leader) != Some(state.leader)
            }
            Update::Partition { partition, .. } => self.leaders.remove(partition).is_some(),
            _ => false,
        }
    }

    /// Returns the partitions that a broker has a replica of.
    pub(super) fn replicas_on(&self, broker: BrokerId) -> impl Iterator<Item = &TopicPartition> {
        let has = move |entry: &(&TopicPartition, &Vec<BrokerId>)| entry.1.contains(&broker);
        self.replicas.iter().filter(has).map(|(partition, _)| partition)
    }

    /// Returns the partitions that a broker leads.
    pub(super) fn led_by(&self, broker: BrokerId) -> impl Iterator<Item = &TopicPartition> {
        self.leaders.iter().filter(move |(_, leader)| **leader == broker).map(|(partition, _)| partition)
    }
}

fn retain<K: Ord, V>(map: &mut BTreeMap<K, V>, keep: impl Fn(&K) -> bool) -> bool {
    let before = map.len();
    map.retain(|key, _| keep(key));
    map.len() != before
}
