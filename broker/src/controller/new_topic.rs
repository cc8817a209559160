//! Topics that are to be: what a request may ask for, and the nodes that make it so.
//!
//! Any broker may write a topic's nodes; the controller sees them and does the rest. The settings are written before the
//! topic, so that whoever sees the topic finds them.

use std::collections::{BTreeMap, BTreeSet};

use ottla_protocol::message::ErrorCode;
use uuid::Uuid;

use super::machine::Refused;
use super::machine::assignment::{Candidate, Start, assign};
use crate::config::{BrokerConfig, TopicConfig};
use crate::types::BrokerId;
use crate::zk::layout::config::{self, Entity, Values};
use crate::zk::layout::topic::{self, Assignment, TopicNode};
use crate::zk::layout::{topic_id_from_bytes, topic_name};
use crate::zk::session::{CreateMode, Error, Handle};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicSpec {
    /// The name.
    pub name: String,
    /// How many partitions, -1 for the broker's default.
    pub partitions: i32,
    /// How many replicas of each, -1 for the broker's default.
    pub replication_factor: i32,
    /// Which brokers hold which partition, when the caller says.
    pub assignments: Vec<(i32, Vec<BrokerId>)>,
    /// The topic's own settings; one without a value is a mistake.
    pub settings: Vec<(String, Option<String>)>,
}

/// What will be written.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicPlan {
    /// The topic's node.
    pub node: TopicNode,
    /// The topic's own settings.
    pub settings: Values,
    /// What then holds for it.
    pub effective: TopicConfig,
}

/// What a topic's plan is checked against.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The broker's settings.
    pub config: &'a BrokerConfig,
    /// The living brokers.
    pub brokers: &'a [Candidate],
    /// The topics that exist.
    pub topics: &'a [String],
}

/// Plans a topic with this id; the id's random bits place its replicas.
///
/// # Errors
/// What is wrong with what is asked for.
pub fn plan(spec: &TopicSpec, around: Surroundings<'_>, id: Uuid) -> Result<TopicPlan, Refused> {
    check_name(&spec.name, around.topics)?;
    let (settings, effective) = check_settings(spec, around.config)?;
    let placed =
        if spec.assignments.is_empty() { place(spec, around, id)? } else { check_assignments(spec)? };
    let partitions = (0..).zip(placed.into_iter().map(Assignment::of)).collect();
    Ok(TopicPlan { node: TopicNode { id: Some(id), partitions }, settings, effective })
}

/// Returns the names that are given more than once.
#[must_use]
pub fn repeated(specs: &[TopicSpec]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let again = specs.iter().filter(|spec| !seen.insert(spec.name.as_str()));
    again.map(|spec| spec.name.clone()).collect()
}

fn check_name(name: &str, topics: &[String]) -> Result<(), Refused> {
    topic_name::check(name).map_err(|error| (ErrorCode::InvalidTopicException, error.to_string()))?;
    if topics.iter().any(|other| other == name) {
        return Err((ErrorCode::TopicAlreadyExists, format!("topic {name} exists already")));
    }
    match topics.iter().find(|other| topic_name::collides(name, other)) {
        Some(other) => {
            let text =
                format!("{name} differs from the topic {other} only in '.' and '_'; choose another name");
            Err((ErrorCode::InvalidTopicException, text))
        }
        None => Ok(()),
    }
}

fn check_settings(spec: &TopicSpec, config: &BrokerConfig) -> Result<(Values, TopicConfig), Refused> {
    let mut settings = Values::new();
    for (key, value) in &spec.settings {
        let Some(value) = value else {
            return Err((
                ErrorCode::InvalidConfig,
                format!("{key} has no value; leave it out for the default"),
            ));
        };
        settings.insert(key.clone(), value.clone());
    }
    let effective = TopicConfig::new(config, &settings)
        .map_err(|(key, problem)| (ErrorCode::InvalidConfig, format!("{key}: {problem}")))?;
    Ok((settings, effective))
}

