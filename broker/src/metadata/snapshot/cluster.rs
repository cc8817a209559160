//! The cluster at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, PartitionEpoch, TopicPartition};

/// The cluster as its controller last described it to this broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterSnapshot {
    /// The controller that sent the last update.
    pub controller: Option<BrokerId>,
    /// Its epoch.
    pub controller_epoch: Option<ControllerEpoch>,
    pub(super) brokers: BTreeMap<BrokerId, Arc<BrokerMetadata>>,
    pub(super) topics: BTreeMap<Arc<str>, Arc<TopicMetadata>>,
    pub(super) names: BTreeMap<Uuid, Arc<str>>,
}

/// A live broker and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerMetadata {
    /// Its id.
    pub id: BrokerId,
    /// One per listener.
    pub endpoints: Vec<EndpointMetadata>,
    /// Where it stands, `broker.rack`.
    pub rack: Option<String>,
}

/// An address of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointMetadata {
    /// The listener's name.
    pub listener: String,
    /// The host as advertised.
    pub host: String,
    /// The port.
    pub port: u16,
    /// 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    pub security_protocol: i16,
}

/// A topic and its partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMetadata {
    /// Its name.
    pub name: Arc<str>,
    /// Its id, when the cluster gives topics ids.
    pub id: Option<Uuid>,
    /// Its partitions by number.
    pub partitions: BTreeMap<i32, Arc<PartitionMetadata>>,
}

/// Who leads a partition, and who holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// The leader; −1 for none.
    pub leader: BrokerId,
    /// Counts the elections.
    pub leader_epoch: LeaderEpoch,
    /// The controller that decided last.
    pub controller_epoch: ControllerEpoch,
    /// The version of the stored state.
    pub partition_epoch: PartitionEpoch,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// All replicas in order of preference.
    pub replicas: Vec<BrokerId>,
    /// Replicas on dead brokers or failed disks.
    pub offline_replicas: Vec<BrokerId>,
}

impl BrokerMetadata {
    /// Returns the address behind `listener`.
    #[must_use]
    pub fn endpoint(&self, listener: &str) -> Option<&EndpointMetadata> {
        self.endpoints.iter().find(|endpoint| endpoint.listener == listener)
    }
}

impl ClusterSnapshot {
    /// Returns the live brokers by id.
    #[must_use]
    pub fn brokers(&self) -> &BTreeMap<BrokerId, Arc<BrokerMetadata>> {
        &self.brokers
    }

    /// Returns a live broker.
    #[must_use]
    pub fn broker(&self, id: BrokerId) -> Option<&Arc<BrokerMetadata>> {
        self.brokers.get(&id)
    }

    /// Returns whether a broker is registered as alive.
    #[must_use]
    pub fn is_live(&self, id: BrokerId) -> bool {
        self.brokers.contains_key(&id)
    }

    /// Returns the ids of the live brokers.
    #[must_use]
    pub fn live_brokers(&self) -> BTreeSet<BrokerId> {
        self.brokers.keys().copied().collect()
    }

    /// Returns how to reach a live broker by one of its listeners.
    #[must_use]
    pub fn endpoint(&self, id: BrokerId, listener: &str) -> Option<&EndpointMetadata> {
        self.brokers.get(&id)?.endpoint(listener)
    }

    /// Returns the topics by name.
    #[must_use]
    pub fn topics(&self) -> &BTreeMap<Arc<str>, Arc<TopicMetadata>> {
        &self.topics
    }

    /// Returns a topic.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicMetadata>> {
        self.topics.get(name)
    }

    /// Returns the topic with this id.
    #[must_use]
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Arc<TopicMetadata>> {
        self.topics.get(self.names.get(&id)?)
    }

    /// Returns the name of the topic with this id.
    #[must_use]
    pub fn topic_name(&self, id: Uuid) -> Option<&Arc<str>> {
        self.names.get(&id)
    }

    /// Returns the id of a topic.
    #[must_use]
    pub fn topic_id(&self, name: &str) -> Option<Uuid> {
        self.topics.get(name)?.id
    }

    /// Returns a partition.
    #[must_use]
    pub fn partition(&self, topic_partition: &TopicPartition) -> Option<&Arc<PartitionMetadata>> {
        self.topics.get(&topic_partition.topic)?.partitions.get(&topic_partition.partition)
    }

    /// Returns the number of partitions of all topics.
    #[must_use]
    pub fn partition_count(&self) -> usize {
        self.topics.values().map(|topic| topic.partitions.len()).sum()
    }
}
