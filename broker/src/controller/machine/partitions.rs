//! Partitions that are created, elected for, or lose replicas: planning the state nodes' changes, and what follows.

use super::agenda::{Active, After, Pending, Work};
use super::effect::{Effect, Write};
use super::election::{self, Strategy};
use super::event::Outcome;
use super::outgoing::Replica;
use super::types::{LeaderAndIsr, PartitionStatus, ReplicaStatus};
use super::{alter_partition, preferred, shutdown};
use crate::types::{BrokerId, PartitionEpoch, TopicPartition};

/// A planned change of one state node.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) partition: TopicPartition,
    /// What the node is to say; its partition epoch is the version to be replaced.
    pub(super) next: LeaderAndIsr,
    pub(super) reason: Reason,
}

/// Why a state node changes; it decides who is told, and what a conflict means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The partition gets its node.
    Created,
    /// A leader was elected.
    Elected(Strategy),
    /// Replicas left the in-sync replicas.
    Shrunk(Vec<BrokerId>),
    /// The leader asked for it.
    Altered,
    /// A reassignment begins: a new leader epoch makes every replica look again.
    ReassignmentBegun,
    /// A reassignment ends; these replicas are to go.
    ReassignmentDone(Vec<BrokerId>),
}

/// Creates the state nodes of new partitions that have a living replica.
pub(super) fn create(active: &mut Active, partitions: &[TopicPartition], out: &mut Vec<Effect>) {
    let changes = partitions
        .iter()
        .filter_map(|name| {
            let partition = active.context.partition(name)?;
            let wanted = partition.status == PartitionStatus::New && !active.context.is_deleting(&name.topic);
            let next = wanted.then(|| election::first(&active.context, name, partition)).flatten()?;
            Some(Change { partition: name.clone(), next, reason: Reason::Created })
        })
        .collect();
    apply(active, changes, After::Nothing, out);
}

/// Elects leaders, as far as the strategy finds any.
pub(super) fn elect(
    active: &mut Active,
    partitions: &[TopicPartition],
    strategy: Strategy,
    out: &mut Vec<Effect>,
) {
    let changes = partitions.iter().filter_map(|name| election(active, name, strategy)).collect();
    apply(active, changes, After::Nothing, out);
}

/// Plans the election for a partition: a first leader where there never was one, else by the strategy.
pub(super) fn election(active: &Active, name: &TopicPartition, strategy: Strategy) -> Option<Change> {
    let partition = active.context.partition(name)?;
    if active.context.is_deleting(&name.topic) {
        return None;
    }
    if partition.leadership.is_none() {
        let next = election::first(&active.context, name, partition)?;
        return Some(Change { partition: name.clone(), next, reason: Reason::Created });
    }
    let strategy = match strategy {
        Strategy::Offline { unclean } => Strategy::Offline {
            unclean: unclean || active.context.allows_unclean(&name.topic, active.settings.unclean_election),
        },
        other => other,
    };
    let next = election::elect(&active.context, name, partition, strategy)?;
    Some(Change { partition: name.clone(), next, reason: Reason::Elected(strategy) })
}

/// Plans what is left of a partition when `gone` are not in sync any more.
pub(super) fn shrink(active: &Active, name: &TopicPartition, gone: &[BrokerId]) -> Option<Change> {
    let now = active.context.partition(name)?.leadership.as_ref()?;
    let next = election::without(now, gone)?;
    let next = LeaderAndIsr { controller_epoch: active.context.epoch, ..next };
    Some(Change { partition: name.clone(), next, reason: Reason::Shrunk(gone.to_vec()) })
}

/// Takes `gone` out of the in-sync replicas.
pub(super) fn shrink_all(
    active: &mut Active,
    partitions: &[TopicPartition],
    gone: &[BrokerId],
    out: &mut Vec<Effect>,
) {
    let changes = partitions.iter().filter_map(|name| shrink(active, name, gone)).collect();
    apply(active, changes, After::Nothing, out);
}

/// Writes the changes, or goes on at once when there are none.
pub(super) fn apply(active: &mut Active, changes: Vec<Change>, then: After, out: &mut Vec<Effect>) {
    if changes.is_empty() {
        follow(active, Vec::new(), then, out);
        return;
    }
    let epoch = active.context.epoch;
    let writes = changes
        .iter()
        .map(|change| {
            let node = change.next.to_node(epoch);
            if change.reason == Reason::Created {
                Write::NewState(change.partition.clone(), node)
            } else {
                Write::State(change.partition.clone(), node, change.next.partition_epoch)
            }
        })
        .collect();
    active.write(writes, Pending::States { changes, then }, out);
}

/// Takes over what was written, plans again what met a conflict, and goes on.
pub(super) fn written(
    active: &mut Active,
    changes: Vec<Change>,
    outcomes: Vec<Outcome>,
    then: After,
    out: &mut Vec<Effect>,
) {
    summarize(&changes);
    let mut failed = Vec::new();
    for (change, outcome) in changes.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Done(version) => done(active, change, version),
            Outcome::Conflict(Some(stored)) => {
                conflict(active, &change, stored, &then);
                failed.push(change.partition);
            }
            Outcome::Conflict(None) | Outcome::Failed | Outcome::Fenced => {
                tracing::warn!(partition = %change.partition, reason = ?change.reason, "a state node was not written");
                failed.push(change.partition);
            }
        }
    }
    if !active.fenced {
        follow(active, failed, then, out);
    }
}

