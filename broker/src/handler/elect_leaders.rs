//! ElectLeaders: preferred leaders, or at the price of records any.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::elect_leaders::{PartitionResult, ReplicaElectionResult};
use ottla_protocol::message::{ElectLeadersRequest, ElectLeadersResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use super::partitions_by_topic::by_topic;
use crate::controller::machine::{ElectionKind, Reply, Request};
use crate::metadata::ClusterSnapshot;
use crate::types::{BrokerId, TopicPartition};

type Results = Vec<(TopicPartition, Result<BrokerId, ErrorCode>)>;

pub(super) fn handle(api: &Arc<Api>, call: Call<ElectLeadersRequest>) {
    let Call { body, reply, .. } = call;
    let partitions = body.topic_partitions.map(|topics| {
        let names = topics.into_iter().flat_map(|topic| {
            let name: Arc<str> = Arc::from(topic.topic);
            topic.partitions.into_iter().map(move |number| TopicPartition::new(Arc::clone(&name), number))
        });
        names.collect::<Vec<_>>()
    });
    // Version 0 has no type and means the preferred leaders, whose number is 0.
    let kind = match body.election_type {
        0 => ElectionKind::Preferred,
        1 => ElectionKind::Unclean,
        _ => {
            reply.send(&refused(partitions, ErrorCode::InvalidRequest));
            return;
        }
    };
    let wait = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    let metadata = Arc::clone(&api.metadata);
    let asked = partitions.clone();
    api.controller.ask(Request::ElectLeaders { kind, partitions }, move |answer| match answer {
        Reply::ElectLeaders(results) => {
            let elected = results.clone();
            let known = move |snapshot: &ClusterSnapshot| all_known(snapshot, &elected);
            metadata.wait_until(wait, known, {
                let metadata = Arc::clone(&metadata);
                move |_| reply.send(&response(results, &metadata.load()))
            });
        }
        Reply::Refused(error) => reply.send(&refused(asked, error)),
        _ => reply.send(&refused(asked, ErrorCode::UnknownServerError)),
    });
}

fn is_known(snapshot: &ClusterSnapshot, name: &TopicPartition, leader: BrokerId) -> bool {
    let topic = snapshot.topic(&name.topic);
    topic.and_then(|topic| topic.partitions.get(&name.partition)).is_some_and(|it| it.leader == leader)
}

fn all_known(snapshot: &ClusterSnapshot, results: &Results) -> bool {
    results
        .iter()
        .all(|(name, result)| result.is_err() || result.is_ok_and(|it| is_known(snapshot, name, it)))
}

fn refused(partitions: Option<Vec<TopicPartition>>, error: ErrorCode) -> ElectLeadersResponse {
    let results = partitions.into_iter().flatten().map(|name| (name, Err(error))).collect();
    let each = response(results, &ClusterSnapshot::default());
    ElectLeadersResponse { error_code: error.code(), ..each }
}

/// A leader that is elected and not known here yet when time is up is an expired wait.
fn response(results: Results, snapshot: &ClusterSnapshot) -> ElectLeadersResponse {
    let results = results.into_iter().map(|(name, result)| {
        let error = match result {
            Ok(leader) if is_known(snapshot, &name, leader) => ErrorCode::None,
            Ok(_) => ErrorCode::RequestTimedOut,
            Err(error) => error,
        };
        (name, error)
    });
    let partition = |(partition_id, error): (i32, ErrorCode)| PartitionResult {
        partition_id,
        error_code: error.code(),
        error_message: (error != ErrorCode::None).then(|| error.name().to_owned()),
        ..PartitionResult::default()
    };
    let topic = |(topic, partitions): (String, Vec<(i32, ErrorCode)>)| ReplicaElectionResult {
        topic,
        partition_result: partitions.into_iter().map(partition).collect(),
        ..ReplicaElectionResult::default()
    };
    ElectLeadersResponse {
        replica_election_results: by_topic(results).into_iter().map(topic).collect(),
        ..ElectLeadersResponse::default()
    }
}
