//! Replicas that move (Kafka's `KafkaController.onPartitionReassignment`).
//!
//! ```text
//!  written: full list, adding, removing ─► new replicas start, leader epoch + 1 ─► they catch up (AlterPartition)
//!     ─► target within ISR: leader in the target, removed replicas out of the ISR and deleted ─► written: target
//! ```
//!
//! The topic's node is written first and last, so a controller that follows goes on where this one stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::agenda::{Active, After, Pending, Work};
use super::context::Partition;
use super::deletion;
use super::effect::{Effect, Reply, Write};
use super::election::{self, Strategy};
use super::event::{Outcome, RequestId};
use super::outgoing::Replica;
use super::partitions::{self, Change, Reason};
use super::topics::node_of;
use super::types::{LeaderAndIsr, ReplicaStatus};
use crate::types::{BrokerId, TopicPartition};
use crate::zk::layout::reassign;
use crate::zk::layout::topic::{Assignment, TopicNode};
use ottla_protocol::message::ErrorCode;

type Results = Vec<(TopicPartition, Result<(), ErrorCode>)>;

/// Reassignments whose topic nodes are being written.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) request: Option<RequestId>,
    topics: Vec<Arc<str>>,
    wanted: BTreeMap<TopicPartition, Assignment>,
    results: Results,
}

/// Answers AlterPartitionReassignments; no target cancels.
pub(super) fn asked(
    active: &mut Active,
    request: RequestId,
    targets: Vec<(TopicPartition, Option<Vec<BrokerId>>)>,
    out: &mut Vec<Effect>,
) {
    let mut wanted = BTreeMap::new();
    let mut results = Vec::with_capacity(targets.len());
    for (name, target) in targets {
        match plan(active, &name, target) {
            Ok(assignment) => {
                active.context.node_reassignments.remove(&name);
                wanted.insert(name.clone(), assignment);
                results.push((name, Ok(())));
            }
            Err(refusal) => results.push((name, Err(refusal))),
        }
    }
    start(active, Some(request), wanted, results, out);
}

/// The old tool's node was read; one that cannot be is deleted.
pub(super) fn from_node(
    active: &mut Active,
    targets: Option<BTreeMap<TopicPartition, Vec<BrokerId>>>,
    out: &mut Vec<Effect>,
) {
    let Some(targets) = targets else {
        let delete = Write::Delete(reassign::PATH.to_owned());
        active.write(vec![delete], Pending::Housekeeping, out);
        return;
    };
    let mut wanted = BTreeMap::new();
    let mut refused = false;
    for (name, target) in targets {
        if active.context.node_reassignments.get(&name) == Some(&target) {
            continue;
        }
        match plan(active, &name, Some(target.clone())) {
            Ok(assignment) => {
                active.context.node_reassignments.insert(name.clone(), target);
                wanted.insert(name, assignment);
            }
            Err(refusal) => {
                tracing::warn!(partition = %name, ?refusal, "the wished reassignment is not possible");
                refused = true;
            }
        }
    }
    if refused {
        let write = remaining_node(active);
        active.agenda.push_front(Work::Housekeeping(vec![write]));
    }
    start(active, None, wanted, Vec::new(), out);
}

/// What the topic's node is to say about the partition.
fn plan(
    active: &Active,
    name: &TopicPartition,
    target: Option<Vec<BrokerId>>,
) -> Result<Assignment, ErrorCode> {
    let context = &active.context;
    let partition = context.partition(name).filter(|_| !context.is_deleting(&name.topic));
    let partition = partition.ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let now = &partition.assignment;
    let origin = now.origin();
    let target = match target {
        Some(target) => target,
        None if now.is_reassigning() => origin.clone(),
        None => return Err(ErrorCode::NoReassignmentInProgress),
    };
    let different: BTreeSet<BrokerId> = target.iter().copied().collect();
    let impossible = target.is_empty()
        || different.len() != target.len()
        || target.iter().any(|broker| broker.0 < 0)
        || target.iter().any(|it| !now.replicas.contains(it) && !context.brokers.contains_key(it));
    if impossible {
        return Err(ErrorCode::InvalidReplicaAssignment);
    }
    let adding = target.iter().copied().filter(|broker| !origin.contains(broker)).collect();
    let removing: Vec<BrokerId> = origin.iter().copied().filter(|broker| !target.contains(broker)).collect();
    let replicas: Vec<BrokerId> = target.into_iter().chain(removing.iter().copied()).collect();
    // Replicas that a replaced or cancelled move had added are deleted at once; the last that has all records must not
    // be among them.
    let in_sync = partition.leadership.as_ref().map(|leadership| &leadership.isr);
    if in_sync.is_some_and(|isr| !isr.iter().any(|member| replicas.contains(member))) {
        return Err(ErrorCode::InvalidReplicaAssignment);
    }
    Ok(Assignment { replicas, adding, removing })
}

