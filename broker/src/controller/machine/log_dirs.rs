//! Replicas that a living broker cannot serve, and state nodes that older leaders wrote themselves.

use std::collections::BTreeMap;

use ottla_protocol::message::ErrorCode;

use super::agenda::{Active, After, Work};
use super::effect::{Effect, Write};
use super::election::Strategy;
use super::outgoing::Replica;
use super::partitions;
use super::types::{LeaderAndIsr, PartitionStatus, ReplicaStatus};
use crate::types::{BrokerId, TopicPartition};
use crate::zk::layout::{isr_change, log_dir_event};

/// What a broker answers for a partition in a failed directory.
const STORAGE_ERROR: ErrorCode = ErrorCode::KafkaStorageError;

/// Returns the partitions that a LeaderAndIsr answer says are in a failed directory.
pub(super) fn failed(results: &[(TopicPartition, i16)]) -> Vec<TopicPartition> {
    results.iter().filter(|(_, code)| *code == STORAGE_ERROR.code()).map(|(name, _)| name.clone()).collect()
}

/// Brokers say that a directory failed: all their replicas are told again, and the answers say which are lost.
pub(super) fn notified(active: &mut Active, brokers: &[BrokerId], nodes: Vec<String>, out: &mut Vec<Effect>) {
    let concerned = active
        .context
        .select(|_, partition| partition.assignment.replicas.iter().any(|replica| brokers.contains(replica)));
    for name in concerned {
        let Some(partition) = active.context.partition(&name) else { continue };
        let here: Vec<BrokerId> =
            partition.assignment.replicas.iter().copied().filter(|it| brokers.contains(it)).collect();
        active.outgoing.lead(&name, here, Replica::Known);
    }
    delete_nodes(active, nodes.iter().map(|node| log_dir_event::path(node)).collect(), out);
}

/// Replicas are in a failed directory: as if their broker had died, but only for them.
pub(super) fn replicas_failed(
    active: &mut Active,
    broker: BrokerId,
    lost: Vec<TopicPartition>,
    out: &mut Vec<Effect>,
) {
    active.context.offline_dirs.entry(broker).or_default().extend(lost.iter().cloned());
    let mut changes = Vec::new();
    for name in &lost {
        let Some(partition) = active.context.partition_mut(name) else { continue };
        partition.set_replica(broker, ReplicaStatus::Offline);
        let led = partition.is_led_by(broker);
        if led {
            partition.become_status(PartitionStatus::Offline);
        }
        active.outgoing.know(name);
        let strategy = Strategy::Offline { unclean: false };
        let elected = led.then(|| partitions::election(active, name, strategy)).flatten();
        changes.extend(elected.or_else(|| partitions::shrink(active, name, &[broker])));
    }
    partitions::apply(active, changes, After::Nothing, out);
}

/// Leaders of an older version wrote state nodes: takes over what they say and tells everybody.
pub(super) fn states_changed(
    active: &mut Active,
    states: BTreeMap<TopicPartition, LeaderAndIsr>,
    nodes: Vec<String>,
    out: &mut Vec<Effect>,
) {
    let mut moving = Vec::new();
    for (name, state) in states {
        let Some(partition) = active.context.partition_mut(&name) else { continue };
        let newer = partition.leadership.as_ref().is_none_or(|it| it.partition_epoch < state.partition_epoch);
        if newer {
            partition.leadership = Some(state);
            if partition.assignment.is_reassigning() {
                moving.push(name.clone());
            }
            active.outgoing.know(&name);
        }
    }
    if !moving.is_empty() {
        active.agenda.push_front(Work::AdvanceReassignments { partitions: moving, begin: false });
    }
    delete_nodes(active, nodes.iter().map(|node| isr_change::path(node)).collect(), out);
}

fn delete_nodes(active: &mut Active, paths: Vec<String>, out: &mut Vec<Effect>) {
    if !paths.is_empty() {
        let writes = paths.into_iter().map(Write::Delete).collect();
        active.write(writes, super::agenda::Pending::Housekeeping, out);
    }
}
