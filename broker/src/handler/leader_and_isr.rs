//! LeaderAndIsr: the controller says what this broker leads and follows.

use std::sync::Arc;

use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionError, LeaderAndIsrTopicError};
use ottla_protocol::message::{LeaderAndIsrRequest, LeaderAndIsrResponse};

use super::api::Api;
use super::call::Call;
use crate::replica::CommandOutcome;
use crate::types::topic_id_to_wire;

/// The first version that is answered by topic id.
const TOPIC_ID_VERSION: i16 = 5;

pub(super) fn handle(api: &Arc<Api>, call: Call<LeaderAndIsrRequest>) {
    let outcome = api.replicas.apply_leader_and_isr(&call.body);
    call.reply.send(&response(outcome, call.version));
}

fn response(outcome: CommandOutcome, version: i16) -> LeaderAndIsrResponse {
    let mut response =
        LeaderAndIsrResponse { error_code: outcome.error.code(), ..LeaderAndIsrResponse::default() };
    for partition in outcome.partitions {
        let by_name = if version < TOPIC_ID_VERSION { &*partition.id.topic } else { "" };
        let error = LeaderAndIsrPartitionError {
            topic_name: by_name.to_owned(),
            partition_index: partition.id.partition,
            error_code: partition.error.code(),
            ..LeaderAndIsrPartitionError::default()
        };
        if version < TOPIC_ID_VERSION {
            response.partition_errors.push(error);
            continue;
        }
        let topic_id = topic_id_to_wire(partition.topic_id);
        match response.topics.last_mut().filter(|topic| topic.topic_id == topic_id) {
            Some(topic) => topic.partition_errors.push(error),
            None => response.topics.push(LeaderAndIsrTopicError {
                topic_id,
                partition_errors: vec![error],
                ..LeaderAndIsrTopicError::default()
            }),
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::ErrorCode;
    use uuid::Uuid;

    use super::*;
    use crate::replica::PartitionOutcome;
    use crate::types::TopicPartition;

    #[test]
    fn partitions_are_answered_by_name_or_by_id() {
        let partition = |topic: &str, id, number, error| PartitionOutcome {
            id: TopicPartition::new(topic, number),
            topic_id: Some(Uuid::from_u128(id)),
            error,
        };
        let outcome = CommandOutcome {
            error: ErrorCode::None,
            partitions: vec![
                partition("a", 1, 0, ErrorCode::None),
                partition("a", 1, 1, ErrorCode::StaleControllerEpoch),
                partition("b", 2, 0, ErrorCode::None),
            ],
        };
        let old = response(outcome.clone(), 4);
        let names: Vec<_> = old.partition_errors.iter().map(|error| error.topic_name.as_str()).collect();
        assert_eq!((names, old.topics.len()), (vec!["a", "a", "b"], 0));
        let new = response(outcome, 7);
        let sizes: Vec<_> = new.topics.iter().map(|topic| topic.partition_errors.len()).collect();
        assert_eq!((sizes, new.partition_errors.len()), (vec![2, 1], 0));
        assert_eq!(new.topics[0].partition_errors[1].error_code, 11);
    }
}