fn follow(active: &mut Active, failed: Vec<TopicPartition>, then: After, out: &mut Vec<Effect>) {
    match then {
        After::Nothing => {}
        After::AlterPartition(answering) => alter_partition::answer(active, answering, &failed, out),
        After::Shutdown { request, broker } => shutdown::answer(active, request, broker, out),
        After::ElectLeaders(electing) => preferred::answer(electing, &failed, out),
    }
}

fn done(active: &mut Active, change: Change, version: i32) {
    let Change { partition: name, next, reason } = change;
    let leadership = LeaderAndIsr { partition_epoch: PartitionEpoch(version), ..next };
    let online = leadership.leader != BrokerId::NONE;
    let Some(partition) = active.context.partition_mut(&name) else { return };
    let before = partition.leadership.replace(leadership.clone());
    partition.become_status(if online { PartitionStatus::Online } else { PartitionStatus::Offline });
    let replicas = partition.assignment.replicas.clone();
    let target = partition.assignment.target();
    log_change(&name, before.as_ref(), &leadership, &reason);
    match reason {
        Reason::Created => {
            let isr = leadership.isr.clone();
            for broker in &isr {
                partition.set_replica(*broker, ReplicaStatus::Online);
            }
            active.outgoing.lead(&name, isr, Replica::New);
        }
        Reason::Elected(Strategy::Reassigned) => active.outgoing.lead(&name, target, Replica::Known),
        Reason::Elected(Strategy::Offline { .. } | Strategy::Preferred | Strategy::ControlledShutdown) => {
            active.outgoing.lead(&name, replicas, Replica::Known);
        }
        Reason::Shrunk(gone) => {
            let rest = replicas.into_iter().filter(|replica| !gone.contains(replica));
            if active.context.is_deleting(&name.topic) {
                active.outgoing.know(&name);
            } else {
                active.outgoing.lead(&name, rest, Replica::Known);
            }
        }
        Reason::Altered => active.outgoing.know(&name),
        Reason::ReassignmentBegun => {
            let adding = partition.assignment.adding.clone();
            for broker in &adding {
                partition.replicas.entry(*broker).or_insert(ReplicaStatus::New);
            }
            active.outgoing.lead(&name, partition_origin(&replicas, &adding), Replica::Known);
            active.outgoing.lead(&name, adding, Replica::New);
        }
        Reason::ReassignmentDone(gone) => super::reassignment::moved(active, &name, &target, &gone),
    }
}

fn partition_origin(replicas: &[BrokerId], adding: &[BrokerId]) -> Vec<BrokerId> {
    replicas.iter().copied().filter(|replica| !adding.contains(replica)).collect()
}

/// Somebody else changed the node: takes over what it says, and plans again.
fn conflict(active: &mut Active, change: &Change, stored: LeaderAndIsr, then: &After) {
    let name = &change.partition;
    if stored.controller_epoch > active.context.epoch {
        tracing::warn!(partition = %name, epoch = %stored.controller_epoch, "a later controller wrote the state node");
        active.fenced = true;
        return;
    }
    let status = if active.context.brokers.contains_key(&stored.leader) {
        PartitionStatus::Online
    } else {
        PartitionStatus::Offline
    };
    let Some(partition) = active.context.partition_mut(name) else { return };
    partition.leadership = Some(stored);
    partition.status = status;
    let replicas = partition.assignment.replicas.clone();
    // The requests of others are refused, and they ask again; what the controller wants itself is planned anew.
    if !matches!(then, After::Nothing) && matches!(change.reason, Reason::Altered) {
        return;
    }
    let partitions = vec![name.clone()];
    active.agenda.push_front(match &change.reason {
        Reason::Elected(strategy) => Work::Elect { partitions, strategy: *strategy },
        Reason::Created if status == PartitionStatus::Online => {
            active.outgoing.lead(name, replicas, Replica::Known);
            return;
        }
        Reason::Created => Work::Elect { partitions, strategy: Strategy::Offline { unclean: false } },
        Reason::Shrunk(gone) => Work::Shrink { partitions, gone: gone.clone() },
        Reason::ReassignmentBegun => Work::AdvanceReassignments { partitions, begin: true },
        Reason::ReassignmentDone(_) | Reason::Altered => {
            Work::AdvanceReassignments { partitions, begin: false }
        }
    });
}

fn summarize(changes: &[Change]) {
    let count = |test: fn(&Reason) -> bool| changes.iter().filter(|change| test(&change.reason)).count();
    let (created, elected, shrunk) = (
        count(|reason| matches!(reason, Reason::Created)),
        count(|reason| matches!(reason, Reason::Elected(_))),
        count(|reason| matches!(reason, Reason::Shrunk(_))),
    );
    if created + elected + shrunk > 0 {
        tracing::info!(created, elected, shrunk, "partitions changed");
    }
}

fn log_change(name: &TopicPartition, before: Option<&LeaderAndIsr>, after: &LeaderAndIsr, reason: &Reason) {
    let from = before.map_or(BrokerId::NONE, |it| it.leader);
    // One line for each partition would take longer than the election of thousands of them.
    tracing::debug!(
        partition = %name, from = %from, leader = %after.leader, leader_epoch = %after.leader_epoch,
        isr = ?after.isr.iter().map(|it| it.0).collect::<Vec<_>>(), reason = ?reason, "partition state changed"
    );
}
