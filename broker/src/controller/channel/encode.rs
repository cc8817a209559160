//! Commands as the messages of inter-broker protocol 3.9, and what the answers say.

use std::collections::BTreeMap;

use ottla_protocol::message::leader_and_isr::{
    LeaderAndIsrLiveLeader, LeaderAndIsrPartitionState, LeaderAndIsrTopicState,
};
use ottla_protocol::message::stop_replica::{StopReplicaPartitionState, StopReplicaTopicState};
use ottla_protocol::message::update_metadata::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use ottla_protocol::message::{
    LeaderAndIsrRequest, LeaderAndIsrResponse, StopReplicaRequest, StopReplicaResponse, UpdateMetadataRequest,
};

use crate::controller::machine::{LiveBroker, PartitionUpdate, StopReplica};
use crate::types::{
    BrokerEpoch, BrokerId, ControllerEpoch, TopicPartition, topic_id_of_wire, topic_id_to_wire,
};

/// The version of LeaderAndIsr at inter-broker protocol 3.9.
pub(super) const LEADER_AND_ISR_VERSION: i16 = 7;
/// The version of UpdateMetadata at inter-broker protocol 3.9.
pub(super) const UPDATE_METADATA_VERSION: i16 = 8;
/// The version of StopReplica at inter-broker protocol 3.9.
pub(super) const STOP_REPLICA_VERSION: i16 = 4;

/// Who speaks, and to which registration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    pub(super) controller: BrokerId,
    pub(super) epoch: ControllerEpoch,
    pub(super) addressee: BrokerEpoch,
}

fn numbers(brokers: &[BrokerId]) -> Vec<i32> {
    brokers.iter().map(|broker| broker.0).collect()
}

pub(super) fn leader_and_isr(
    sender: Sender,
    partitions: &[PartitionUpdate],
    leaders: &BTreeMap<BrokerId, (String, i32)>,
) -> LeaderAndIsrRequest {
    let mut topics: Vec<LeaderAndIsrTopicState> = Vec::new();
    for update in partitions {
        let state = LeaderAndIsrPartitionState {
            partition_index: update.partition.partition,
            controller_epoch: update.controller_epoch.0,
            leader: update.leader.0,
            leader_epoch: update.leader_epoch.0,
            isr: numbers(&update.isr),
            partition_epoch: update.partition_epoch.0,
            replicas: numbers(&update.replicas),
            adding_replicas: numbers(&update.adding),
            removing_replicas: numbers(&update.removing),
            is_new: update.is_new,
            leader_recovery_state: update.recovery.code(),
            ..LeaderAndIsrPartitionState::default()
        };
        // Partitions come sorted, so those of one topic are neighbours.
        match topics.last_mut() {
            Some(topic) if *topic.topic_name == *update.partition.topic => topic.partition_states.push(state),
            _ => topics.push(LeaderAndIsrTopicState {
                topic_name: update.partition.topic.to_string(),
                topic_id: topic_id_to_wire(update.topic_id),
                partition_states: vec![state],
                ..LeaderAndIsrTopicState::default()
            }),
        }
    }
    let live_leaders = leaders
        .iter()
        .map(|(broker, (host, port))| LeaderAndIsrLiveLeader {
            broker_id: broker.0,
            host_name: host.clone(),
            port: *port,
            ..LeaderAndIsrLiveLeader::default()
        })
        .collect();
    LeaderAndIsrRequest {
        controller_id: sender.controller.0,
        controller_epoch: sender.epoch.0,
        broker_epoch: sender.addressee.0,
        topic_states: topics,
        live_leaders,
        ..LeaderAndIsrRequest::default()
    }
}

