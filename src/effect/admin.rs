//! Topics and leaderships: requests to the controller in Kafka's protocol, which any Kafka understands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_broker::types::{BrokerId, TopicPartition};
use ottla_protocol::message::alter_partition_reassignments::{ReassignablePartition, ReassignableTopic};
use ottla_protocol::message::create_topics::{CreatableTopic, CreatableTopicConfig};
use ottla_protocol::message::delete_topics::DeleteTopicState;
use ottla_protocol::message::elect_leaders::TopicPartitions;
use ottla_protocol::message::{
    AlterPartitionReassignmentsRequest, CreateTopicsRequest, DeleteTopicsRequest, ElectLeadersRequest,
    ElectLeadersResponse, ErrorCode, Request,
};
use tokio::sync::watch;

use crate::action::Command;
use crate::source::ClusterMap;

/// How long the controller may take.
const TIMEOUT_MS: i32 = 15_000;
/// A controller may have just moved.
const ATTEMPTS_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);
const PREFERRED: i8 = 0;

/// What became of a command: words for the operator either way.
type Outcome = Result<String, String>;

/// Sends what a command asks for and says what came of it.
pub(super) async fn perform(command: &Command, map: &watch::Receiver<Arc<ClusterMap>>) -> Outcome {
    match command {
        Command::CreateTopic { name, partitions, replication_factor, configs } => {
            create(map, name, *partitions, *replication_factor, configs).await
        }
        Command::DeleteTopic { name } => delete(map, name).await,
        Command::MoveLeadership { partition, to } => move_leadership(map, partition, *to).await,
        Command::ElectPreferred { partitions } => elect(map, partitions).await,
        Command::Broker { .. } | Command::Zookeeper(_) | Command::Load(_) => {
            Err("not a request to the controller".to_owned())
        }
    }
}

/// Finds the controller, asks, and asks again where it has moved to. `refused` tells an answer by which broker it is not
/// the controller any more.
async fn ask<R: Request>(
    map: &watch::Receiver<Arc<ClusterMap>>,
    request: &R,
    refused: impl Fn(&R::Response) -> bool,
) -> Result<R::Response, String> {
    let mut why = "there is no controller at the moment".to_owned();
    for _ in 0..ATTEMPTS_MAX {
        let known = Arc::clone(&map.borrow());
        let address = known.controller.and_then(|controller| known.brokers.get(&controller));
        match address {
            Some(address) => match call(address, request).await {
                Ok(response) if refused(&response) => why = format!("{address} is no longer the controller"),
                Ok(response) => return Ok(response),
                Err(error) => why = error.to_string(),
            },
            None => "there is no controller at the moment".clone_into(&mut why),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(why)
}

async fn call<R: Request>(address: &str, request: &R) -> Result<R::Response, ottla_broker::client::Error> {
    let options = ConnectOptions { client_id: "ottla-console".to_owned(), ..ConnectOptions::default() };
    let mut connection = Connection::connect(address, options).await?;
    connection.negotiate().await?;
    connection.call_highest(request).await
}

fn is_not_controller(code: i16) -> bool {
    code == ErrorCode::NotController.code()
}

/// Says an error code in words, with what the broker adds.
fn words(code: i16, message: Option<&String>) -> String {
    let name = ErrorCode::from_code(code);
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{message} ({})", name.name()),
        None => name.to_string(),
    }
}

async fn create(
    map: &watch::Receiver<Arc<ClusterMap>>,
    name: &str,
    partitions: i32,
    replication_factor: i16,
    configs: &BTreeMap<String, String>,
) -> Outcome {
    let configs = configs.iter().map(|(key, value)| CreatableTopicConfig {
        name: key.clone(),
        value: Some(value.clone()),
        ..CreatableTopicConfig::default()
    });
    let topic = CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor,
        configs: configs.collect(),
        ..CreatableTopic::default()
    };
    let request =
        CreateTopicsRequest { topics: vec![topic], timeout_ms: TIMEOUT_MS, ..CreateTopicsRequest::default() };
    let answer =
        ask(map, &request, |answer| answer.topics.iter().any(|topic| is_not_controller(topic.error_code)))
            .await?;
    match answer.topics.first() {
        Some(topic) if topic.error_code == ErrorCode::None.code() => Ok(format!("topic {name} created")),
        Some(topic) => Err(words(topic.error_code, topic.error_message.as_ref())),
        None => Err("the controller's answer names no topic".to_owned()),
    }
}

async fn delete(map: &watch::Receiver<Arc<ClusterMap>>, name: &str) -> Outcome {
    // Up to version 5 topics are named in one list, from 6 on in another; the version that is not used drops its own.
    let state = DeleteTopicState { name: Some(name.to_owned()), ..DeleteTopicState::default() };
    let request = DeleteTopicsRequest {
        topics: vec![state],
        topic_names: vec![name.to_owned()],
        timeout_ms: TIMEOUT_MS,
        ..DeleteTopicsRequest::default()
    };
    let answer =
        ask(map, &request, |answer| answer.responses.iter().any(|topic| is_not_controller(topic.error_code)))
            .await?;
    match answer.responses.first() {
        Some(topic) if topic.error_code == ErrorCode::None.code() => Ok(format!("topic {name} deleted")),
        Some(topic) => Err(words(topic.error_code, topic.error_message.as_ref())),
        None => Err("the controller's answer names no topic".to_owned()),
    }
}

