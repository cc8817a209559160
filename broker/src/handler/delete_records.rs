//! DeleteRecords: raises where partitions begin.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::delete_records::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use ottla_protocol::message::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::api::Api;
use super::call::Call;
use crate::replica::DeleteOutcome;
use crate::types::{Offset, TopicPartition};

pub(super) fn handle(api: &Arc<Api>, call: Call<DeleteRecordsRequest>) {
    let Call { body, reply, .. } = call;
    let timeout = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    let mut offsets = Vec::new();
    for topic in body.topics {
        let name: Arc<str> = Arc::from(topic.name);
        let wanted = topic.partitions.iter();
        offsets.extend(wanted.map(|partition| {
            (TopicPartition::new(Arc::clone(&name), partition.partition_index), Offset(partition.offset))
        }));
    }
    let complete = move |outcomes| reply.send(&response(outcomes));
    api.replicas.delete_records(timeout, offsets, Box::new(complete));
}

fn response(outcomes: Vec<(TopicPartition, DeleteOutcome)>) -> DeleteRecordsResponse {
    let mut topics: Vec<DeleteRecordsTopicResult> = Vec::new();
    for (id, outcome) in outcomes {
        let result = DeleteRecordsPartitionResult {
            partition_index: id.partition,
            low_watermark: outcome.low_watermark.0,
            error_code: outcome.error.code(),
            ..DeleteRecordsPartitionResult::default()
        };
        match topics.last_mut().filter(|topic| topic.name == *id.topic) {
            Some(topic) => topic.partitions.push(result),
            None => topics.push(DeleteRecordsTopicResult {
                name: id.topic.to_string(),
                partitions: vec![result],
                ..DeleteRecordsTopicResult::default()
            }),
        }
    }
    DeleteRecordsResponse { topics, ..DeleteRecordsResponse::default() }
}
