//! Produce: records for partitions that this broker leads.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ottla_protocol::message::produce::{
    LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse, TopicProduceResponse,
};
use ottla_protocol::message::{ErrorCode, ProduceRequest, ProduceResponse};

use super::api::Api;
use super::call::{Call, Reply};
use super::leaders::CurrentLeaders;
use crate::log::Origin;
use crate::metadata::is_internal_topic;
use crate::replica::ProduceOutcome;
use crate::replica::machine::Acks;
use crate::types::TopicPartition;

/// The client that may write to internal topics, as in Kafka's own tools.
const ADMIN_CLIENT: &str = "__admin_client";
/// The first version that knows batches of magic 2, and nothing else.
const BATCH_VERSION: i16 = 3;
/// The first version whose clients know zstd.
const ZSTD_VERSION: i16 = 7;
/// The first version that is told who leads instead.
const CURRENT_LEADER_VERSION: i16 = 10;
/// Where a batch of magic 2 says which codec it uses: the low byte of its attributes.
const ATTRIBUTES_AT: usize = 22;
const MAGIC_AT: usize = 16;
const CODEC_MASK: u8 = 0x07;
const ZSTD: u8 = 4;

/// The outcome of each partition in the order of the request; `None` while the replica manager has it.
type Slots = Vec<(TopicPartition, Option<ProduceOutcome>)>;

pub(super) fn handle(api: &Arc<Api>, call: Call<ProduceRequest>) {
    let Call { body, version, client_id, connection, reply } = call;
    let acks = Acks::from_wire(body.acks);
    let timeout = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    let mut slots = Slots::new();
    let mut batches = Vec::new();
    for topic in body.topic_data {
        let name: Arc<str> = Arc::from(topic.name);
        for partition in topic.partition_data {
            let id = TopicPartition::new(Arc::clone(&name), partition.index);
            let checked = acks.and_then(|_| check(&name, partition.records, version, &client_id));
            match checked {
                Ok(records) => {
                    batches.push((id.clone(), records));
                    slots.push((id, None));
                }
                Err(error) => slots.push((id, Some(ProduceOutcome::failed(error, None)))),
            }
        }
    }
    let leaders = CurrentLeaders::new(api.metadata.load(), Arc::clone(&connection.listener));
    // With acks that nobody knows no batch is left to append.
    let acks = acks.unwrap_or(Acks::Leader);
    let complete = move |outcomes: Vec<(TopicPartition, ProduceOutcome)>| {
        answer(reply, version, acks, merge(slots, outcomes), leaders);
    };
    api.replicas.append(acks, timeout, batches, Origin::Client, Box::new(complete));
}

/// Checks what can be said without a log.
fn check(topic: &str, records: Option<Bytes>, version: i16, client_id: &str) -> Result<Bytes, ErrorCode> {
    if is_internal_topic(topic) && client_id != ADMIN_CLIENT {
        return Err(ErrorCode::InvalidTopicException);
    }
    let records = records.filter(|records| !records.is_empty()).ok_or(ErrorCode::InvalidRecord)?;
    let magic = records.get(MAGIC_AT).copied();
    if version >= BATCH_VERSION && magic.is_some_and(|magic| magic != 2) {
        return Err(ErrorCode::InvalidRecord);
    }
    let codec = records.get(ATTRIBUTES_AT).map(|attributes| attributes & CODEC_MASK);
    if version < ZSTD_VERSION && magic == Some(2) && codec == Some(ZSTD) {
        return Err(ErrorCode::UnsupportedCompressionType);
    }
    Ok(records)
}

/// Puts what the replica manager answered, in the order in which it was asked, into its slots.
fn merge(
    slots: Slots,
    outcomes: Vec<(TopicPartition, ProduceOutcome)>,
) -> Vec<(TopicPartition, ProduceOutcome)> {
    let mut outcomes = outcomes.into_iter().map(|(_, outcome)| outcome);
    let unknown = || ProduceOutcome::failed(ErrorCode::UnknownServerError, None);
    let filled = slots.into_iter().map(|(id, slot)| {
        let outcome = slot.or_else(|| outcomes.next()).unwrap_or_else(unknown);
        (id, outcome)
    });
    filled.collect()
}

