//! ListPartitionReassignments: the moves under way.

use std::sync::Arc;

use ottla_protocol::message::list_partition_reassignments::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use ottla_protocol::message::{
    ErrorCode, ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};

use super::api::Api;
use super::call::Call;
use super::partitions_by_topic::by_topic;
use crate::controller::machine::{Reply, Request};
use crate::types::{BrokerId, TopicPartition};

pub(super) fn handle(api: &Arc<Api>, call: Call<ListPartitionReassignmentsRequest>) {
    let Call { body, reply, .. } = call;
    let partitions = body.topics.map(|topics| {
        let names = topics.into_iter().flat_map(|topic| {
            let name: Arc<str> = Arc::from(topic.name);
            let numbers = topic.partition_indexes.into_iter();
            numbers.map(move |number| TopicPartition::new(Arc::clone(&name), number))
        });
        names.collect()
    });
    api.controller.ask(Request::ListReassignments(partitions), move |answer| reply.send(&response(answer)));
}

fn response(reply: Reply) -> ListPartitionReassignmentsResponse {
    let refused = |error: ErrorCode| ListPartitionReassignmentsResponse {
        error_code: error.code(),
        error_message: Some(error.name().to_owned()),
        ..ListPartitionReassignmentsResponse::default()
    };
    let moves = match reply {
        Reply::Reassignments(moves) => moves,
        Reply::Refused(error) => return refused(error),
        _ => return refused(ErrorCode::UnknownServerError),
    };
    let numbers = |brokers: Vec<BrokerId>| brokers.iter().map(|broker| broker.0).collect();
    let moves = moves.into_iter().map(|(name, assignment)| {
        let number = name.partition;
        let ongoing = OngoingPartitionReassignment {
            partition_index: number,
            replicas: numbers(assignment.replicas),
            adding_replicas: numbers(assignment.adding),
            removing_replicas: numbers(assignment.removing),
            ..OngoingPartitionReassignment::default()
        };
        (name, ongoing)
    });
    let topic =
        |(name, partitions): (String, Vec<(i32, OngoingPartitionReassignment)>)| OngoingTopicReassignment {
            name,
            partitions: partitions.into_iter().map(|(_, ongoing)| ongoing).collect(),
            ..OngoingTopicReassignment::default()
        };
    ListPartitionReassignmentsResponse {
        error_message: None,
        topics: by_topic(moves).into_iter().map(topic).collect(),
        ..ListPartitionReassignmentsResponse::default()
    }
}