pub(super) fn update_metadata(
    sender: Sender,
    partitions: &[PartitionUpdate],
    brokers: &BTreeMap<BrokerId, LiveBroker>,
) -> UpdateMetadataRequest {
    let mut topics: Vec<UpdateMetadataTopicState> = Vec::new();
    for update in partitions {
        let state = UpdateMetadataPartitionState {
            partition_index: update.partition.partition,
            controller_epoch: update.controller_epoch.0,
            leader: update.leader.0,
            leader_epoch: update.leader_epoch.0,
            isr: numbers(&update.isr),
            zk_version: update.partition_epoch.0,
            replicas: numbers(&update.replicas),
            offline_replicas: numbers(&update.offline),
            ..UpdateMetadataPartitionState::default()
        };
        match topics.last_mut() {
            Some(topic) if *topic.topic_name == *update.partition.topic => topic.partition_states.push(state),
            _ => topics.push(UpdateMetadataTopicState {
                topic_name: update.partition.topic.to_string(),
                topic_id: topic_id_to_wire(update.topic_id),
                partition_states: vec![state],
                ..UpdateMetadataTopicState::default()
            }),
        }
    }
    UpdateMetadataRequest {
        controller_id: sender.controller.0,
        controller_epoch: sender.epoch.0,
        broker_epoch: sender.addressee.0,
        topic_states: topics,
        live_brokers: brokers.iter().map(|(id, broker)| live_broker(*id, broker)).collect(),
        ..UpdateMetadataRequest::default()
    }
}

fn live_broker(id: BrokerId, broker: &LiveBroker) -> UpdateMetadataBroker {
    let endpoints = broker.registration.endpoints.iter().map(|endpoint| UpdateMetadataEndpoint {
        port: endpoint.port,
        host: endpoint.host.clone(),
        listener: endpoint.listener.clone(),
        security_protocol: endpoint.protocol.code(),
        ..UpdateMetadataEndpoint::default()
    });
    UpdateMetadataBroker {
        id: id.0,
        endpoints: endpoints.collect(),
        rack: broker.registration.rack.clone(),
        ..UpdateMetadataBroker::default()
    }
}

pub(super) fn stop_replica(sender: Sender, partitions: &[StopReplica]) -> StopReplicaRequest {
    let mut topics: Vec<StopReplicaTopicState> = Vec::new();
    for stop in partitions {
        let state = StopReplicaPartitionState {
            partition_index: stop.partition.partition,
            leader_epoch: stop.leader_epoch.0,
            delete_partition: stop.delete,
            ..StopReplicaPartitionState::default()
        };
        match topics.last_mut() {
            Some(topic) if *topic.topic_name == *stop.partition.topic => topic.partition_states.push(state),
            _ => topics.push(StopReplicaTopicState {
                topic_name: stop.partition.topic.to_string(),
                partition_states: vec![state],
                ..StopReplicaTopicState::default()
            }),
        }
    }
    StopReplicaRequest {
        controller_id: sender.controller.0,
        controller_epoch: sender.epoch.0,
        broker_epoch: sender.addressee.0,
        topic_states: topics,
        ..StopReplicaRequest::default()
    }
}

/// Returns the errors by partition that an answer to LeaderAndIsr holds.
pub(super) fn leader_and_isr_errors(
    partitions: &[PartitionUpdate],
    response: &LeaderAndIsrResponse,
) -> Vec<(TopicPartition, i16)> {
    let mut names = BTreeMap::new();
    for update in partitions {
        names.entry(update.topic_id).or_insert(&update.partition.topic);
    }
    let errors = response.topics.iter().filter_map(|topic| {
        let name = *names.get(&topic_id_of_wire(topic.topic_id))?;
        let failed = topic.partition_errors.iter().filter(|partition| partition.error_code != 0);
        Some(failed.map(|it| (TopicPartition::new(name.clone(), it.partition_index), it.error_code)))
    });
    errors.flatten().collect()
}