fn answer(
    reply: Reply<ProduceRequest>,
    version: i16,
    acks: Acks,
    outcomes: Vec<(TopicPartition, ProduceOutcome)>,
    mut leaders: CurrentLeaders,
) {
    if acks == Acks::None {
        // There is no answer that could carry an error: closing makes the client look for the leader again.
        if outcomes.iter().any(|(_, outcome)| outcome.error != ErrorCode::None) {
            reply.close();
        } else {
            reply.nothing();
        }
        return;
    }
    let mut responses: Vec<TopicProduceResponse> = Vec::new();
    for (id, outcome) in outcomes {
        let partition = partition_response(&id, outcome, version, &mut leaders);
        match responses.last_mut().filter(|topic| topic.name == *id.topic) {
            Some(topic) => topic.partition_responses.push(partition),
            None => responses.push(TopicProduceResponse {
                name: id.topic.to_string(),
                partition_responses: vec![partition],
                ..TopicProduceResponse::default()
            }),
        }
    }
    let node_endpoints = leaders.endpoints().map(|(id, endpoint, rack)| NodeEndpoint {
        node_id: id.0,
        host: endpoint.host,
        port: i32::from(endpoint.port),
        rack,
        ..NodeEndpoint::default()
    });
    let node_endpoints = node_endpoints.collect();
    reply.send(&ProduceResponse { responses, node_endpoints, ..ProduceResponse::default() });
}

fn partition_response(
    id: &TopicPartition,
    outcome: ProduceOutcome,
    version: i16,
    leaders: &mut CurrentLeaders,
) -> PartitionProduceResponse {
    let tells_leader = outcome.error == ErrorCode::NotLeaderOrFollower && version >= CURRENT_LEADER_VERSION;
    let current_leader = tells_leader.then(|| leaders.of(id)).flatten().map(|(leader, epoch)| {
        LeaderIdAndEpoch { leader_id: leader.0, leader_epoch: epoch.0, ..LeaderIdAndEpoch::default() }
    });
    PartitionProduceResponse {
        index: id.partition,
        error_code: outcome.error.code(),
        base_offset: outcome.base_offset.0,
        log_append_time_ms: outcome.log_append_time_ms,
        log_start_offset: outcome.log_start_offset.0,
        error_message: outcome.message,
        current_leader: current_leader.unwrap_or_default(),
        ..PartitionProduceResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(magic: u8, codec: u8) -> Option<Bytes> {
        let mut bytes = vec![0; 61];
        (bytes[MAGIC_AT], bytes[ATTRIBUTES_AT]) = (magic, codec);
        Some(Bytes::from(bytes))
    }

    #[test]
    fn records_are_checked_by_version() {
        for (name, topic, records, version, client, expected) in [
            ("a batch", "orders", batch(2, 0), 9, "c", Ok(())),
            ("nothing", "orders", None, 9, "c", Err(ErrorCode::InvalidRecord)),
            ("no bytes", "orders", Some(Bytes::new()), 9, "c", Err(ErrorCode::InvalidRecord)),
            ("an old set in a new request", "orders", batch(1, 0), 3, "c", Err(ErrorCode::InvalidRecord)),
            ("an old set in an old request", "orders", batch(1, 0), 2, "c", Ok(())),
            ("zstd too early", "orders", batch(2, 4), 6, "c", Err(ErrorCode::UnsupportedCompressionType)),
            ("zstd", "orders", batch(2, 4), 7, "c", Ok(())),
            (
                "an internal topic",
                "__consumer_offsets",
                batch(2, 0),
                9,
                "c",
                Err(ErrorCode::InvalidTopicException),
            ),
            ("by the admin client", "__consumer_offsets", batch(2, 0), 9, ADMIN_CLIENT, Ok(())),
        ] {
            assert_eq!(check(topic, records, version, client).map(drop), expected, "{name}");
        }
    }

    #[test]
    fn outcomes_go_to_their_slots() {
        let id = |number| TopicPartition::new("orders", number);
        let failed = |error| ProduceOutcome::failed(error, None);
        let slots = vec![(id(0), None), (id(1), Some(failed(ErrorCode::InvalidRecord))), (id(2), None)];
        let answered =
            vec![(id(0), failed(ErrorCode::None)), (id(2), failed(ErrorCode::NotLeaderOrFollower))];
        let merged = merge(slots, answered);
        let errors: Vec<_> = merged.iter().map(|(id, outcome)| (id.partition, outcome.error)).collect();
        assert_eq!(
            errors,
            [(0, ErrorCode::None), (1, ErrorCode::InvalidRecord), (2, ErrorCode::NotLeaderOrFollower)]
        );
    }
}