fn place(spec: &TopicSpec, around: Surroundings<'_>, id: Uuid) -> Result<Vec<Vec<BrokerId>>, Refused> {
    let partitions = or_default(spec.partitions, around.config.num_partitions).ok_or_else(|| {
        (ErrorCode::InvalidPartitions, format!("a topic has at least one partition, not {}", spec.partitions))
    })?;
    let few_replicas = |text: String| (ErrorCode::InvalidReplicationFactor, text);
    let replicas =
        or_default(spec.replication_factor, around.config.default_replication_factor).ok_or_else(|| {
            few_replicas(format!("a partition has at least one replica, not {}", spec.replication_factor))
        })?;
    let (seed, _) = id.as_u64_pair();
    let start = Start::from_seed(seed, around.brokers.len(), 0);
    assign(around.brokers, partitions, replicas, start).map_err(|_too_few| {
        few_replicas(format!(
            "{replicas} replicas need as many brokers, and {} are alive",
            around.brokers.len()
        ))
    })
}

/// Returns the number asked for, or the default for -1; nothing when it is below one.
fn or_default(asked: i32, default: i32) -> Option<usize> {
    let number = if asked == -1 { default } else { asked };
    usize::try_from(number).ok().filter(|number| *number > 0)
}

/// Whether the brokers live is not checked, as in Kafka: an operator may assign to one that comes later.
fn check_assignments(spec: &TopicSpec) -> Result<Vec<Vec<BrokerId>>, Refused> {
    if spec.partitions != -1 || spec.replication_factor != -1 {
        let text = "give either counts or assignments, not both".to_owned();
        return Err((ErrorCode::InvalidRequest, text));
    }
    let refuse = |text: &str| Err((ErrorCode::InvalidReplicaAssignment, text.to_owned()));
    let by_number: BTreeMap<i32, &Vec<BrokerId>> =
        spec.assignments.iter().map(|(number, replicas)| (*number, replicas)).collect();
    if by_number.len() != spec.assignments.len() || !by_number.keys().copied().eq((0..).take(by_number.len()))
    {
        return refuse("partitions are numbered from 0 without gaps or repetitions");
    }
    let replicas = by_number.values().next().map_or(0, |first| first.len());
    for assigned in by_number.values() {
        let different: BTreeSet<&BrokerId> = assigned.iter().collect();
        if assigned.len() != replicas || replicas == 0 {
            return refuse("every partition has the same number of replicas, and at least one");
        }
        if different.len() != replicas || assigned.iter().any(|broker| broker.0 < 0) {
            return refuse("the replicas of a partition are on different brokers");
        }
    }
    Ok(by_number.into_values().cloned().collect())
}

/// Draws a topic id; nothing when the system gives no random numbers.
#[must_use]
pub fn draw_topic_id() -> Option<Uuid> {
    // One in 64 is drawn again, since its text would begin with a dash.
    (0..16).find_map(|_| {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        topic_id_from_bytes(bytes)
    })
}

