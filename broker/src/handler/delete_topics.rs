//! DeleteTopics: marks topics, and waits until this broker knows them no more.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::delete_topics::DeletableTopicResult;
use ottla_protocol::message::{DeleteTopicsRequest, DeleteTopicsResponse, ErrorCode};
use uuid::Uuid;

use super::api::Api;
use super::call::{Call, Reply};
use crate::metadata::ClusterSnapshot;
use crate::types::{topic_id_of_wire, topic_id_to_wire};
use crate::zk::layout::{delete_topics, topic};
use crate::zk::session::CreateMode;
use crate::zk::{Error, Handle};

/// From this version on there is an error of its own for a cluster that deletes no topics.
const WITH_DISABLED_ERROR: i16 = 3;

/// A topic as it is asked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    name: Option<String>,
    id: Option<Uuid>,
    /// How the name or id was looked up, then whether the mark was made.
    outcome: Result<(), ErrorCode>,
}

pub(super) fn handle(api: &Arc<Api>, call: Call<DeleteTopicsRequest>) {
    let Call { body, version, reply, .. } = call;
    let mut asked = asked(&body, &api.metadata.load());
    if let Err(error) = check(api, version) {
        asked.iter_mut().for_each(|topic| topic.outcome = Err(error));
        reply.send(&response(asked));
        return;
    }
    let wait = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    let task = Arc::clone(api);
    api.spawn(async move {
        let session = task.zk.session();
        for topic in &mut asked {
            if let (Ok(()), Some(name)) = (topic.outcome, &topic.name) {
                topic.outcome = mark(&session, name).await;
            }
        }
        answer_when_gone(&task, wait, asked, reply);
    });
}

fn check(api: &Api, version: i16) -> Result<(), ErrorCode> {
    if !api.controller.is_active() {
        return Err(ErrorCode::NotController);
    }
    if !api.config.current().delete_topic_enable {
        let own = version >= WITH_DISABLED_ERROR;
        return Err(if own { ErrorCode::TopicDeletionDisabled } else { ErrorCode::InvalidRequest });
    }
    Ok(())
}

/// Finds the topics' names: by name up to version 5, by name or id from version 6 on.
fn asked(body: &DeleteTopicsRequest, snapshot: &ClusterSnapshot) -> Vec<Asked> {
    let by_name = body.topic_names.iter().map(|name| (Some(name.clone()), None));
    let by_either = body.topics.iter().map(|topic| (topic.name.clone(), topic_id_of_wire(topic.topic_id)));
    let mut found: Vec<Asked> = Vec::new();
    for (name, id) in by_name.chain(by_either) {
        let topic = match (name, id) {
            (Some(name), None) => {
                Asked { id: snapshot.topic(&name).and_then(|it| it.id), name: Some(name), outcome: Ok(()) }
            }
            (None, Some(id)) => {
                let name = snapshot.topic_name(id).map(ToString::to_string);
                let outcome = if name.is_some() { Ok(()) } else { Err(ErrorCode::UnknownTopicId) };
                Asked { name, id: Some(id), outcome }
            }
            (name, id) => Asked { name, id, outcome: Err(ErrorCode::InvalidRequest) },
        };
        if !found.contains(&topic) {
            found.push(topic);
        }
    }
    found
}

async fn mark(session: &Handle, name: &str) -> Result<(), ErrorCode> {
    let result = async {
        if session.stat(&topic::path(name)).await?.is_none() {
            return Ok(false);
        }
        match session.create(&delete_topics::path(name), b"", CreateMode::Persistent).await {
            // Marked already: whoever asks again waits for the same end.
            Ok(_) | Err(Error::NodeExists { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    };
    match result.await {
        Ok(true) => {
            tracing::info!(topic = name, "marked a topic for deletion");
            Ok(())
        }
        Ok(false) => Err(ErrorCode::UnknownTopicOrPartition),
        Err(error) => {
            tracing::warn!(topic = name, %error, "a topic cannot be marked for deletion");
            Err(ErrorCode::UnknownServerError)
        }
    }
}

/// Waits until the topics are gone here, or the time is up; deletion goes on either way.
fn answer_when_gone(
    api: &Arc<Api>,
    wait: Duration,
    mut asked: Vec<Asked>,
    reply: Reply<DeleteTopicsRequest>,
) {
    let marked = asked.iter().filter(|topic| topic.outcome.is_ok()).filter_map(|topic| topic.name.clone());
    let marked: Vec<String> = marked.collect();
    let metadata = Arc::clone(&api.metadata);
    api.metadata.wait_until(
        wait,
        move |snapshot| marked.iter().all(|name| snapshot.topic(name).is_none()),
        move |_| {
            let snapshot = metadata.load();
            for topic in &mut asked {
                let there = topic.name.as_ref().is_some_and(|name| snapshot.topic(name).is_some());
                if topic.outcome.is_ok() && there {
                    topic.outcome = Err(ErrorCode::RequestTimedOut);
                }
            }
            reply.send(&response(asked));
        },
    );
}

fn response(asked: Vec<Asked>) -> DeleteTopicsResponse {
    let result = |topic: Asked| {
        let error = topic.outcome.err();
        DeletableTopicResult {
            name: topic.name,
            topic_id: topic_id_to_wire(topic.id),
            error_code: error.unwrap_or(ErrorCode::None).code(),
            error_message: error.map(|error| error.name().to_owned()),
            ..DeletableTopicResult::default()
        }
    };
    DeleteTopicsResponse {
        responses: asked.into_iter().map(result).collect(),
        ..DeleteTopicsResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::delete_topics::DeleteTopicState;

    use super::*;

    #[test]
    fn topics_are_found_by_name_or_id() {
        let state = |name: Option<&str>, id: u128| DeleteTopicState {
            name: name.map(str::to_owned),
            topic_id: topic_id_to_wire(Some(Uuid::from_u128(id)).filter(|id| !id.is_nil())),
            ..DeleteTopicState::default()
        };
        let body = DeleteTopicsRequest {
            topics: vec![
                state(Some("a"), 0),
                state(None, 7),
                state(Some("b"), 7),
                state(None, 0),
                state(Some("a"), 0),
            ],
            ..DeleteTopicsRequest::default()
        };
        let outcomes: Vec<_> =
            asked(&body, &ClusterSnapshot::default()).into_iter().map(|it| (it.name, it.outcome)).collect();
        assert_eq!(
            outcomes,
            [
                (Some("a".to_owned()), Ok(())),
                (None, Err(ErrorCode::UnknownTopicId)),
                (Some("b".to_owned()), Err(ErrorCode::InvalidRequest)),
                (None, Err(ErrorCode::InvalidRequest)),
            ]
        );
    }
}
