//! What an UpdateMetadata request makes of a snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use ottla_protocol::message::UpdateMetadataRequest;
use ottla_protocol::message::update_metadata::{UpdateMetadataBroker, UpdateMetadataPartitionState};
use uuid::Uuid;

use super::cluster::{BrokerMetadata, ClusterSnapshot, EndpointMetadata, PartitionMetadata, TopicMetadata};
use crate::types::{
    BrokerId, ControllerEpoch, LeaderEpoch, PartitionEpoch, TopicPartition, topic_id_of_wire,
};

/// The leader of a partition whose topic is being deleted.
const LEADER_DURING_DELETE: i32 = -2;

/// A new snapshot, and what is new about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The cluster now.
    pub snapshot: Arc<ClusterSnapshot>,
    /// Whether other brokers are alive than before.
    pub live_brokers_changed: bool,
    /// The partitions that are being deleted.
    pub deleted: Vec<TopicPartition>,
}

impl ClusterSnapshot {
    /// Returns the cluster as it is after a request: its list of brokers replaces the known one, its partitions replace
    /// or remove theirs, all others stay.
    #[must_use]
    pub fn apply(&self, request: &UpdateMetadataRequest) -> Applied {
        let mut next = self.clone();
        next.controller = Some(BrokerId(request.controller_id)).filter(|id| *id != BrokerId::NONE);
        next.controller_epoch = Some(ControllerEpoch(request.controller_epoch));
        next.brokers = request.live_brokers.iter().map(broker).collect();
        let live_brokers_changed = !next.brokers.keys().eq(self.brokers.keys());
        let mut deleted = Vec::new();
        for topic in &request.topic_states {
            let topic_id = topic_id_of_wire(topic.topic_id);
            next.apply_topic(&topic.topic_name, topic_id, topic.partition_states.iter(), &mut deleted);
        }
        // Versions up to 4 list partitions without grouping them.
        for state in &request.ungrouped_partition_states {
            let known = next.topic_id(&state.topic_name);
            next.apply_topic(&state.topic_name, known, std::iter::once(state), &mut deleted);
        }
        Applied { snapshot: Arc::new(next), live_brokers_changed, deleted }
    }

    fn apply_topic<'a>(
        &mut self,
        name: &str,
        topic_id: Option<Uuid>,
        states: impl Iterator<Item = &'a UpdateMetadataPartitionState>,
        deleted: &mut Vec<TopicPartition>,
    ) {
        let known = self.topics.get(name).cloned();
        if let Some(id) = known.as_ref().and_then(|topic| topic.id) {
            self.names.remove(&id);
        }
        let is_same =
            |topic: &TopicMetadata| topic.id.is_none() || topic_id.is_none() || topic.id == topic_id;
        let mut topic = match &known {
            Some(topic) if is_same(topic) => TopicMetadata::clone(topic),
            // Made anew under the same name: nothing of the old one is true any more.
            Some(topic) => empty(&topic.name),
            None => empty(&Arc::from(name)),
        };
        topic.id = topic_id.or(topic.id);
        for state in states {
            if state.leader == LEADER_DURING_DELETE {
                topic.partitions.remove(&state.partition_index);
                deleted.push(TopicPartition::new(Arc::clone(&topic.name), state.partition_index));
            } else {
                topic.partitions.insert(state.partition_index, Arc::new(partition(state)));
            }
        }
        if topic.partitions.is_empty() {
            self.topics.remove(name);
            return;
        }
        if let Some(id) = topic.id {
            self.names.insert(id, Arc::clone(&topic.name));
        }
        self.topics.insert(Arc::clone(&topic.name), Arc::new(topic));
    }
}

fn empty(name: &Arc<str>) -> TopicMetadata {
    TopicMetadata { name: Arc::clone(name), id: None, partitions: BTreeMap::new() }
}

fn broker(broker: &UpdateMetadataBroker) -> (BrokerId, Arc<BrokerMetadata>) {
    let endpoint = |listener: &str, host: &str, port: i32, security_protocol| EndpointMetadata {
        listener: listener.to_owned(),
        host: host.to_owned(),
        port: u16::try_from(port).unwrap_or(0),
        security_protocol,
    };
    let named = broker.endpoints.iter().map(|known| {
        // Versions 1 and 2 have no listener names: there the protocol's name was the listener's.
        let unnamed = match known.security_protocol {
            1 => "SSL",
            2 => "SASL_PLAINTEXT",
            3 => "SASL_SSL",
            _ => "PLAINTEXT",
        };
        let listener = if known.listener.is_empty() { unnamed } else { &known.listener };
        endpoint(listener, &known.host, known.port, known.security_protocol)
    });
    let mut endpoints: Vec<_> = named.collect();
    if endpoints.is_empty() && !broker.v0_host.is_empty() {
        endpoints.push(endpoint("PLAINTEXT", &broker.v0_host, broker.v0_port, 0));
    }
    let rack = broker.rack.clone().filter(|rack| !rack.is_empty());
    let id = BrokerId(broker.id);
    (id, Arc::new(BrokerMetadata { id, endpoints, rack }))
}

fn partition(state: &UpdateMetadataPartitionState) -> PartitionMetadata {
    let brokers = |ids: &[i32]| ids.iter().copied().map(BrokerId).collect();
    PartitionMetadata {
        leader: BrokerId(state.leader),
        leader_epoch: LeaderEpoch(state.leader_epoch),
        controller_epoch: ControllerEpoch(state.controller_epoch),
        partition_epoch: PartitionEpoch(state.zk_version),
        isr: brokers(&state.isr),
        replicas: brokers(&state.replicas),
        offline_replicas: brokers(&state.offline_replicas),
    }
}
