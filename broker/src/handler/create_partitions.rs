//! CreatePartitions: topics that grow.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::create_partitions::{CreatePartitionsTopic, CreatePartitionsTopicResult};
use ottla_protocol::message::{CreatePartitionsRequest, CreatePartitionsResponse, ErrorCode};

use super::api::Api;
use super::call::{Call, Reply as Responder};
use super::create_topics::has_leaders;
use crate::controller::machine::{NewPartitions, Refused, Reply, Request};
use crate::types::BrokerId;

type Results = Vec<(Arc<str>, Result<(), Refused>)>;

pub(super) fn handle(api: &Arc<Api>, call: Call<CreatePartitionsRequest>) {
    let Call { body, reply, .. } = call;
    let names: Vec<Arc<str>> = body.topics.iter().map(|topic| Arc::from(topic.name.as_str())).collect();
    if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
        let text = "a topic is named more than once".to_owned();
        reply.send(&all_refused(names, ErrorCode::InvalidRequest, &text));
        return;
    }
    let counts: Vec<(Arc<str>, i32)> =
        names.iter().cloned().zip(body.topics.iter().map(|topic| topic.count)).collect();
    let seed = uuid::Uuid::new_v4().as_u64_pair().0;
    let topics = body.topics.into_iter().map(|topic| wish(topic, seed)).collect();
    let validate_only = body.validate_only;
    let wait = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    let task = Arc::clone(api);
    api.controller.ask(Request::CreatePartitions { topics, validate_only }, move |answer| match answer {
        Reply::CreatePartitions(results) if validate_only => reply.send(&response(results)),
        Reply::CreatePartitions(results) => answer_with_leaders(&task, wait, results, counts, reply),
        Reply::Refused(error) => reply.send(&all_refused(names, error, error.name())),
        _ => reply.send(&all_refused(names, ErrorCode::UnknownServerError, "unexpected answer")),
    });
}

fn wish(topic: CreatePartitionsTopic, seed: u64) -> NewPartitions {
    let assignments = topic.assignments.map(|assignments| {
        assignments.into_iter().map(|it| it.broker_ids.into_iter().map(BrokerId).collect()).collect()
    });
    NewPartitions { topic: Arc::from(topic.name), count: topic.count, assignments, seed }
}

/// Waits until the new partitions have leaders here, or the time is up.
fn answer_with_leaders(
    api: &Arc<Api>,
    wait: Duration,
    results: Results,
    mut counts: Vec<(Arc<str>, i32)>,
    reply: Responder<CreatePartitionsRequest>,
) {
    counts.retain(|(name, _)| results.iter().any(|(topic, result)| topic == name && result.is_ok()));
    let counts = Arc::new(counts);
    let wanted = Arc::clone(&counts);
    let metadata = Arc::clone(&api.metadata);
    api.metadata.wait_until(
        wait,
        move |snapshot| wanted.iter().all(|(name, count)| has_leaders(snapshot, name, *count)),
        move |_| {
            let snapshot = metadata.load();
            let late = |name: &Arc<str>| {
                let count = counts.iter().find(|(topic, _)| topic == name).map(|(_, count)| *count);
                count.is_some_and(|count| !has_leaders(&snapshot, name, count))
            };
            let results = results.into_iter().map(|(name, result)| {
                let timed_out = result.is_ok() && late(&name);
                let text = "the partitions are being created and have no leaders yet".to_owned();
                let result = if timed_out { Err((ErrorCode::RequestTimedOut, text)) } else { result };
                (name, result)
            });
            reply.send(&response(results.collect()));
        },
    );
}

fn all_refused(names: Vec<Arc<str>>, error: ErrorCode, text: &str) -> CreatePartitionsResponse {
    response(names.into_iter().map(|name| (name, Err((error, text.to_owned())))).collect())
}

fn response(results: Results) -> CreatePartitionsResponse {
    let result = |(name, result): (Arc<str>, Result<(), Refused>)| {
        let (error, message) = match result {
            Ok(()) => (ErrorCode::None, None),
            Err((error, message)) => (error, Some(message)),
        };
        CreatePartitionsTopicResult {
            name: name.to_string(),
            error_code: error.code(),
            error_message: message,
            ..CreatePartitionsTopicResult::default()
        }
    };
    CreatePartitionsResponse {
        results: results.into_iter().map(result).collect(),
        ..CreatePartitionsResponse::default()
    }
}
