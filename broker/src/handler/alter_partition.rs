//! AlterPartition: a leader asks the controller for other in-sync replicas.

use std::sync::Arc;

use ottla_protocol::message::alter_partition::{PartitionData, PartitionDataResponse, TopicDataResponse};
use ottla_protocol::message::{AlterPartitionRequest, AlterPartitionResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use crate::controller::machine::{
    AlterPartition, AlterTopic, AlterWish, AlteredTopic, LeaderAndIsr, Reply, Request,
};
use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, topic_id_of_wire, topic_id_to_wire};
use crate::zk::layout::partition_state::LeaderRecoveryState;

pub(super) fn handle(api: &Arc<Api>, call: Call<AlterPartitionRequest>) {
    let Call { body, version, reply, .. } = call;
    match wish(body, version) {
        Ok(wish) => {
            api.controller.ask(Request::AlterPartition(wish), move |answer| reply.send(&response(answer)))
        }
        Err(error) => reply.send(&refused(error)),
    }
}

fn refused(error: ErrorCode) -> AlterPartitionResponse {
    AlterPartitionResponse { error_code: error.code(), ..AlterPartitionResponse::default() }
}

fn wish(body: AlterPartitionRequest, version: i16) -> Result<AlterPartition, ErrorCode> {
    let topics = body.topics.into_iter().map(|topic| {
        let partitions =
            topic.partitions.into_iter().map(|it| partition(it, version)).collect::<Result<_, _>>()?;
        let id = topic_id_of_wire(topic.topic_id);
        let name = (!topic.topic_name.is_empty()).then(|| Arc::from(topic.topic_name.as_str()));
        Ok(AlterTopic { id, name, partitions })
    });
    Ok(AlterPartition {
        broker: BrokerId(body.broker_id),
        broker_epoch: BrokerEpoch(body.broker_epoch),
        version,
        topics: topics.collect::<Result<_, _>>()?,
    })
}

fn partition(data: PartitionData, version: i16) -> Result<AlterWish, ErrorCode> {
    let isr = if version >= 3 {
        data.new_isr_with_epochs.iter().map(|member| BrokerId(member.broker_id)).collect()
    } else {
        data.new_isr.into_iter().map(BrokerId).collect()
    };
    let recovery =
        LeaderRecoveryState::from_code(data.leader_recovery_state).ok_or(ErrorCode::InvalidRequest)?;
    Ok(AlterWish {
        partition: data.partition_index,
        leader_epoch: LeaderEpoch(data.leader_epoch),
        isr,
        recovery,
        partition_epoch: PartitionEpoch(data.partition_epoch),
    })
}

fn response(reply: Reply) -> AlterPartitionResponse {
    match reply {
        Reply::AlterPartition(topics) => AlterPartitionResponse {
            topics: topics.into_iter().map(topic_response).collect(),
            ..AlterPartitionResponse::default()
        },
        Reply::Refused(error) => refused(error),
        _ => refused(ErrorCode::UnknownServerError),
    }
}

fn topic_response(topic: AlteredTopic) -> TopicDataResponse {
    TopicDataResponse {
        topic_name: topic.name.map(|name| name.to_string()).unwrap_or_default(),
        topic_id: topic_id_to_wire(topic.id),
        partitions: topic
            .partitions
            .into_iter()
            .map(|(partition_index, result)| partition_response(partition_index, result))
            .collect(),
        ..TopicDataResponse::default()
    }
}

fn partition_response(
    partition_index: i32,
    result: Result<LeaderAndIsr, ErrorCode>,
) -> PartitionDataResponse {
    match result {
        Ok(state) => PartitionDataResponse {
            partition_index,
            leader_id: state.leader.0,
            leader_epoch: state.leader_epoch.0,
            isr: state.isr.iter().map(|broker| broker.0).collect(),
            leader_recovery_state: state.recovery.code(),
            partition_epoch: state.partition_epoch.0,
            ..PartitionDataResponse::default()
        },
        Err(error) => PartitionDataResponse {
            partition_index,
            error_code: error.code(),
            ..PartitionDataResponse::default()
        },
    }
}
