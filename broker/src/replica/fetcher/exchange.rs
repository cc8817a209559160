//! The messages between a fetcher and its leader.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ottla_protocol::message::fetch::{
    FetchPartition, FetchTopic, ForgottenTopic, PartitionData, ReplicaState,
};
use ottla_protocol::message::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use ottla_protocol::message::{ErrorCode, FetchRequest, FetchResponse, ListOffsetsRequest};
use ottla_protocol::wire::Records;
use uuid::Uuid;

use super::apply::Fetched;
use super::session::{ClientSession, Delta, Wanted};
use crate::client::Connection;
use crate::replica::inter_broker::Error;
use crate::replica::machine::{EpochEnd, Event, FetchAnswer};
use crate::replica::manager::{ReplicaManager, Wake};
use crate::types::{LeaderEpoch, Offset, TopicPartition, topic_id_of_wire, topic_id_to_wire};

/// Topics by id.
const FETCH_VERSION: i16 = 17;
/// The last version with topics by name: for topics that have no id.
const FETCH_VERSION_BY_NAME: i16 = 12;
const LIST_OFFSETS_VERSION: i16 = 9;
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// What a leader answered, by partition.
pub(super) type Exchange = Vec<(TopicPartition, Fetched)>;

/// Sends a fetch and waits for its answer, for which the leader may wait `at_most` so long.
pub(super) async fn fetch(
    manager: &ReplicaManager,
    connection: &mut Connection,
    session: &mut ClientSession,
    wanted: BTreeMap<TopicPartition, Wanted>,
    at_most: Option<Duration>,
) -> Result<Exchange, Error> {
    let uses_topic_ids = wanted.values().all(|wanted| wanted.topic_id.is_some());
    let version = if uses_topic_ids { FETCH_VERSION } else { FETCH_VERSION_BY_NAME };
    let delta = session.next(wanted, uses_topic_ids);
    let mut request = request(manager, delta, uses_topic_ids);
    if let Some(at_most) = at_most {
        request.max_wait_ms = request.max_wait_ms.min(i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX));
    }
    let response = connection.call(&request, version).await?;
    match ErrorCode::from_code(response.error_code) {
        ErrorCode::None => {}
        ErrorCode::FetchSessionIdNotFound
        | ErrorCode::InvalidFetchSessionEpoch
        | ErrorCode::FetchSessionTopicIdError => {
            session.reset();
            return Ok(Exchange::new());
        }
        error => return Err(Error::Refused(error)),
    }
    session.answered(response.session_id);
    Ok(answers(session.sent(), response))
}

fn request(manager: &ReplicaManager, delta: Delta, uses_topic_ids: bool) -> FetchRequest {
    let options = &manager.options.fetcher;
    let replica_id = manager.options.broker_id.0;
    let replica_epoch = (manager.dependencies.broker_epoch)().0;
    FetchRequest {
        // Each version sends the one that it has.
        replica_id: if uses_topic_ids { -1 } else { replica_id },
        replica_state: if uses_topic_ids {
            ReplicaState { replica_id, replica_epoch, ..ReplicaState::default() }
        } else {
            ReplicaState::default()
        },
        max_wait_ms: options.max_wait_ms,
        min_bytes: options.min_bytes,
        max_bytes: options.response_max_bytes,
        session_id: delta.id,
        session_epoch: delta.epoch,
        topics: topics(delta.partitions, options.partition_max_bytes),
        forgotten_topics_data: forgotten(delta.forgotten),
        ..FetchRequest::default()
    }
}

/// Puts the partitions of a topic together. They come in order of their names.
fn topics(partitions: Vec<(TopicPartition, Wanted)>, partition_max_bytes: i32) -> Vec<FetchTopic> {
    let mut topics: Vec<FetchTopic> = Vec::new();
    for (id, wanted) in partitions {
        let position = wanted.position;
        let partition = FetchPartition {
            partition: id.partition,
            current_leader_epoch: position.leader_epoch.0,
            fetch_offset: position.fetch_offset.0,
            last_fetched_epoch: position.last_fetched_epoch.map_or(-1, |epoch| epoch.0),
            log_start_offset: position.log_start.0,
            partition_max_bytes,
            ..FetchPartition::default()
        };
        match topics.last_mut().filter(|topic| topic.topic == *id.topic) {
            Some(topic) => topic.partitions.push(partition),
            None => topics.push(FetchTopic {
                topic: id.topic.to_string(),
                topic_id: topic_id_to_wire(wanted.topic_id),
                partitions: vec![partition],
                ..FetchTopic::default()
            }),
        }
    }
    topics
}

fn forgotten(partitions: Vec<(TopicPartition, Wanted)>) -> Vec<ForgottenTopic> {
    let mut topics: Vec<ForgottenTopic> = Vec::new();
    for (id, wanted) in partitions {
        match topics.last_mut().filter(|topic| topic.topic == *id.topic) {
            Some(topic) => topic.partitions.push(id.partition),
            None => topics.push(ForgottenTopic {
                topic: id.topic.to_string(),
                topic_id: topic_id_to_wire(wanted.topic_id),
                partitions: vec![id.partition],
                ..ForgottenTopic::default()
            }),
        }
    }
    topics
}

