//! What a fetch is answered, in each version of the response.

use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::fetch::{
    AbortedTransaction, EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint, PartitionData,
};
use ottla_protocol::message::{ErrorCode, FetchResponse};
use ottla_protocol::wire::{Records, Region};

use super::fetch_legacy::{magic_of, write_down};
use super::leaders::CurrentLeaders;
use crate::log::FetchedData;
use crate::replica::FetchOutcome;
use crate::replica::fetch_session::{FetchPartition, TopicKey};
use crate::types::{TopicPartition, topic_id_to_wire};

/// The first version whose clients know KAFKA_STORAGE_ERROR.
const STORAGE_ERROR_VERSION: i16 = 6;
/// The first version that is told who leads instead.
const CURRENT_LEADER_VERSION: i16 = 16;

/// A partition of a fetch with what became of it.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) wanted: FetchPartition,
    pub(super) outcome: FetchOutcome,
}

/// How a client reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// The version it asks in.
    pub(super) version: i16,
    /// Whether records may be written down for a client that knows only older formats.
    pub(super) converts: bool,
}

/// Builds the response. The records stay where they are, as regions of segment files, but for clients that know only
/// older formats.
pub(super) fn response(
    reading: Reading,
    session_id: i32,
    answered: Vec<Answered>,
    mut leaders: CurrentLeaders,
) -> FetchResponse {
    let mut responses: Vec<FetchableTopicResponse> = Vec::new();
    let mut last: Option<TopicKey> = None;
    for Answered { wanted, outcome } in answered {
        let outcome = in_form(reading, &wanted, outcome);
        let data = partition_data(reading.version, &wanted, outcome, &mut leaders);
        let topic = wanted.key.topic;
        match responses.last_mut().filter(|_| last.as_ref() == Some(&topic)) {
            Some(response) => response.partitions.push(data),
            None => responses.push(topic_response(&topic, data)),
        }
        last = Some(topic);
    }
    let node_endpoints = leaders.endpoints().map(|(id, endpoint, rack)| NodeEndpoint {
        node_id: id.0,
        host: endpoint.host,
        port: i32::from(endpoint.port),
        rack,
        ..NodeEndpoint::default()
    });
    FetchResponse {
        session_id,
        responses,
        node_endpoints: node_endpoints.collect(),
        ..FetchResponse::default()
    }
}

fn topic_response(topic: &TopicKey, data: PartitionData) -> FetchableTopicResponse {
    let (name, id) = match topic {
        TopicKey::Name(name) => (name.to_string(), None),
        TopicKey::Id(id) => (String::new(), Some(*id)),
    };
    FetchableTopicResponse {
        topic: name,
        topic_id: topic_id_to_wire(id),
        partitions: vec![data],
        ..FetchableTopicResponse::default()
    }
}

/// What is sent of a partition: its outcome with the records as the client understands them.
struct Sent {
    outcome: FetchOutcome,
    records: Records,
}

fn in_form(reading: Reading, wanted: &FetchPartition, mut outcome: FetchOutcome) -> Sent {
    let data = std::mem::take(&mut outcome.data);
    outcome.data.aborted_transactions.clone_from(&data.aborted_transactions);
    let written = match magic_of(reading.version).filter(|_| data.size > 0) {
        None => return Sent { outcome, records: records(data) },
        Some(_) if !reading.converts => Err(ErrorCode::UnsupportedVersion),
        Some(magic) => write_down(&data, magic, wanted.fetch_offset),
    };
    match written {
        Ok(written) => Sent { outcome, records: Records::Bytes(written) },
        Err(error) => Sent { outcome: FetchOutcome::failed(error), records: records(FetchedData::default()) },
    }
}

fn partition_data(
    version: i16,
    wanted: &FetchPartition,
    Sent { outcome, records }: Sent,
    leaders: &mut CurrentLeaders,
) -> PartitionData {
    let error = match outcome.error {
        ErrorCode::KafkaStorageError if version < STORAGE_ERROR_VERSION => ErrorCode::NotLeaderOrFollower,
        error => error,
    };
    let diverging = outcome.diverging.map(|end| EpochEndOffset {
        epoch: end.epoch.0,
        end_offset: end.end.0,
        ..EpochEndOffset::default()
    });
    PartitionData {
        partition_index: wanted.key.partition,
        error_code: error.code(),
        high_watermark: outcome.high_watermark.0,
        last_stable_offset: outcome.last_stable_offset.0,
        log_start_offset: outcome.log_start_offset.0,
        diverging_epoch: diverging.unwrap_or_default(),
        current_leader: current_leader(version, wanted, error, leaders).unwrap_or_default(),
        aborted_transactions: aborted(&outcome.data),
        records,
        ..PartitionData::default()
    }
}

fn current_leader(
    version: i16,
    wanted: &FetchPartition,
    error: ErrorCode,
    leaders: &mut CurrentLeaders,
) -> Option<LeaderIdAndEpoch> {
    let moved = matches!(error, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch);
    if !moved || version < CURRENT_LEADER_VERSION {
        return None;
    }
    let id = TopicPartition::new(Arc::clone(wanted.topic.as_ref()?), wanted.key.partition);
    let (leader, epoch) = leaders.of(&id)?;
    Some(LeaderIdAndEpoch { leader_id: leader.0, leader_epoch: epoch.0, ..LeaderIdAndEpoch::default() })
}

fn aborted(data: &FetchedData) -> Option<Vec<AbortedTransaction>> {
    let transactions = data.aborted_transactions.as_ref()?;
    let told = transactions.iter().map(|aborted| AbortedTransaction {
        producer_id: aborted.producer_id,
        first_offset: aborted.first_offset.0,
        ..AbortedTransaction::default()
    });
    Some(told.collect())
}

/// Nothing to read is an empty set, not null: clients before the null was allowed stop at it.
fn records(data: FetchedData) -> Records {
    if data.regions.is_empty() {
        return Records::Bytes(Bytes::new());
    }
    Records::Regions(data.regions.into_iter().map(|region| region as Arc<dyn Region>).collect())
}
