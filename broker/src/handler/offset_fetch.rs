//! OffsetFetch: how far groups have read. Version 0 reads ZooKeeper, versions 8 and later ask for many groups.

use std::sync::Arc;

use ottla_protocol::message::offset_fetch::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchResponseGroup, OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions, OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use ottla_protocol::message::{ErrorCode, OffsetFetchRequest, OffsetFetchResponse};

use super::api::Api;
use super::call::{Call, Reply};
use super::group_topics::{by_topic, exists, partitions_of};
use super::zookeeper_offsets::{self, Found};
use crate::coordinator::group::Gather;
use crate::coordinator::group::machine::{FetchReply, FetchRequest, FetchedOffset};
use crate::types::{LeaderEpoch, Offset, TopicPartition};

/// The first version with a list of groups (KIP-709).
const GROUPS_FROM: i16 = 8;

/// The first version with an error for the whole group.
const GROUP_ERROR_FROM: i16 = 2;

pub(super) fn handle(api: &Arc<Api>, call: Call<OffsetFetchRequest>) {
    let Call { body, version, reply, .. } = call;
    if version >= GROUPS_FROM {
        fetch_many(api, body.groups, body.require_stable, reply);
    } else if version == 0 {
        fetch_from_zookeeper(api, body.group_id, wanted(body.topics).unwrap_or_default(), reply);
    } else {
        let topic_partitions = wanted(body.topics);
        let asked = topic_partitions.clone().unwrap_or_default();
        let request = FetchRequest {
            group: body.group_id.into(),
            topic_partitions,
            require_stable: body.require_stable,
        };
        api.groups.call(request, move |fetched| reply.send(&response_of_one(fetched, &asked, version)));
    }
}

/// Returns the partitions that are asked for; `None` for all.
fn wanted(topics: Option<Vec<OffsetFetchRequestTopic>>) -> Option<Vec<TopicPartition>> {
    let topics = topics?.into_iter();
    Some(topics.flat_map(|topic| partitions_of(topic.name, topic.partition_indexes)).collect())
}

fn response_of_one(fetched: FetchReply, asked: &[TopicPartition], version: i16) -> OffsetFetchResponse {
    let FetchReply { error, mut partitions } = fetched;
    if error != ErrorCode::None && version < GROUP_ERROR_FROM {
        partitions = asked.iter().map(|partition| failed(partition, error)).collect();
    }
    let topics = by_topic(partitions, |one| &one.topic_partition.topic).into_iter();
    let topics = topics.map(|(name, partitions)| OffsetFetchResponseTopic {
        name,
        partitions: partitions.into_iter().map(partition).collect(),
        ..OffsetFetchResponseTopic::default()
    });
    OffsetFetchResponse {
        topics: topics.collect(),
        error_code: error.code(),
        ..OffsetFetchResponse::default()
    }
}

fn partition(one: FetchedOffset) -> OffsetFetchResponsePartition {
    OffsetFetchResponsePartition {
        partition_index: one.topic_partition.partition,
        committed_offset: one.offset.0,
        committed_leader_epoch: one.leader_epoch.0,
        metadata: Some(one.metadata.to_string()),
        error_code: one.error.code(),
        ..OffsetFetchResponsePartition::default()
    }
}

fn failed(topic_partition: &TopicPartition, error: ErrorCode) -> FetchedOffset {
    FetchedOffset {
        topic_partition: topic_partition.clone(),
        error,
        offset: Offset::UNKNOWN,
        leader_epoch: LeaderEpoch::UNKNOWN,
        metadata: "".into(),
    }
}

fn fetch_many(
    api: &Arc<Api>,
    groups: Vec<OffsetFetchRequestGroup>,
    require_stable: bool,
    reply: Reply<OffsetFetchRequest>,
) {
    let gather = Gather::new(groups.len(), move |groups| {
        reply.send(&OffsetFetchResponse { groups, ..OffsetFetchResponse::default() });
    });
    for (index, asked) in groups.into_iter().enumerate() {
        let OffsetFetchRequestGroup { group_id, topics, .. } = asked;
        let topic_partitions = topics.map(|topics| {
            let topics = topics.into_iter();
            topics.flat_map(|topic| partitions_of(topic.name, topic.partition_indexes)).collect()
        });
        let request = FetchRequest { group: group_id.as_str().into(), topic_partitions, require_stable };
        let gather = Arc::clone(&gather);
        api.groups.call(request, move |fetched| gather.answer(index, group(group_id, fetched)));
    }
}