/// Returns how the deletions ended that a StopReplica asked for.
pub(super) fn deletions(
    partitions: &[StopReplica],
    response: &StopReplicaResponse,
) -> Vec<(TopicPartition, i16)> {
    let errors: BTreeMap<(&str, i32), i16> = response
        .partition_errors
        .iter()
        .map(|error| ((error.topic_name.as_str(), error.partition_index), error.error_code))
        .collect();
    let outcome = |stop: &StopReplica| {
        let own = errors.get(&(&*stop.partition.topic, stop.partition.partition)).copied();
        let code = if response.error_code == 0 { own.unwrap_or(0) } else { response.error_code };
        (stop.partition.clone(), code)
    };
    partitions.iter().filter(|stop| stop.delete).map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionError, LeaderAndIsrTopicError};
    use ottla_protocol::message::stop_replica::StopReplicaPartitionError;
    use uuid::Uuid;

    use super::*;
    use crate::types::{LeaderEpoch, PartitionEpoch};
    use crate::zk::layout::partition_state::LeaderRecoveryState;

    const SENDER: Sender =
        Sender { controller: BrokerId(1), epoch: ControllerEpoch(5), addressee: BrokerEpoch(77) };

    fn update(topic: &str, partition: i32) -> PartitionUpdate {
        PartitionUpdate {
            partition: TopicPartition::new(topic, partition),
            topic_id: Some(Uuid::from_u128(9)),
            controller_epoch: ControllerEpoch(4),
            leader: BrokerId(2),
            leader_epoch: LeaderEpoch(6),
            isr: vec![BrokerId(2), BrokerId(3)],
            partition_epoch: PartitionEpoch(8),
            replicas: vec![BrokerId(3), BrokerId(2)],
            adding: vec![],
            removing: vec![],
            offline: vec![BrokerId(3)],
            is_new: true,
            recovery: LeaderRecoveryState::Recovered,
        }
    }

    #[test]
    fn partitions_are_grouped_by_topic() {
        let updates = [update("a", 0), update("a", 1), update("b", 0)];
        let leaders = BTreeMap::from([(BrokerId(2), ("k2".to_owned(), 9092))]);
        let request = leader_and_isr(SENDER, &updates, &leaders);
        assert_eq!((request.controller_epoch, request.broker_epoch), (5, 77));
        let shape: Vec<_> = request
            .topic_states
            .iter()
            .map(|it| (it.topic_name.as_str(), it.partition_states.len()))
            .collect();
        assert_eq!(shape, [("a", 2), ("b", 1)]);
        let first = &request.topic_states[0].partition_states[0];
        assert_eq!((first.leader, first.leader_epoch, first.partition_epoch), (2, 6, 8));
        assert_eq!((first.controller_epoch, first.is_new), (4, true));
        let metadata = update_metadata(SENDER, &updates, &BTreeMap::new());
        assert_eq!(metadata.topic_states[0].partition_states[1].offline_replicas, [3]);
    }

    #[test]
    fn answers_are_read_by_topic_id_and_by_name() {
        let updates = [update("a", 0), update("a", 1)];
        let error = |partition_index, error_code| LeaderAndIsrPartitionError {
            partition_index,
            error_code,
            ..LeaderAndIsrPartitionError::default()
        };
        let response = LeaderAndIsrResponse {
            topics: vec![LeaderAndIsrTopicError {
                topic_id: topic_id_to_wire(Some(Uuid::from_u128(9))),
                partition_errors: vec![error(0, 0), error(1, 56)],
                ..LeaderAndIsrTopicError::default()
            }],
            ..LeaderAndIsrResponse::default()
        };
        assert_eq!(leader_and_isr_errors(&updates, &response), [(TopicPartition::new("a", 1), 56)]);
        let stop = |partition, delete| StopReplica {
            partition: TopicPartition::new("a", partition),
            leader_epoch: LeaderEpoch(-2),
            delete,
        };
        let stops = [stop(0, true), stop(1, true), stop(2, false)];
        let response = StopReplicaResponse {
            partition_errors: vec![StopReplicaPartitionError {
                topic_name: "a".to_owned(),
                partition_index: 1,
                error_code: 74,
                ..StopReplicaPartitionError::default()
            }],
            ..StopReplicaResponse::default()
        };
        let expected = [(TopicPartition::new("a", 0), 0), (TopicPartition::new("a", 1), 74)];
        assert_eq!(deletions(&stops, &response), expected);
        let refused = StopReplicaResponse { error_code: 11, ..StopReplicaResponse::default() };
        assert_eq!(deletions(&stops[..1], &refused), [(TopicPartition::new("a", 0), 11)]);
    }
}