fn start(
    active: &mut Active,
    request: Option<RequestId>,
    wanted: BTreeMap<TopicPartition, Assignment>,
    results: Results,
    out: &mut Vec<Effect>,
) {
    let mut nodes: BTreeMap<Arc<str>, TopicNode> = BTreeMap::new();
    for (name, assignment) in &wanted {
        let node = nodes.entry(Arc::clone(&name.topic)).or_insert_with(|| node_of(active, &name.topic));
        node.partitions.insert(name.partition, assignment.clone());
    }
    let topics = nodes.keys().cloned().collect();
    let started = Started { request, topics, wanted, results };
    if nodes.is_empty() {
        reply(started, &BTreeSet::new(), out);
        return;
    }
    let writes = nodes.into_iter().map(|(topic, node)| Write::Topic(topic, node)).collect();
    active.write(writes, Pending::Reassignments(started), out);
}

/// The nodes are written: takes the assignments over, stops replicas that a replaced reassignment had added, begins.
pub(super) fn started(active: &mut Active, started: Started, outcomes: &[Outcome], out: &mut Vec<Effect>) {
    let failed: BTreeSet<Arc<str>> = started
        .topics
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| !matches!(outcome, Outcome::Done(_)))
        .map(|(topic, _)| Arc::clone(topic))
        .collect();
    let mut begun = Vec::new();
    for (name, assignment) in &started.wanted {
        if failed.contains(&name.topic) {
            continue;
        }
        let Some(partition) = active.context.partition_mut(name) else { continue };
        tracing::info!(
            partition = %name, from = ?partition.assignment.replicas, to = ?assignment.target(), "reassigning"
        );
        let dropped: Vec<BrokerId> = partition
            .assignment
            .replicas
            .iter()
            .copied()
            .filter(|broker| !assignment.replicas.contains(broker))
            .collect();
        partition.assignment = assignment.clone();
        for broker in &dropped {
            partition.replicas.remove(broker);
            active.outgoing.stop(*broker, name, true);
        }
        if let Some(deletion) = active.context.deletions.get_mut(&name.topic) {
            deletion.waits = true;
        }
        begun.push(name.clone());
    }
    active.agenda.push_front(Work::AdvanceReassignments { partitions: begun, begin: true });
    reply(started, &failed, out);
}

fn reply(started: Started, failed: &BTreeSet<Arc<str>>, out: &mut Vec<Effect>) {
    let Some(request) = started.request else { return };
    let mut results = started.results;
    for (name, result) in &mut results {
        if result.is_ok() && failed.contains(&name.topic) {
            *result = Err(ErrorCode::UnknownServerError);
        }
    }
    out.push(Effect::Reply(request, Reply::Reassign(results)));
}

/// Ends those reassignments whose target is in sync; begins the others, or leaves them to catch up.
pub(super) fn advance(active: &mut Active, names: &[TopicPartition], begin: bool, out: &mut Vec<Effect>) {
    let changes = names.iter().filter_map(|name| next_change(active, name, begin)).collect();
    partitions::apply(active, changes, After::Nothing, out);
}

fn next_change(active: &Active, name: &TopicPartition, begin: bool) -> Option<Change> {
    let partition = active.context.partition(name)?;
    let now = partition.leadership.as_ref()?;
    let target = partition.assignment.target();
    let complete = target.iter().all(|broker| now.isr.contains(broker));
    let settled = !partition.assignment.is_reassigning();
    if complete || settled {
        // A cancelled move, and one that only reorders, have nothing to wait for; they are looked at once.
        return (begin || !settled).then(|| last_change(active, name, partition, now, &target)).flatten();
    }
    if !begin {
        return None;
    }
    let replicas = &partition.assignment.replicas;
    let next = if now.leader == BrokerId::NONE || replicas.contains(&now.leader) {
        raised(active, now)
    } else {
        let clean = Strategy::Offline { unclean: false };
        election::elect(&active.context, name, partition, clean).or_else(|| leaderless(active, now))?
    };
    let next = within(next, replicas)?;
    Some(Change { partition: name.clone(), next, reason: Reason::ReassignmentBegun })
}

/// The state with which a move ends: a leader of the target, and nobody else in sync.
fn last_change(
    active: &Active,
    name: &TopicPartition,
    partition: &Partition,
    now: &LeaderAndIsr,
    target: &[BrokerId],
) -> Option<Change> {
    let next = if target.contains(&now.leader) && active.context.is_online(now.leader, name) {
        raised(active, now)
    } else {
        let elected = election::elect(&active.context, name, partition, Strategy::Reassigned);
        // What a cancelled move had added is being deleted, and must not go on leading.
        let deleted = !partition.assignment.replicas.contains(&now.leader);
        elected.or_else(|| deleted.then(|| leaderless(active, now)).flatten())?
    };
    let next = within(next, target)?;
    let mut leaving: Vec<BrokerId> =
        now.isr.iter().copied().filter(|broker| !target.contains(broker)).collect();
    leaving.extend(partition.assignment.removing.iter().copied());
    leaving.sort_unstable();
    leaving.dedup();
    Some(Change { partition: name.clone(), next, reason: Reason::ReassignmentDone(leaving) })
}