fn group(group_id: String, fetched: FetchReply) -> OffsetFetchResponseGroup {
    let topics = by_topic(fetched.partitions, |one| &one.topic_partition.topic).into_iter();
    let topics = topics.map(|(name, partitions)| OffsetFetchResponseTopics {
        name,
        partitions: partitions.into_iter().map(partition_of_group).collect(),
        ..OffsetFetchResponseTopics::default()
    });
    OffsetFetchResponseGroup {
        group_id,
        topics: topics.collect(),
        error_code: fetched.error.code(),
        ..OffsetFetchResponseGroup::default()
    }
}

fn partition_of_group(one: FetchedOffset) -> OffsetFetchResponsePartitions {
    OffsetFetchResponsePartitions {
        partition_index: one.topic_partition.partition,
        committed_offset: one.offset.0,
        committed_leader_epoch: one.leader_epoch.0,
        metadata: Some(one.metadata.to_string()),
        error_code: one.error.code(),
        ..OffsetFetchResponsePartitions::default()
    }
}

/// In ZooKeeper an offset that was never committed is an unknown partition to the client.
fn fetch_from_zookeeper(
    api: &Arc<Api>,
    group: String,
    asked: Vec<TopicPartition>,
    reply: Reply<OffsetFetchRequest>,
) {
    let cluster = api.metadata.load();
    let known = asked.iter().filter(|one| exists(&cluster, one)).cloned().collect();
    zookeeper_offsets::fetch(api, group, known, move |found| {
        let mut found = found.into_iter().peekable();
        let partitions = asked.iter().map(|one| {
            let of_one = found.next_if(|found| found.partition == *one);
            of_one.map_or_else(|| failed(one, ErrorCode::UnknownTopicOrPartition), from_zookeeper)
        });
        let fetched = FetchReply { error: ErrorCode::None, partitions: partitions.collect() };
        reply.send(&response_of_one(fetched, &asked, 0));
    });
}

fn from_zookeeper(found: Found) -> FetchedOffset {
    match found.offset {
        Ok(Some(offset)) => FetchedOffset { offset, ..failed(&found.partition, ErrorCode::None) },
        Ok(None) => failed(&found.partition, ErrorCode::UnknownTopicOrPartition),
        Err(error) => failed(&found.partition, error),
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::Message;
    use ottla_protocol::wire::Writer;

    use super::*;

    #[test]
    fn an_error_of_the_group_is_where_the_version_has_a_place_for_it() {
        let asked = [TopicPartition::new("t", 0), TopicPartition::new("t", 1)];
        let refused = || FetchReply { error: ErrorCode::NotCoordinator, partitions: vec![] };
        let old = response_of_one(refused(), &asked, 1);
        let codes: Vec<i16> = old.topics[0].partitions.iter().map(|partition| partition.error_code).collect();
        assert_eq!(codes, [16, 16]);
        let new = response_of_one(refused(), &asked, 2);
        assert_eq!((new.error_code, new.topics.len()), (16, 0));
    }

    #[test]
    fn every_answer_has_a_form_in_every_version() {
        let asked = [TopicPartition::new("t", 0)];
        for version in OffsetFetchResponse::VERSIONS {
            let fetched =
                FetchReply { error: ErrorCode::None, partitions: vec![failed(&asked[0], ErrorCode::None)] };
            let response = if version < GROUPS_FROM {
                response_of_one(fetched, &asked, version)
            } else {
                OffsetFetchResponse { groups: vec![group("g".to_owned(), fetched)], ..Default::default() }
            };
            assert!(response.encode(&mut Writer::new(), version).is_ok(), "{version}");
        }
    }
}
