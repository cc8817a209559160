//! Topics that appear, grow and vanish.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agenda::{Active, Pending, Work};
use super::assignment::{Candidate, Start, assign};
use super::context::Partition;
use super::effect::{Effect, Refused, Reply, Write};
use super::election::Strategy;
use super::event::{NewPartitions, Outcome, RequestId, TopicRead};
use super::types::PartitionStatus;
use crate::types::{BrokerId, TopicPartition};
use crate::zk::layout::topic::{Assignment, TopicNode};
use ottla_protocol::message::ErrorCode;

/// Topics that are being given more partitions.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) request: RequestId,
    /// The topics that are written, with the first new number.
    topics: Vec<(Arc<str>, TopicNode)>,
    results: Vec<(Arc<str>, Result<(), Refused>)>,
}

/// The list of topics changed: reads the new ones, forgets those that are gone.
pub(super) fn listed(active: &mut Active, names: &[Arc<str>], out: &mut Vec<Effect>) {
    let listed: BTreeSet<&Arc<str>> = names.iter().collect();
    let gone: Vec<Arc<str>> =
        active.context.topics.keys().filter(|name| !listed.contains(name)).cloned().collect();
    for name in gone {
        active.context.remove_topic(&name);
    }
    let new: Vec<Arc<str>> =
        names.iter().filter(|name| !active.context.topics.contains_key(*name)).cloned().collect();
    if !new.is_empty() {
        out.push(Effect::WatchTopics(new));
    }
}

/// A topic's node was read: a new topic, or one with more partitions. Replicas changed by hand are ignored, for only a
/// reassignment changes them.
pub(super) fn read(active: &mut Active, name: &Arc<str>, read: Option<TopicRead>) {
    let Some(TopicRead { mut node, unclean_election, fresh_id }) = read else { return };
    if let Some(known) = active.context.topics.get(name) {
        if node.id.is_none() || known.id == node.id {
            return grown_by_hand(active, name, &node);
        }
        // Deleted and made anew between two looks.
        active.context.remove_topic(name);
    }
    if node.id.is_none() && fresh_id.is_some() {
        node.id = fresh_id;
        active.agenda.push_front(Work::Housekeeping(vec![Write::Topic(Arc::clone(name), node.clone())]));
    }
    active.context.add_topic(name, node.id, &node.partitions);
    if let Some(topic) = active.context.topics.get_mut(name) {
        topic.unclean_election = unclean_election;
    }
    active.agenda.push_front(Work::CreateNew(active.context.partitions_of(name)));
}

fn grown_by_hand(active: &mut Active, name: &Arc<str>, node: &TopicNode) {
    let Some(known) = active.context.topics.get(name) else { return };
    let new: Vec<(i32, Assignment)> = node
        .partitions
        .iter()
        .filter(|(number, _)| !known.partitions.contains_key(number))
        .map(|(number, assignment)| (*number, assignment.clone()))
        .collect();
    if new.is_empty() {
        return;
    }
    if active.context.is_deleting(name) {
        let node = node_of(active, name);
        active.agenda.push_front(Work::Housekeeping(vec![Write::Topic(Arc::clone(name), node)]));
        return;
    }
    add_partitions(active, name, new);
}

fn add_partitions(active: &mut Active, name: &Arc<str>, new: Vec<(i32, Assignment)>) {
    let mut added = Vec::with_capacity(new.len());
    for (number, assignment) in new {
        let Some(topic) = active.context.topics.get_mut(name) else { return };
        topic.partitions.entry(number).or_insert_with(|| Partition::new(assignment));
        added.push(TopicPartition::new(Arc::clone(name), number));
    }
    active.agenda.push_front(Work::CreateNew(added));
}

/// Returns the topic's node as the context has it.
pub(super) fn node_of(active: &Active, name: &str) -> TopicNode {
    let Some(topic) = active.context.topics.get(name) else { return TopicNode::default() };
    let partitions = topic.partitions.iter().map(|(number, it)| (*number, it.assignment.clone())).collect();
    TopicNode { id: topic.id, partitions }
}

/// The topic's own rule about unclean elections changed; where it now allows one, it is held.
pub(super) fn unclean_changed(active: &mut Active, name: &Arc<str>, unclean: Option<bool>) {
    let Some(topic) = active.context.topics.get_mut(name) else { return };
    topic.unclean_election = unclean;
    if unclean == Some(true) {
        let partitions = active
            .context
            .select(|it, partition| it.topic == *name && partition.status == PartitionStatus::Offline);
        active.agenda.push_front(Work::Elect { partitions, strategy: Strategy::Offline { unclean: false } });
    }
}

