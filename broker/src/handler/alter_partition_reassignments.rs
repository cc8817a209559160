//! AlterPartitionReassignments: replicas that are to move, and moves that are not to be.

use std::sync::Arc;

use ottla_protocol::message::alter_partition_reassignments::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use ottla_protocol::message::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ErrorCode,
};

use super::api::Api;
use super::call::Call;
use super::partitions_by_topic::by_topic;
use crate::controller::machine::{Reply, Request};
use crate::types::{BrokerId, TopicPartition};

pub(super) fn handle(api: &Arc<Api>, call: Call<AlterPartitionReassignmentsRequest>) {
    let Call { body, reply, .. } = call;
    let mut targets = Vec::new();
    for topic in body.topics {
        let name: Arc<str> = Arc::from(topic.name);
        for partition in topic.partitions {
            let target = partition.replicas.map(|ids| ids.into_iter().map(BrokerId).collect());
            targets.push((TopicPartition::new(Arc::clone(&name), partition.partition_index), target));
        }
    }
    api.controller.ask(Request::Reassign(targets), move |answer| reply.send(&response(answer)));
}

fn response(reply: Reply) -> AlterPartitionReassignmentsResponse {
    let refused = |error: ErrorCode| AlterPartitionReassignmentsResponse {
        error_code: error.code(),
        error_message: Some(error.name().to_owned()),
        ..AlterPartitionReassignmentsResponse::default()
    };
    let results = match reply {
        Reply::Reassign(results) => results,
        Reply::Refused(error) => return refused(error),
        _ => return refused(ErrorCode::UnknownServerError),
    };
    let partition = |(partition_index, result): (i32, Result<(), ErrorCode>)| ReassignablePartitionResponse {
        partition_index,
        error_code: result.err().unwrap_or(ErrorCode::None).code(),
        error_message: result.err().map(|error| error.name().to_owned()),
        ..ReassignablePartitionResponse::default()
    };
    let topic = |(name, partitions): (String, Vec<_>)| ReassignableTopicResponse {
        name,
        partitions: partitions.into_iter().map(partition).collect(),
        ..ReassignableTopicResponse::default()
    };
    AlterPartitionReassignmentsResponse {
        error_message: None,
        responses: by_topic(results).into_iter().map(topic).collect(),
        ..AlterPartitionReassignmentsResponse::default()
    }
}
