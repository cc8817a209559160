//! Fetch: records of partitions, for consumers and followers.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::fetch as wire;
use ottla_protocol::message::{ErrorCode, FetchRequest, FetchResponse};
use uuid::Uuid;

use super::api::Api;
use super::call::{Call, Reply};
use super::fetch_answer::{Answered, Reading, response};
use super::leaders::CurrentLeaders;
use crate::metadata::ClusterSnapshot;
use crate::replica::fetch_session::{
    AnswerSummary, FetchKey, FetchPartition, FetchPlan, PlanKind, SessionRequest, TopicKey,
};
use crate::replica::{FetchOutcome, FetchParams, FetchSessionCache, Reader};
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset, topic_id_of_wire};

/// The first version that names topics by id.
const TOPIC_ID_VERSION: i16 = 13;
/// The first version in which a follower names itself in a structure of its own.
const REPLICA_STATE_VERSION: i16 = 15;
/// The first version whose consumers may read from followers (KIP-392).
const ANY_REPLICA_VERSION: i16 = 11;
/// The first version that takes a batch larger than its limits rather than nothing.
const WHOLE_BATCH_VERSION: i16 = 3;
/// A consumer that looks for mistakes: reads any replica to its end.
const DEBUGGING_REPLICA: i32 = -2;
const READ_COMMITTED: i8 = 1;

pub(super) fn handle(api: &Arc<Api>, mut call: Call<FetchRequest>) {
    let snapshot = api.metadata.load();
    let params = params(api, &call.body, call.version);
    let kind = if params.replica.is_some() { "FetchFollower" } else { "FetchConsumer" };
    call.reply.count_as(api.net.kind(kind));
    let Call { body, version, connection, reply, .. } = call;
    let now = api.replicas.now();
    let request = session_request(body, version, &snapshot, params.replica.is_some());
    let plan = match api.fetch_sessions.begin(now, request) {
        Ok(plan) => plan,
        Err(error) => {
            reply.send(&FetchResponse { error_code: error.code(), ..FetchResponse::default() });
            return;
        }
    };
    let FetchPlan { kind, mut partitions } = plan;
    resolve(&mut partitions, &snapshot);
    let answer = Answer {
        reply,
        reading: Reading { version, converts: api.config.current().log_message_downconversion_enable },
        kind,
        partitions: partitions.clone(),
        leaders: CurrentLeaders::new(snapshot, Arc::clone(&connection.listener)),
        sessions: Arc::clone(&api.fetch_sessions),
        now,
    };
    api.replicas.fetch(params, partitions, Box::new(move |outcomes| answer.send(outcomes)));
}

fn params(api: &Api, request: &FetchRequest, version: i16) -> FetchParams {
    let replica_id =
        if version >= REPLICA_STATE_VERSION { request.replica_state.replica_id } else { request.replica_id };
    let replica = (replica_id >= 0).then_some(BrokerId(replica_id));
    let reader = match replica {
        Some(_) => Reader::Follower,
        None if replica_id == DEBUGGING_REPLICA => Reader::Follower,
        None if request.isolation_level == READ_COMMITTED => Reader::CommittedConsumer,
        None => Reader::Consumer,
    };
    let limit = if replica.is_some() { i32::MAX } else { api.config.current().fetch_max_bytes };
    let max_bytes = request.max_bytes.min(limit).max(0);
    let is_debugging = replica_id == DEBUGGING_REPLICA;
    FetchParams {
        replica,
        reader,
        leader_only: replica.is_some() || (version < ANY_REPLICA_VERSION && !is_debugging),
        max_wait: Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0)),
        min_bytes: usize::try_from(request.min_bytes.min(max_bytes)).unwrap_or(0),
        max_bytes: u32::try_from(max_bytes).unwrap_or(0),
        at_least_one_batch: version >= WHOLE_BATCH_VERSION,
    }
}

