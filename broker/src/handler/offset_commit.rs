//! OffsetCommit: how far a group has read. Version 0 goes to ZooKeeper, where the first consumers kept their offsets.

use std::sync::Arc;

use ottla_protocol::message::offset_commit::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use ottla_protocol::message::{ErrorCode, OffsetCommitRequest, OffsetCommitResponse};

use super::api::Api;
use super::call::Call;
use super::group_topics::{by_topic, exists};
use super::zookeeper_offsets;
use crate::coordinator::group::machine::{CommitRequest, Generation, OffsetToCommit};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// Each partition of the request, in its order, with its error so far.
type Outcomes = Vec<(TopicPartition, ErrorCode)>;

pub(super) fn handle(api: &Arc<Api>, call: Call<OffsetCommitRequest>) {
    let Call { body, version, reply, .. } = call;
    let (offsets, mut outcomes) = split_known(api, &body);
    if offsets.is_empty() {
        reply.send(&response(outcomes));
        return;
    }
    if version == 0 {
        zookeeper_offsets::commit(api, body.group_id, offsets, move |stored| {
            merge(&mut outcomes, stored);
            reply.send(&response(outcomes));
        });
        return;
    }
    let request = CommitRequest {
        group: body.group_id.into(),
        generation: Generation(body.generation_id_or_member_epoch),
        member_id: body.member_id.into(),
        instance_id: body.group_instance_id.map(Into::into),
        retention: Some(Millis(body.retention_time_ms)).filter(|retention| retention.0 >= 0),
        transaction: None,
        offsets,
    };
    api.groups.call(request, move |committed| {
        merge(&mut outcomes, committed.partitions);
        reply.send(&response(outcomes));
    });
}

/// Returns the offsets of partitions that exist, and the outcome of all partitions as far as it is known.
fn split_known(api: &Api, body: &OffsetCommitRequest) -> (Vec<OffsetToCommit>, Outcomes) {
    let cluster = api.metadata.load();
    let (mut offsets, mut outcomes) = (Vec::new(), Vec::new());
    for topic in &body.topics {
        let name: Arc<str> = topic.name.as_str().into();
        for partition in &topic.partitions {
            let topic_partition = TopicPartition::new(Arc::clone(&name), partition.partition_index);
            if !exists(&cluster, &topic_partition) {
                outcomes.push((topic_partition, ErrorCode::UnknownTopicOrPartition));
                continue;
            }
            outcomes.push((topic_partition.clone(), ErrorCode::None));
            offsets.push(OffsetToCommit {
                topic_partition,
                offset: Offset(partition.committed_offset),
                leader_epoch: LeaderEpoch(partition.committed_leader_epoch),
                metadata: partition.committed_metadata.as_deref().unwrap_or_default().into(),
                commit_timestamp: Some(Millis(partition.commit_timestamp))
                    .filter(|timestamp| timestamp.0 >= 0),
            });
        }
    }
    (offsets, outcomes)
}

/// Puts the outcomes of the partitions that exist, which come in the order of the request, in their places.
fn merge(outcomes: &mut Outcomes, stored: Outcomes) {
    let places = outcomes.iter_mut().filter(|(_, error)| *error == ErrorCode::None);
    for (place, (topic_partition, error)) in places.zip(stored) {
        debug_assert_eq!(place.0, topic_partition, "outcomes come in the order of the request");
        place.1 = error;
    }
}

fn response(outcomes: Outcomes) -> OffsetCommitResponse {
    let topics = by_topic(outcomes, |(topic_partition, _)| &topic_partition.topic).into_iter();
    let topics = topics.map(|(name, partitions)| OffsetCommitResponseTopic {
        name,
        partitions: partitions.into_iter().map(|(one, error)| partition(one.partition, error)).collect(),
        ..OffsetCommitResponseTopic::default()
    });
    OffsetCommitResponse { topics: topics.collect(), ..OffsetCommitResponse::default() }
}

fn partition(partition_index: i32, error: ErrorCode) -> OffsetCommitResponsePartition {
    OffsetCommitResponsePartition {
        partition_index,
        error_code: error.code(),
        ..OffsetCommitResponsePartition::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_find_their_places_between_unknown_partitions() {
        let unknown = ErrorCode::UnknownTopicOrPartition;
        let one = |topic: &str, partition| TopicPartition::new(topic, partition);
        let mut outcomes =
            vec![(one("a", 0), ErrorCode::None), (one("a", 9), unknown), (one("b", 0), ErrorCode::None)];
        let stored = vec![(one("a", 0), ErrorCode::None), (one("b", 0), ErrorCode::OffsetMetadataTooLarge)];
        merge(&mut outcomes, stored);
        let response = response(outcomes);
        let codes: Vec<Vec<i16>> = response
            .topics
            .iter()
            .map(|topic| topic.partitions.iter().map(|partition| partition.error_code).collect())
            .collect();
        assert_eq!(codes, [vec![0, 3], vec![12]]);
    }
}
