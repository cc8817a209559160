//! A broker that says goodbye: its leaderships move first, so that nobody misses it.

use super::agenda::{Active, After};
use super::effect::{Effect, Reply};
use super::election::Strategy;
use super::event::RequestId;
use super::partitions;
use super::types::ReplicaStatus;
use crate::types::{BrokerEpoch, BrokerId, TopicPartition};
use ottla_protocol::message::ErrorCode;

/// Moves what the broker leads to others and stops what it follows.
pub(super) fn begin(
    active: &mut Active,
    request: RequestId,
    broker: BrokerId,
    epoch: BrokerEpoch,
    out: &mut Vec<Effect>,
) {
    if let Err(refusal) = check(active, broker, epoch) {
        out.push(Effect::Reply(request, Reply::Refused(refusal)));
        return;
    }
    active.context.shutting_down.insert(broker);
    tracing::info!(%broker, "the broker shuts down");
    let mut changes = Vec::new();
    for name in replicated(active, broker) {
        let Some(partition) = active.context.partition_mut(&name) else { continue };
        if partition.is_led_by(broker) {
            changes.extend(partitions::election(active, &name, Strategy::ControlledShutdown));
        } else {
            partition.set_replica(broker, ReplicaStatus::Offline);
            active.outgoing.stop(broker, &name, false);
            active.outgoing.know(&name);
            changes.extend(partitions::shrink(active, &name, &[broker]));
        }
    }
    partitions::apply(active, changes, After::Shutdown { request, broker }, out);
}

/// Answers with what the broker leads still.
pub(super) fn answer(active: &mut Active, request: RequestId, broker: BrokerId, out: &mut Vec<Effect>) {
    // The new leaders hear of it before the broker hears that it may go.
    active.flush(out);
    let mut remaining = replicated(active, broker);
    remaining.retain(|name| active.context.partition(name).is_some_and(|it| it.is_led_by(broker)));
    out.push(Effect::Reply(request, Reply::ControlledShutdown(remaining)));
}

fn check(active: &Active, broker: BrokerId, epoch: BrokerEpoch) -> Result<(), ErrorCode> {
    match active.context.brokers.get(&broker) {
        Some(live) if epoch != BrokerEpoch::UNKNOWN && epoch < live.epoch => Err(ErrorCode::StaleBrokerEpoch),
        Some(_) => Ok(()),
        None if epoch == BrokerEpoch::UNKNOWN => Err(ErrorCode::BrokerNotAvailable),
        None => Err(ErrorCode::UnknownServerError),
    }
}

/// The partitions on the broker that have a leader and other replicas; a lonely replica cannot be moved.
fn replicated(active: &Active, broker: BrokerId) -> Vec<TopicPartition> {
    active.context.select(|_, partition| {
        partition.assignment.replicas.contains(&broker)
            && partition.assignment.replicas.len() > 1
            && partition.leadership.is_some()
    })
}