fn session_request(
    request: FetchRequest,
    version: i16,
    snapshot: &ClusterSnapshot,
    is_follower: bool,
) -> SessionRequest {
    let uses_topic_ids = version >= TOPIC_ID_VERSION;
    let mut partitions = Vec::new();
    for topic in request.topics {
        let key = topic_key(&topic.topic, topic.topic_id, uses_topic_ids);
        let name = topic_name(&key, snapshot);
        let wanted = topic.partitions.into_iter();
        partitions.extend(wanted.map(|partition| wanted_partition(&key, name.as_ref(), &partition)));
    }
    let mut forgotten = Vec::new();
    for topic in request.forgotten_topics_data {
        let key = topic_key(&topic.topic, topic.topic_id, uses_topic_ids);
        let numbers = topic.partitions.into_iter();
        forgotten.extend(numbers.map(|partition| FetchKey { topic: key.clone(), partition }));
    }
    SessionRequest {
        id: request.session_id,
        epoch: request.session_epoch,
        is_follower,
        uses_topic_ids,
        partitions,
        forgotten,
    }
}

fn topic_key(name: &str, id: ottla_protocol::wire::Uuid, uses_topic_ids: bool) -> TopicKey {
    if uses_topic_ids {
        TopicKey::Id(topic_id_of_wire(id).unwrap_or(Uuid::nil()))
    } else {
        TopicKey::Name(Arc::from(name))
    }
}

fn topic_name(key: &TopicKey, snapshot: &ClusterSnapshot) -> Option<Arc<str>> {
    match key {
        TopicKey::Name(name) => Some(Arc::clone(name)),
        TopicKey::Id(id) => snapshot.topic_name(*id).cloned(),
    }
}

fn wanted_partition(
    topic: &TopicKey,
    name: Option<&Arc<str>>,
    partition: &wire::FetchPartition,
) -> FetchPartition {
    let epoch = |epoch: i32| (epoch >= 0).then_some(LeaderEpoch(epoch));
    FetchPartition {
        key: FetchKey { topic: topic.clone(), partition: partition.partition },
        topic: name.cloned(),
        fetch_offset: Offset(partition.fetch_offset),
        current_leader_epoch: epoch(partition.current_leader_epoch),
        last_fetched_epoch: epoch(partition.last_fetched_epoch),
        log_start: Offset(partition.log_start_offset),
        max_bytes: partition.partition_max_bytes,
    }
}

/// Looks again for names of topics that a session knows by an id that was unknown here when it came.
fn resolve(partitions: &mut [FetchPartition], snapshot: &ClusterSnapshot) {
    for partition in partitions.iter_mut().filter(|partition| partition.topic.is_none()) {
        partition.topic = topic_name(&partition.key.topic, snapshot);
    }
}

/// The way back of a fetch, kept while it waits.
struct Answer {
    reply: Reply<FetchRequest>,
    reading: Reading,
    kind: PlanKind,
    partitions: Vec<FetchPartition>,
    leaders: CurrentLeaders,
    sessions: Arc<FetchSessionCache>,
    now: Millis,
}

impl Answer {
    fn send(self, outcomes: Vec<FetchOutcome>) {
        let Self { reply, reading, kind, partitions, leaders, sessions, now } = self;
        let mut answered: Vec<Answered> = partitions
            .into_iter()
            .zip(outcomes)
            .map(|(wanted, outcome)| Answered { wanted, outcome })
            .collect();
        let session_id = match kind {
            PlanKind::Sessionless => 0,
            PlanKind::Full { is_follower, uses_topic_ids } => {
                let remembered = answered.iter().map(|one| (one.wanted.clone(), summary(&one.outcome)));
                sessions.open(now, (is_follower, uses_topic_ids), remembered.collect())
            }
            PlanKind::Incremental { id } => {
                let summaries: Vec<_> =
                    answered.iter().map(|one| (one.wanted.key.clone(), summary(&one.outcome))).collect();
                let mut is_news = sessions.answer(id, &summaries).into_iter();
                answered.retain(|_| is_news.next().unwrap_or(true));
                id
            }
        };
        reply.send(&response(reading, session_id, answered, leaders));
    }
}

fn summary(outcome: &FetchOutcome) -> AnswerSummary {
    AnswerSummary {
        has_records: outcome.data.size > 0,
        is_special: outcome.error != ErrorCode::None || outcome.diverging.is_some(),
        high_watermark: outcome.high_watermark,
        log_start: outcome.log_start_offset,
    }
}
