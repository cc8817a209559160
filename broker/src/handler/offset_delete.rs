//! OffsetDelete: offsets of topics that a group does not read any more.

use std::sync::Arc;

use ottla_protocol::message::offset_delete::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use ottla_protocol::message::{ErrorCode, OffsetDeleteRequest, OffsetDeleteResponse};

use super::api::Api;
use super::call::Call;
use super::group_topics::{by_topic, exists, partitions_of};
use crate::coordinator::group::machine::DeleteOffsetsRequest;
use crate::types::TopicPartition;

pub(super) fn handle(api: &Arc<Api>, call: Call<OffsetDeleteRequest>) {
    let Call { body, reply, .. } = call;
    let cluster = api.metadata.load();
    let asked = body.topics.into_iter().flat_map(|topic| {
        let indexes = topic.partitions.into_iter().map(|partition| partition.partition_index);
        partitions_of(topic.name, indexes)
    });
    let (known, unknown): (Vec<TopicPartition>, Vec<TopicPartition>) =
        asked.partition(|one| exists(&cluster, one));
    let request = DeleteOffsetsRequest { group: body.group_id.into(), topic_partitions: known };
    api.groups.call(request, move |deleted| {
        let mut outcomes = deleted.partitions;
        outcomes.extend(unknown.into_iter().map(|one| (one, ErrorCode::UnknownTopicOrPartition)));
        outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
        reply.send(&response(deleted.error, outcomes));
    });
}

/// An error of the group leaves no room for those of partitions.
fn response(error: ErrorCode, outcomes: Vec<(TopicPartition, ErrorCode)>) -> OffsetDeleteResponse {
    let outcomes = if error == ErrorCode::None { outcomes } else { Vec::new() };
    let topics = by_topic(outcomes, |(topic_partition, _)| &topic_partition.topic).into_iter();
    let topics = topics.map(|(name, partitions)| OffsetDeleteResponseTopic {
        name,
        partitions: partitions.into_iter().map(|(one, error)| partition(one.partition, error)).collect(),
        ..OffsetDeleteResponseTopic::default()
    });
    OffsetDeleteResponse {
        error_code: error.code(),
        topics: topics.collect(),
        ..OffsetDeleteResponse::default()
    }
}

fn partition(partition_index: i32, error: ErrorCode) -> OffsetDeleteResponsePartition {
    OffsetDeleteResponsePartition {
        partition_index,
        error_code: error.code(),
        ..OffsetDeleteResponsePartition::default()
    }
}
