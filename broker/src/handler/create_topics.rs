//! CreateTopics: checks, writes the topics' nodes, and waits until this broker knows their leaders.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::create_topics::{CreatableTopic, CreatableTopicConfigs, CreatableTopicResult};
use ottla_protocol::message::{CreateTopicsRequest, CreateTopicsResponse, ErrorCode};

use super::api::Api;
use super::call::{Call, Reply};
use crate::config::{LiveConfig, TopicConfig};
use crate::controller::machine::Refused;
use crate::controller::machine::assignment::Candidate;
use crate::controller::new_topic::{self, Surroundings, TopicPlan, TopicSpec};
use crate::metadata::ClusterSnapshot;
use crate::types::{BrokerId, topic_id_to_wire};
use crate::zk::layout::topic;
use crate::zk::{Error, registration};

/// Kafka's `ConfigSource.TOPIC_CONFIG`.
const TOPIC_SETTING: i8 = 1;

pub(super) fn handle(api: &Arc<Api>, call: Call<CreateTopicsRequest>) {
    let Call { body, reply, .. } = call;
    let specs: Vec<TopicSpec> = body.topics.into_iter().map(spec).collect();
    if !api.controller.is_active() {
        let refused = || (ErrorCode::NotController, "this broker is not the controller".to_owned());
        let results = specs.iter().map(|spec| failed(&spec.name, refused())).collect();
        reply.send(&response(results));
        return;
    }
    let task = Arc::clone(api);
    let wait = Duration::from_millis(u64::try_from(body.timeout_ms).unwrap_or(0));
    api.spawn(async move {
        let planned = plan_all(&task, specs).await;
        if body.validate_only {
            let results = planned.into_iter().map(|(name, plan)| finished(&task.config, &name, plan));
            reply.send(&response(results.collect()));
            return;
        }
        let written = write_all(&task, planned).await;
        answer_with_leaders(&task, wait, written, reply);
    });
}

fn spec(topic: CreatableTopic) -> TopicSpec {
    TopicSpec {
        name: topic.name,
        partitions: topic.num_partitions,
        replication_factor: i32::from(topic.replication_factor),
        assignments: topic
            .assignments
            .into_iter()
            .map(|it| (it.partition_index, it.broker_ids.into_iter().map(BrokerId).collect()))
            .collect(),
        settings: topic.configs.into_iter().map(|config| (config.name, config.value)).collect(),
    }
}

type Planned = Vec<(String, Result<TopicPlan, Refused>)>;

async fn plan_all(api: &Api, specs: Vec<TopicSpec>) -> Planned {
    let repeated = new_topic::repeated(&specs);
    let read = read_surroundings(api).await;
    let config = api.config.current();
    let plan = |spec: &TopicSpec| {
        if repeated.contains(&spec.name) {
            let text = format!("{} is named more than once in the request", spec.name);
            return Err((ErrorCode::InvalidRequest, text));
        }
        let (brokers, topics) = read.as_ref().map_err(unwritten)?;
        let around = Surroundings { config: &config, brokers, topics };
        let no_id = || (ErrorCode::UnknownServerError, "the system gives no random numbers".to_owned());
        new_topic::plan(spec, around, new_topic::draw_topic_id().ok_or_else(no_id)?)
    };
    let mut planned: Planned = Vec::with_capacity(specs.len());
    for spec in specs {
        // A name that is given twice is answered once.
        if planned.iter().all(|(name, _)| *name != spec.name) {
            let plan = plan(&spec);
            planned.push((spec.name, plan));
        }
    }
    planned
}

async fn read_surroundings(api: &Api) -> Result<(Vec<Candidate>, Vec<String>), Error> {
    let session = api.zk.session();
    let brokers = registration::live_brokers(&session).await?;
    let candidates = brokers.into_iter().map(|(id, it)| Candidate { id, rack: it.rack }).collect();
    Ok((candidates, session.children(topic::ROOT).await?))
}

fn unwritten(error: &Error) -> Refused {
    (ErrorCode::UnknownServerError, error.to_string())
}