fn answers(sent: &BTreeMap<TopicPartition, Wanted>, response: FetchResponse) -> Exchange {
    let by_id: BTreeMap<Uuid, &Arc<str>> =
        sent.iter().filter_map(|(id, wanted)| Some((wanted.topic_id?, &id.topic))).collect();
    let mut exchange = Exchange::new();
    for topic in response.responses {
        let name: Arc<str> = match topic_id_of_wire(topic.topic_id) {
            Some(id) => match by_id.get(&id) {
                Some(name) => Arc::clone(name),
                None => continue,
            },
            None => Arc::from(topic.topic.as_str()),
        };
        for data in topic.partitions {
            let id = TopicPartition::new(Arc::clone(&name), data.partition_index);
            if let Some(wanted) = sent.get(&id) {
                exchange.push((id, fetched(*wanted, data)));
            }
        }
    }
    exchange
}

fn fetched(wanted: Wanted, data: PartitionData) -> Fetched {
    let records = match data.records {
        Records::Bytes(bytes) => bytes,
        Records::Null | Records::Regions(_) => Bytes::new(),
    };
    let error = ErrorCode::from_code(data.error_code);
    let diverging = &data.diverging_epoch;
    let answer = if error != ErrorCode::None {
        FetchAnswer::Refused(error)
    } else if diverging.epoch >= 0 {
        let leader = EpochEnd { epoch: LeaderEpoch(diverging.epoch), end: Offset(diverging.end_offset) };
        FetchAnswer::Diverging { leader, local: None }
    } else {
        FetchAnswer::Records {
            any: !records.is_empty(),
            high_watermark: Offset(data.high_watermark),
            log_start: Offset(data.log_start_offset),
        }
    };
    Fetched { position: wanted.position, answer, records }
}

/// Applies what a leader answered. Returns the partitions whose fetch offset is outside of the leader's log, with the
/// epoch to ask in.
pub(super) fn apply(manager: &ReplicaManager, exchange: Exchange) -> Vec<(TopicPartition, LeaderEpoch)> {
    let mut wake = Wake::default();
    let mut outside = Vec::new();
    for (id, fetched) in exchange {
        let Some(partition) = manager.get(&id) else { continue };
        if let Some(leader_epoch) = manager.apply_fetched(&partition, fetched, &mut wake) {
            outside.push((id, leader_epoch));
        }
    }
    manager.wake(wake);
    outside
}

/// Asks the leader where its logs begin and end, and tells the partitions.
pub(super) async fn ask_leader_offsets(
    manager: &ReplicaManager,
    connection: &mut Connection,
    partitions: Vec<(TopicPartition, LeaderEpoch)>,
) -> Result<(), Error> {
    let outcome = async {
        let ends = list_offsets(manager, connection, &partitions, LATEST).await?;
        let starts = list_offsets(manager, connection, &partitions, EARLIEST).await?;
        Ok((starts, ends))
    };
    let outcome: Result<_, Error> = outcome.await;
    for (id, leader_epoch) in partitions {
        let Some(partition) = manager.get(&id) else { continue };
        let offsets = match &outcome {
            Ok((starts, ends)) => both(starts.get(&id), ends.get(&id)),
            Err(_) => Err(ErrorCode::NetworkException),
        };
        manager.apply_leader_offsets(&partition, Event::LeaderOffsets { leader_epoch, offsets });
    }
    outcome.map(drop)
}

type Offsets = BTreeMap<TopicPartition, Result<Offset, ErrorCode>>;

fn both(
    start: Option<&Result<Offset, ErrorCode>>,
    end: Option<&Result<Offset, ErrorCode>>,
) -> Result<(Offset, Offset), ErrorCode> {
    match (start, end) {
        (Some(start), Some(end)) => Ok(((*start)?, (*end)?)),
        _ => Err(ErrorCode::UnknownTopicOrPartition),
    }
}

async fn list_offsets(
    manager: &ReplicaManager,
    connection: &mut Connection,
    partitions: &[(TopicPartition, LeaderEpoch)],
    timestamp: i64,
) -> Result<Offsets, Error> {
    let topics = partitions.iter().map(|(id, leader_epoch)| ListOffsetsTopic {
        name: id.topic.to_string(),
        partitions: vec![ListOffsetsPartition {
            partition_index: id.partition,
            current_leader_epoch: leader_epoch.0,
            timestamp,
            ..ListOffsetsPartition::default()
        }],
        ..ListOffsetsTopic::default()
    });
    let request = ListOffsetsRequest {
        replica_id: manager.options.broker_id.0,
        topics: topics.collect(),
        ..ListOffsetsRequest::default()
    };
    let response = connection.call(&request, LIST_OFFSETS_VERSION).await?;
    let mut offsets = Offsets::new();
    for topic in response.topics {
        for found in topic.partitions {
            let id = TopicPartition::new(topic.name.as_str(), found.partition_index);
            let offset = match ErrorCode::from_code(found.error_code) {
                ErrorCode::None => Ok(Offset(found.offset)),
                error => Err(error),
            };
            offsets.insert(id, offset);
        }
    }
    Ok(offsets)
}