/// The same state in a new leader epoch, so that every replica looks again.
fn raised(active: &Active, now: &LeaderAndIsr) -> LeaderAndIsr {
    LeaderAndIsr {
        leader_epoch: now.leader_epoch.next(),
        controller_epoch: active.context.epoch,
        ..now.clone()
    }
}

fn leaderless(active: &Active, now: &LeaderAndIsr) -> Option<LeaderAndIsr> {
    let next = election::without(now, &[now.leader])?;
    Some(LeaderAndIsr { controller_epoch: active.context.epoch, ..next })
}

/// Leaves only `replicas` in sync; nothing when none of them is.
fn within(mut next: LeaderAndIsr, replicas: &[BrokerId]) -> Option<LeaderAndIsr> {
    next.isr.retain(|broker| replicas.contains(broker));
    (!next.isr.is_empty()).then_some(next)
}

/// The last state is written: the target's replicas go on, the others delete their logs, the node is written again.
pub(super) fn moved(active: &mut Active, name: &TopicPartition, target: &[BrokerId], gone: &[BrokerId]) {
    let alive: BTreeSet<BrokerId> = active.context.brokers.keys().copied().collect();
    let Some(partition) = active.context.partition_mut(name) else { return };
    let rewrite = partition.assignment.is_reassigning();
    partition.assignment = Assignment::of(target.to_vec());
    partition.replicas.retain(|broker, _| target.contains(broker));
    for broker in target {
        let status = partition.replicas.entry(*broker).or_insert(ReplicaStatus::New);
        if alive.contains(broker) {
            *status = ReplicaStatus::Online;
        }
    }
    active.outgoing.lead(name, target.iter().copied(), Replica::Known);
    for broker in gone {
        active.outgoing.stop(*broker, name, true);
    }
    let listed = active.context.node_reassignments.contains_key(name);
    if rewrite || listed {
        match active.agenda.front_mut() {
            Some(Work::FinishReassignments(names)) => names.push(name.clone()),
            _ => active.agenda.push_front(Work::FinishReassignments(vec![name.clone()])),
        }
    }
}

/// Writes the topic nodes of partitions that have arrived, and takes them off the old tool's node.
pub(super) fn finish(active: &mut Active, names: Vec<TopicPartition>, out: &mut Vec<Effect>) {
    let mut listed = false;
    for name in &names {
        listed |= active.context.node_reassignments.remove(name).is_some();
    }
    let topics: BTreeSet<Arc<str>> = names.iter().map(|name| Arc::clone(&name.topic)).collect();
    let mut writes: Vec<Write> =
        topics.into_iter().map(|topic| Write::Topic(Arc::clone(&topic), node_of(active, &topic))).collect();
    if listed {
        writes.push(remaining_node(active));
    }
    active.write(writes, Pending::ReassignmentsDone(names), out);
}

/// The nodes are written: everybody is told, and deletions that waited go on.
pub(super) fn done(active: &mut Active, names: &[TopicPartition], outcomes: &[Outcome], _out: &mut [Effect]) {
    if !outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done(_))) {
        tracing::warn!("the end of a reassignment was not written; the next controller ends it again");
    }
    for name in names {
        tracing::info!(partition = %name, "reassigned");
        active.outgoing.know(name);
        deletion::reassignment_ended(active, &name.topic);
    }
}

/// What is left of the old tool's node.
fn remaining_node(active: &Active) -> Write {
    let left = &active.context.node_reassignments;
    if left.is_empty() {
        Write::Delete(reassign::PATH.to_owned())
    } else {
        Write::Set(reassign::PATH.to_owned(), reassign::encode(left))
    }
}

/// Answers ListPartitionReassignments.
pub(super) fn list(
    active: &Active,
    request: RequestId,
    partitions: Option<Vec<TopicPartition>>,
    out: &mut Vec<Effect>,
) {
    let mut moving = active.context.select(|_, partition| partition.assignment.is_reassigning());
    if let Some(wanted) = partitions {
        moving.retain(|name| wanted.contains(name));
    }
    let describe = |name: TopicPartition| {
        let assignment = active.context.partition(&name)?.assignment.clone();
        Some((name, assignment))
    };
    let answer = moving.into_iter().filter_map(describe).collect();
    out.push(Effect::Reply(request, Reply::Reassignments(answer)));
}