/// Writes the nodes of a topic; false when there is one of that name.
///
/// # Errors
/// When the session is over or a node may not be written.
pub async fn write(session: &Handle, name: &str, node: &TopicNode, settings: &Values) -> Result<bool, Error> {
    if session.stat(&topic::path(name)).await?.is_some() {
        return Ok(false);
    }
    let path = Entity::Topic(name.to_owned()).path();
    let data = config::encode(settings);
    match session.create_recursive(&path, &data).await {
        Ok(()) => {}
        // Left over from a topic of that name.
        Err(Error::NodeExists { .. }) => drop(session.set(&path, &data, None).await?),
        Err(error) => return Err(error),
    }
    let node = node.encode();
    match session.create(&topic::path(name), &node, CreateMode::Persistent).await {
        Ok(_) => Ok(true),
        // After a broken connection it may be ours; then it says what was to be written, with the id that was drawn.
        Err(Error::NodeExists { .. }) => {
            let present = session.get(&topic::path(name)).await?;
            Ok(present.is_some_and(|(data, _)| data == node))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> TopicSpec {
        TopicSpec { name: "orders".to_owned(), partitions: 2, replication_factor: 2, ..TopicSpec::default() }
    }

    fn ids(ids: &[i32]) -> Vec<BrokerId> {
        ids.iter().copied().map(BrokerId).collect()
    }

    fn planned(spec: &TopicSpec) -> Result<TopicPlan, ErrorCode> {
        let brokers: Vec<Candidate> = (1..=3).map(|id| Candidate { id: BrokerId(id), rack: None }).collect();
        let topics = ["taken".to_owned(), "a.b".to_owned()];
        let config = BrokerConfig::default();
        let around = Surroundings { config: &config, brokers: &brokers, topics: &topics };
        plan(spec, around, Uuid::from_u128(5)).map_err(|(code, _)| code)
    }

    #[test]
    fn counts_and_their_defaults() {
        let plan = planned(&spec()).unwrap();
        let sizes: Vec<usize> = plan.node.partitions.values().map(|it| it.replicas.len()).collect();
        assert_eq!(sizes, [2, 2]);
        let defaults = TopicSpec { partitions: -1, replication_factor: -1, ..spec() };
        let plan = planned(&defaults).unwrap();
        assert_eq!(plan.node.partitions.len(), 1);
        assert_eq!(plan.node.partitions[&0].replicas.len(), 1);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let manual = |assignments: Vec<(i32, Vec<BrokerId>)>| TopicSpec {
            partitions: -1,
            replication_factor: -1,
            assignments,
            ..spec()
        };
        let setting = |key: &str, value: Option<&str>| TopicSpec {
            settings: vec![(key.to_owned(), value.map(str::to_owned))],
            ..spec()
        };
        let named = |name: &str| TopicSpec { name: name.to_owned(), ..spec() };
        let both = TopicSpec { assignments: vec![(0, ids(&[1]))], ..spec() };
        let cases = [
            (named("a/b"), ErrorCode::InvalidTopicException),
            (named(""), ErrorCode::InvalidTopicException),
            (named("a_b"), ErrorCode::InvalidTopicException),
            (named("taken"), ErrorCode::TopicAlreadyExists),
            (TopicSpec { partitions: 0, ..spec() }, ErrorCode::InvalidPartitions),
            (TopicSpec { partitions: -2, ..spec() }, ErrorCode::InvalidPartitions),
            (TopicSpec { replication_factor: 0, ..spec() }, ErrorCode::InvalidReplicationFactor),
            (TopicSpec { replication_factor: 4, ..spec() }, ErrorCode::InvalidReplicationFactor),
            (both, ErrorCode::InvalidRequest),
            (manual(vec![(1, ids(&[1]))]), ErrorCode::InvalidReplicaAssignment),
            (manual(vec![(0, ids(&[1])), (0, ids(&[2]))]), ErrorCode::InvalidReplicaAssignment),
            (manual(vec![(0, ids(&[1])), (1, ids(&[1, 2]))]), ErrorCode::InvalidReplicaAssignment),
            (manual(vec![(0, ids(&[1, 1]))]), ErrorCode::InvalidReplicaAssignment),
            (manual(vec![(0, ids(&[]))]), ErrorCode::InvalidReplicaAssignment),
            (manual(vec![(0, ids(&[-1]))]), ErrorCode::InvalidReplicaAssignment),
            (setting("no.such.key", Some("1")), ErrorCode::InvalidConfig),
            (setting("retention.ms", Some("soon")), ErrorCode::InvalidConfig),
            (setting("retention.ms", None), ErrorCode::InvalidConfig),
        ];
        for (spec, expected) in cases {
            assert_eq!(planned(&spec).unwrap_err(), expected, "{spec:?}");
        }
    }

    #[test]
    fn assignments_are_taken_as_given_even_to_brokers_that_come_later() {
        let assignments = vec![(1, ids(&[9, 1])), (0, ids(&[1, 2]))];
        let spec = TopicSpec { partitions: -1, replication_factor: -1, assignments, ..spec() };
        let plan = planned(&spec).unwrap();
        assert_eq!(plan.node.partitions[&0].replicas, ids(&[1, 2]));
        assert_eq!(plan.node.partitions[&1].replicas, ids(&[9, 1]));
    }

    #[test]
    fn settings_are_kept_and_hold() {
        let settings = vec![("retention.ms".to_owned(), Some("5000".to_owned()))];
        let plan = planned(&TopicSpec { settings, ..spec() }).unwrap();
        assert_eq!(plan.settings.get("retention.ms").map(String::as_str), Some("5000"));
        assert_eq!(plan.effective.retention_ms, 5000);
    }

    #[test]
    fn a_name_given_twice_is_found() {
        let other = TopicSpec { name: "x".to_owned(), ..spec() };
        assert_eq!(repeated(&[spec(), other, spec()]), BTreeSet::from(["orders".to_owned()]));
    }
}