/// Leadership goes to another in-sync replica in two ordinary steps: the replica is put first in the assignment, which
/// moves no data, and then elected as the preferred leader.
async fn move_leadership(
    map: &watch::Receiver<Arc<ClusterMap>>,
    partition: &TopicPartition,
    to: BrokerId,
) -> Outcome {
    let replicas = map.borrow().replicas.get(partition).cloned().unwrap_or_default();
    if !replicas.contains(&to) {
        return Err(format!("broker {to} has no replica of {partition}"));
    }
    let others = replicas.iter().filter(|replica| **replica != to);
    let order: Vec<i32> = std::iter::once(&to).chain(others).map(|broker| broker.0).collect();
    if replicas.first() != Some(&to) {
        put_first(map, partition, order).await?;
    }
    elect(map, std::slice::from_ref(partition)).await?;
    Ok(format!("broker {to} leads {partition}"))
}

async fn put_first(
    map: &watch::Receiver<Arc<ClusterMap>>,
    partition: &TopicPartition,
    order: Vec<i32>,
) -> Result<(), String> {
    let wanted = ReassignablePartition {
        partition_index: partition.partition,
        replicas: Some(order),
        ..ReassignablePartition::default()
    };
    let topic = ReassignableTopic {
        name: partition.topic.to_string(),
        partitions: vec![wanted],
        ..Default::default()
    };
    let request = AlterPartitionReassignmentsRequest {
        topics: vec![topic],
        timeout_ms: TIMEOUT_MS,
        ..AlterPartitionReassignmentsRequest::default()
    };
    let answer = ask(map, &request, |answer| is_not_controller(answer.error_code)).await?;
    if answer.error_code != ErrorCode::None.code() {
        return Err(words(answer.error_code, answer.error_message.as_ref()));
    }
    let results = answer.responses.iter().flat_map(|topic| &topic.partitions);
    match results
        .map(|result| (result.error_code, result.error_message.as_ref()))
        .find(|(code, _)| *code != 0)
    {
        Some((code, message)) => Err(words(code, message)),
        None => Ok(()),
    }
}

async fn elect(map: &watch::Receiver<Arc<ClusterMap>>, partitions: &[TopicPartition]) -> Outcome {
    let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for partition in partitions {
        topics.entry(&partition.topic).or_default().push(partition.partition);
    }
    let named = topics.into_iter().map(|(topic, partitions)| TopicPartitions {
        topic: topic.to_owned(),
        partitions,
        ..TopicPartitions::default()
    });
    let request = ElectLeadersRequest {
        election_type: PREFERRED,
        topic_partitions: (!partitions.is_empty()).then(|| named.collect()),
        timeout_ms: TIMEOUT_MS,
        ..ElectLeadersRequest::default()
    };
    let answer = ask(map, &request, |answer| is_not_controller(answer.error_code)).await?;
    outcome_of_election(&answer)
}

fn outcome_of_election(answer: &ElectLeadersResponse) -> Outcome {
    if answer.error_code != ErrorCode::None.code() {
        return Err(words(answer.error_code, None));
    }
    let (mut elected, mut failed) = (0, Vec::new());
    for topic in &answer.replica_election_results {
        for result in &topic.partition_result {
            match ErrorCode::from_code(result.error_code) {
                ErrorCode::None => elected += 1,
                // It leads already, which is what was wished.
                ErrorCode::ElectionNotNeeded => {}
                _ => {
                    let why = words(result.error_code, result.error_message.as_ref());
                    failed.push(format!("{}-{}: {why}", topic.topic, result.partition_id));
                }
            }
        }
    }
    let noun = if elected == 1 { "partition is" } else { "partitions are" };
    match failed.as_slice() {
        [] => Ok(format!("{elected} {noun} led by the preferred leader again")),
        [first, rest @ ..] => Err(format!(
            "{first}{}",
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) }
        )),
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::elect_leaders::{PartitionResult, ReplicaElectionResult};

    use super::*;

    fn answer(codes: &[ErrorCode]) -> ElectLeadersResponse {
        let results = codes.iter().zip(0..).map(|(code, partition_id)| PartitionResult {
            partition_id,
            error_code: code.code(),
            error_message: None,
            ..PartitionResult::default()
        });
        let topic = ReplicaElectionResult {
            topic: "orders".into(),
            partition_result: results.collect(),
            ..ReplicaElectionResult::default()
        };
        ElectLeadersResponse { replica_election_results: vec![topic], ..ElectLeadersResponse::default() }
    }

    #[test]
    fn an_election_that_was_not_needed_is_no_failure() {
        let outcome = outcome_of_election(&answer(&[ErrorCode::None, ErrorCode::ElectionNotNeeded])).unwrap();
        assert!(outcome.starts_with("1 partition is"), "{outcome}");
    }

    #[test]
    fn a_failed_election_names_its_partition() {
        let codes =
            [ErrorCode::None, ErrorCode::PreferredLeaderNotAvailable, ErrorCode::PreferredLeaderNotAvailable];
        let why = outcome_of_election(&answer(&codes)).unwrap_err();
        assert!(why.starts_with("orders-1: ") && why.ends_with("and 1 more"), "{why}");
    }
}