/// Answers CreatePartitions: checks, and writes what passes.
pub(super) fn grow(
    active: &mut Active,
    request: RequestId,
    asked: Vec<NewPartitions>,
    validate_only: bool,
    out: &mut Vec<Effect>,
) {
    let mut growing = Growing { request, topics: Vec::new(), results: Vec::new() };
    for wish in asked {
        match plan(active, &wish) {
            Ok(new) => {
                let mut node = node_of(active, &wish.topic);
                node.partitions.extend(new);
                growing.topics.push((Arc::clone(&wish.topic), node));
                growing.results.push((wish.topic, Ok(())));
            }
            Err(refused) => growing.results.push((wish.topic, Err(refused))),
        }
    }
    if validate_only || growing.topics.is_empty() {
        out.push(Effect::Reply(request, Reply::CreatePartitions(growing.results)));
        return;
    }
    let writes = growing.topics.iter().map(|(name, node)| Write::Topic(Arc::clone(name), node.clone()));
    active.write(writes.collect(), Pending::MorePartitions(growing), out);
}

/// The nodes were written: creates the partitions and answers.
pub(super) fn grown(active: &mut Active, growing: Growing, outcomes: &[Outcome], out: &mut Vec<Effect>) {
    let Growing { request, topics, mut results } = growing;
    for ((name, node), outcome) in topics.into_iter().zip(outcomes) {
        if matches!(outcome, Outcome::Done(_)) {
            grown_by_hand(active, &name, &node);
        } else if let Some((_, result)) = results.iter_mut().find(|(topic, _)| *topic == name) {
            *result = Err((
                ErrorCode::UnknownServerError,
                "ZooKeeper did not take the topic's new partitions".to_owned(),
            ));
        }
    }
    out.push(Effect::Reply(request, Reply::CreatePartitions(results)));
}

fn plan(active: &Active, wish: &NewPartitions) -> Result<Vec<(i32, Assignment)>, Refused> {
    let context = &active.context;
    let name = &wish.topic;
    let topic = context
        .topics
        .get(name)
        .filter(|_| !context.is_deleting(name))
        .ok_or_else(|| (ErrorCode::UnknownTopicOrPartition, format!("there is no topic {name}")))?;
    if topic.partitions.values().any(|partition| partition.assignment.is_reassigning()) {
        let text = format!("a partition of {name} is being reassigned; try again when that is done");
        return Err((ErrorCode::ReassignmentInProgress, text));
    }
    let existing = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
    let count = usize::try_from(wish.count.saturating_sub(existing)).unwrap_or_default();
    if count == 0 {
        let text = format!("{name} has {existing} partitions; ask for more than that, not {}", wish.count);
        return Err((ErrorCode::InvalidPartitions, text));
    }
    let replicas = topic.partitions.values().next().map_or(1, |it| it.assignment.target().len());
    let placed = match &wish.assignments {
        Some(assignments) => checked(active, assignments, count, replicas)?,
        None => placed(active, topic.partitions.get(&0), wish.seed, existing, count, replicas)?,
    };
    Ok((existing..).zip(placed.into_iter().map(Assignment::of)).collect())
}

fn placed(
    active: &Active,
    first: Option<&Partition>,
    seed: u64,
    existing: i32,
    count: usize,
    replicas: usize,
) -> Result<Vec<Vec<BrokerId>>, Refused> {
    let candidates: Vec<Candidate> = active
        .context
        .brokers
        .iter()
        .map(|(id, broker)| Candidate { id: *id, rack: broker.registration.rack.clone() })
        .collect();
    // Kafka goes on where the first partition begins, so that the new ones follow the old ones' pattern.
    let head = first.and_then(|partition| partition.assignment.preferred());
    let position = head.and_then(|head| candidates.iter().position(|candidate| candidate.id >= head));
    let partition = usize::try_from(existing).unwrap_or_default();
    let start = match position {
        Some(broker) => Start { broker, shift: broker, partition },
        None => Start::from_seed(seed, candidates.len(), partition),
    };
    assign(&candidates, count, replicas, start).map_err(|_too_few| {
        let text = format!("{replicas} replicas need as many brokers, and {} are alive", candidates.len());
        (ErrorCode::InvalidReplicationFactor, text)
    })
}

fn checked(
    active: &Active,
    assignments: &[Vec<BrokerId>],
    count: usize,
    replicas: usize,
) -> Result<Vec<Vec<BrokerId>>, Refused> {
    let refuse = |text: String| Err((ErrorCode::InvalidReplicaAssignment, text));
    if assignments.len() != count {
        return refuse(format!(
            "{count} partitions are new, and {} assignments are given",
            assignments.len()
        ));
    }
    for assigned in assignments {
        let different: BTreeSet<&BrokerId> = assigned.iter().collect();
        if assigned.len() != replicas || different.len() != replicas {
            return refuse(format!("each assignment needs {replicas} different brokers"));
        }
        if let Some(unknown) = assigned.iter().find(|id| !active.context.brokers.contains_key(id)) {
            return refuse(format!("broker {unknown} is not alive"));
        }
    }
    Ok(assignments.to_vec())
}