async fn write_all(api: &Api, planned: Planned) -> Planned {
    let session = api.zk.session();
    let mut written = Vec::with_capacity(planned.len());
    for (name, plan) in planned {
        let result = match plan {
            Ok(plan) => match new_topic::write(&session, &name, &plan.node, &plan.settings).await {
                Ok(true) => {
                    tracing::info!(topic = name, partitions = plan.node.partitions.len(), "created a topic");
                    Ok(plan)
                }
                Ok(false) => Err((ErrorCode::TopicAlreadyExists, format!("topic {name} exists already"))),
                Err(error) => Err(unwritten(&error)),
            },
            Err(refused) => Err(refused),
        };
        written.push((name, result));
    }
    written
}

/// Waits until every partition that was created has a leader here, or the time is up; creation goes on either way.
fn answer_with_leaders(api: &Arc<Api>, wait: Duration, written: Planned, reply: Reply<CreateTopicsRequest>) {
    let created = written.iter().filter_map(|(name, plan)| {
        let count = i32::try_from(plan.as_ref().ok()?.node.partitions.len()).unwrap_or(i32::MAX);
        Some((name.clone(), count))
    });
    let created: Vec<(String, i32)> = created.collect();
    let (metadata, config) = (Arc::clone(&api.metadata), Arc::clone(&api.config));
    api.metadata.wait_until(
        wait,
        move |snapshot| created.iter().all(|(name, count)| has_leaders(snapshot, name, *count)),
        move |_| {
            let snapshot = metadata.load();
            let results = written.into_iter().map(|(name, plan)| {
                let late = plan.as_ref().is_ok_and(|plan| {
                    let count = i32::try_from(plan.node.partitions.len()).unwrap_or(i32::MAX);
                    !has_leaders(&snapshot, &name, count)
                });
                if late {
                    let text = "the topic is being created and has no leaders yet".to_owned();
                    failed(&name, (ErrorCode::RequestTimedOut, text))
                } else {
                    finished(&config, &name, plan)
                }
            });
            reply.send(&response(results.collect()));
        },
    );
}

/// Says whether the first `count` partitions of the topic have living leaders, as far as this broker knows.
pub(super) fn has_leaders(snapshot: &ClusterSnapshot, name: &str, count: i32) -> bool {
    let Some(topic) = snapshot.topic(name) else { return false };
    (0..count).all(|number| {
        topic.partitions.get(&number).is_some_and(|partition| snapshot.is_live(partition.leader))
    })
}

fn failed(name: &str, (error, message): Refused) -> CreatableTopicResult {
    CreatableTopicResult {
        name: name.to_owned(),
        error_code: error.code(),
        error_message: Some(message),
        ..CreatableTopicResult::default()
    }
}

fn finished(live: &LiveConfig, name: &str, plan: Result<TopicPlan, Refused>) -> CreatableTopicResult {
    let plan = match plan {
        Ok(plan) => plan,
        Err(refused) => return failed(name, refused),
    };
    let replicas = plan.node.partitions.values().next().map_or(0, |it| it.replicas.len());
    CreatableTopicResult {
        name: name.to_owned(),
        topic_id: topic_id_to_wire(plan.node.id),
        error_message: None,
        num_partitions: i32::try_from(plan.node.partitions.len()).unwrap_or(i32::MAX),
        replication_factor: i16::try_from(replicas).unwrap_or(i16::MAX),
        configs: Some(settings(live, &plan)),
        ..CreatableTopicResult::default()
    }
}

fn settings(live: &LiveConfig, plan: &TopicPlan) -> Vec<CreatableTopicConfigs> {
    let setting = |row: &'static crate::config::TopicKey| {
        let name = row.key.name;
        let own = plan.settings.contains_key(name);
        CreatableTopicConfigs {
            name: name.to_owned(),
            value: plan.effective.get(name),
            read_only: false,
            config_source: if own { TOPIC_SETTING } else { live.source(row.broker_key).code() },
            is_sensitive: false,
            ..CreatableTopicConfigs::default()
        }
    };
    TopicConfig::KEYS.iter().map(setting).collect()
}

fn response(topics: Vec<CreatableTopicResult>) -> CreateTopicsResponse {
    CreateTopicsResponse { topics, ..CreateTopicsResponse::default() }
}
