//! What a Metadata request asks of a snapshot, in each of its versions.

use ottla_protocol::message::ErrorCode;
use ottla_protocol::message::metadata::{
    MetadataRequestTopic, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};

use super::cluster::{ClusterSnapshot, PartitionMetadata, TopicMetadata};
use crate::types::{BrokerId, LeaderEpoch, topic_id_of_wire, topic_id_to_wire};

/// The topics that brokers keep for themselves.
const INTERNAL_TOPICS: [&str; 2] = ["__consumer_offsets", "__transaction_state"];

/// Returns whether a topic is one that brokers keep for themselves.
#[must_use]
pub fn is_internal_topic(name: &str) -> bool {
    INTERNAL_TOPICS.contains(&name)
}

/// A question by one client: what it sees depends on the version it speaks and the listener it came in on.
#[derive(Debug, Clone, Copy)]
pub struct MetadataQuery<'a> {
    /// The cluster to look at.
    pub snapshot: &'a ClusterSnapshot,
    /// The listener whose addresses the client can reach.
    pub listener: &'a str,
    /// The version of the Metadata request.
    pub version: i16,
}

impl MetadataQuery<'_> {
    /// Returns the live brokers that have the listener.
    #[must_use]
    pub fn brokers(&self) -> Vec<MetadataResponseBroker> {
        let reachable = self.snapshot.brokers().values().filter_map(|broker| {
            let endpoint = broker.endpoint(self.listener)?;
            Some(MetadataResponseBroker {
                node_id: broker.id.0,
                host: endpoint.host.clone(),
                port: i32::from(endpoint.port),
                rack: broker.rack.clone(),
                ..MetadataResponseBroker::default()
            })
        });
        reachable.collect()
    }

    /// Returns the controller's id as far as the client can reach it; −1 otherwise.
    #[must_use]
    pub fn controller_id(&self) -> i32 {
        let reachable = self.snapshot.controller.filter(|id| self.snapshot.is_live(*id));
        reachable.unwrap_or(BrokerId::NONE).0
    }

    /// Returns every topic.
    #[must_use]
    pub fn all_topics(&self) -> Vec<MetadataResponseTopic> {
        self.snapshot.topics().values().map(|topic| self.topic(topic)).collect()
    }

    /// Returns one topic that was asked for by name or id; `None` when there is no topic of that name.
    #[must_use]
    pub fn asked(&self, asked: &MetadataRequestTopic) -> Option<MetadataResponseTopic> {
        match topic_id_of_wire(asked.topic_id) {
            None => {
                let name = asked.name.as_deref().unwrap_or_default();
                self.snapshot.topic(name).map(|topic| self.topic(topic))
            }
            Some(id) => Some(match self.snapshot.topic_by_id(id) {
                Some(topic) => self.topic(topic),
                None => MetadataResponseTopic {
                    error_code: ErrorCode::UnknownTopicId.code(),
                    name: None,
                    topic_id: asked.topic_id,
                    ..MetadataResponseTopic::default()
                },
            }),
        }
    }

    /// Returns what is said of a topic that cannot be described.
    #[must_use]
    pub fn failed(name: &str, error: ErrorCode) -> MetadataResponseTopic {
        MetadataResponseTopic {
            error_code: error.code(),
            name: Some(name.to_owned()),
            is_internal: is_internal_topic(name),
            ..MetadataResponseTopic::default()
        }
    }

    fn topic(&self, topic: &TopicMetadata) -> MetadataResponseTopic {
        let partitions = topic.partitions.iter();
        MetadataResponseTopic {
            error_code: ErrorCode::None.code(),
            name: Some(topic.name.to_string()),
            topic_id: topic_id_to_wire(topic.id),
            is_internal: is_internal_topic(&topic.name),
            partitions: partitions.map(|(number, state)| self.partition(*number, state)).collect(),
            ..MetadataResponseTopic::default()
        }
    }

    fn partition(&self, number: i32, state: &PartitionMetadata) -> MetadataResponsePartition {
        let is_reachable = |id: BrokerId| self.snapshot.endpoint(id, self.listener).is_some();
        let ids = |brokers: &[BrokerId]| brokers.iter().map(|id| id.0).collect::<Vec<_>>();
        // Version 0 could not say that a replica is dead: it leaves it out and says that something is missing.
        let alive = |brokers: &[BrokerId]| {
            brokers.iter().filter(|id| self.snapshot.is_live(**id)).map(|id| id.0).collect::<Vec<_>>()
        };
        let (replica_nodes, isr_nodes) = if self.version == 0 {
            (alive(&state.replicas), alive(&state.isr))
        } else {
            (ids(&state.replicas), ids(&state.isr))
        };
        let is_incomplete = replica_nodes.len() < state.replicas.len() || isr_nodes.len() < state.isr.len();
        let (error, leader, leader_epoch) = match self.leader_error(state, is_reachable(state.leader)) {
            Some(error) => (error, BrokerId::NONE, LeaderEpoch::UNKNOWN),
            None if is_incomplete => (ErrorCode::ReplicaNotAvailable, state.leader, state.leader_epoch),
            None => (ErrorCode::None, state.leader, state.leader_epoch),
        };
        MetadataResponsePartition {
            error_code: error.code(),
            partition_index: number,
            leader_id: leader.0,
            // The epoch is told even while there is no leader: clients compare it.
            leader_epoch: if leader_epoch == LeaderEpoch::UNKNOWN {
                state.leader_epoch.0
            } else {
                leader_epoch.0
            },
            replica_nodes,
            isr_nodes,
            offline_replicas: self.offline(state),
            ..MetadataResponsePartition::default()
        }
    }

    fn leader_error(&self, state: &PartitionMetadata, is_reachable: bool) -> Option<ErrorCode> {
        if is_reachable {
            return None;
        }
        // A leader that lives but not on this listener is a mistake of the operator, and newer clients are told so.
        let hidden = self.snapshot.is_live(state.leader) && self.version >= 6;
        Some(if hidden { ErrorCode::ListenerNotFound } else { ErrorCode::LeaderNotAvailable })
    }

    fn offline(&self, state: &PartitionMetadata) -> Vec<i32> {
        let is_offline = |id: &&BrokerId| {
            self.snapshot.endpoint(**id, self.listener).is_none() || state.offline_replicas.contains(id)
        };
        state.replicas.iter().filter(is_offline).map(|id| id.0).collect()
    }
}
