//! Topics that go: every replica deletes its log first, then the topic's nodes are deleted.
//!
//! A topic waits while a replica's broker is dead or a partition is being reassigned; it goes on when the broker
//! returns or the reassignment ends. The mark in ZooKeeper is deleted last, so a new controller goes on as well.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agenda::{Active, Pending, Work};
use super::context::Deletion;
use super::effect::{Effect, Write};
use super::event::Outcome;
use super::types::{PartitionStatus, ReplicaStatus};
use crate::types::{BrokerId, TopicPartition};
use crate::zk::layout::delete_topics;

/// The list of marks was read.
pub(super) fn marked(active: &mut Active, names: Vec<Arc<str>>, out: &mut Vec<Effect>) {
    let pointless: Vec<Write> = names
        .iter()
        .filter(|name| !active.settings.delete_topics || !active.context.topics.contains_key(*name))
        .map(|name| Write::Delete(delete_topics::path(name)))
        .collect();
    if active.settings.delete_topics {
        for name in names {
            queue(active, &name);
        }
    }
    active.agenda.push_front(Work::ResumeDeletions);
    if !pointless.is_empty() {
        active.write(pointless, Pending::Housekeeping, out);
    }
}

/// Puts a topic on the list of those that are to go.
pub(super) fn queue(active: &mut Active, name: &Arc<str>) {
    let context = &mut active.context;
    let Some(topic) = context.topics.get(name) else { return };
    let reassigning = topic.partitions.values().any(|partition| partition.assignment.is_reassigning());
    let deletion = Deletion { started: false, waits: reassigning };
    context.deletions.entry(Arc::clone(name)).or_insert(deletion);
}

/// Goes on with every topic that can: begins, begins again, or finishes.
pub(super) fn resume(active: &mut Active, out: &mut Vec<Effect>) {
    let names: Vec<Arc<str>> = active.context.deletions.keys().cloned().collect();
    let mut finished = Vec::new();
    for name in names {
        match next_step(active, &name) {
            Step::Finish => finished.push(name),
            Step::Begin => begin(active, &name),
            Step::Wait => {}
        }
    }
    if !finished.is_empty() {
        let writes = finished.iter().map(|name| Write::DeleteTopic(Arc::clone(name))).collect();
        active.write(writes, Pending::Deletion(finished), out);
    }
}

enum Step {
    Begin,
    Finish,
    Wait,
}

fn next_step(active: &Active, name: &Arc<str>) -> Step {
    let (Some(topic), Some(deletion)) = (active.context.topics.get(name), active.context.deletions.get(name))
    else {
        return Step::Wait;
    };
    let mut replicas = topic.partitions.values().flat_map(|partition| partition.replicas.values());
    if deletion.started && replicas.clone().all(|status| *status == ReplicaStatus::DeletionSuccessful) {
        return Step::Finish;
    }
    let running = replicas.any(|status| *status == ReplicaStatus::DeletionStarted);
    if deletion.waits || running { Step::Wait } else { Step::Begin }
}

/// Tells living replicas to delete their logs; with a dead one among them the topic waits afterwards.
fn begin(active: &mut Active, name: &Arc<str>) {
    tracing::info!(topic = %name, "deleting the topic");
    let mut dead = false;
    for partition_name in active.context.partitions_of(name) {
        active.outgoing.know(&partition_name);
        let brokers: Vec<BrokerId> = active.context.brokers.keys().copied().collect();
        let Some(partition) = active.context.partition_mut(&partition_name) else { continue };
        if partition.status != PartitionStatus::NonExistent {
            partition.become_status(PartitionStatus::Offline);
            partition.become_status(PartitionStatus::NonExistent);
        }
        let replicas: Vec<(BrokerId, ReplicaStatus)> =
            partition.replicas.iter().map(|(broker, status)| (*broker, *status)).collect();
        for (broker, status) in replicas {
            if status == ReplicaStatus::DeletionSuccessful {
                continue;
            }
            partition.set_replica(broker, ReplicaStatus::Offline);
            if brokers.contains(&broker) {
                partition.set_replica(broker, ReplicaStatus::DeletionStarted);
                active.outgoing.stop(broker, &partition_name, true);
            } else {
                partition.set_replica(broker, ReplicaStatus::DeletionIneligible);
                dead = true;
            }
        }
    }
    if let Some(deletion) = active.context.deletions.get_mut(name) {
        *deletion = Deletion { started: true, waits: dead };
    }
}

/// A broker answered what it was told to delete.
pub(super) fn answered(active: &mut Active, broker: BrokerId, results: &[(TopicPartition, i16)]) {
    for (name, code) in results {
        let Some(deletion) = active.context.deletions.get_mut(&name.topic) else { continue };
        let status = if *code == 0 {
            ReplicaStatus::DeletionSuccessful
        } else {
            tracing::warn!(partition = %name, %broker, code, "the replica was not deleted");
            deletion.waits = true;
            ReplicaStatus::DeletionIneligible
        };
        if let Some(partition) = active.context.partition_mut(name) {
            partition.set_replica(broker, status);
        }
    }
}

/// Brokers died: what they had not yet deleted has to wait for them.
pub(super) fn brokers_failed(active: &mut Active, gone: &BTreeSet<BrokerId>) {
    for_each_replica(active, gone, |status, deletion| {
        let unfinished = *status != ReplicaStatus::DeletionSuccessful;
        if unfinished && status.may_become(ReplicaStatus::DeletionIneligible) {
            *status = ReplicaStatus::DeletionIneligible;
        }
        deletion.waits |= unfinished && deletion.started;
    });
}

/// Brokers came: topics that waited for them go on.
pub(super) fn brokers_started(active: &mut Active, came: &BTreeSet<BrokerId>) {
    for_each_replica(active, came, |_, deletion| deletion.waits = false);
}

/// A reassignment ended: its topic's deletion goes on.
pub(super) fn reassignment_ended(active: &mut Active, topic: &str) {
    if let Some(deletion) = active.context.deletions.get_mut(topic) {
        deletion.waits = false;
        active.agenda.push_back(Work::ResumeDeletions);
    }
}

fn for_each_replica(
    active: &mut Active,
    brokers: &BTreeSet<BrokerId>,
    mut change: impl FnMut(&mut ReplicaStatus, &mut Deletion),
) {
    let context = &mut active.context;
    for (name, deletion) in &mut context.deletions {
        let Some(topic) = context.topics.get_mut(name) else { continue };
        for partition in topic.partitions.values_mut() {
            for (_, status) in partition.replicas.iter_mut().filter(|(id, _)| brokers.contains(id)) {
                change(status, deletion);
            }
        }
    }
}

/// The nodes are deleted: the topics are forgotten.
pub(super) fn deleted(active: &mut Active, topics: &[Arc<str>], outcomes: &[Outcome]) {
    for (name, outcome) in topics.iter().zip(outcomes) {
        if matches!(outcome, Outcome::Done(_)) {
            tracing::info!(topic = %name, "deleted the topic");
            active.context.remove_topic(name);
        } else {
            tracing::warn!(topic = %name, ?outcome, "the topic's nodes were not deleted; trying again later");
        }
    }
}
