//! Collects what brokers have to be told, so that each hears of all partitions of one event in one request.
//!
//! The order within an event is Kafka's: LeaderAndIsr, UpdateMetadata, StopReplica. What is sent about a partition is
//! what the context says when the event is through.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::context::{Context, Partition};
use super::effect::{
    Command, EPOCH_DURING_DELETE, Effect, LEADER_DURING_DELETE, PartitionUpdate, StopReplica,
};
use super::types::LiveBroker;
use crate::types::{BrokerId, LeaderEpoch, TopicPartition};

/// Whether a replica is new on its broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replica {
    /// It is: an empty log is right.
    New,
    /// It should be there.
    Known,
}

/// What is to be sent when the event is through.
#[derive(Debug, Clone, Default)]
pub(super) struct Outgoing {
    lead: BTreeMap<BrokerId, BTreeMap<TopicPartition, Replica>>,
    know: BTreeSet<TopicPartition>,
    know_brokers: BTreeSet<BrokerId>,
    stop: BTreeMap<BrokerId, BTreeMap<TopicPartition, bool>>,
}

impl Outgoing {
    /// Tells `brokers` to lead or follow the partition, and everybody to know.
    pub(super) fn lead(
        &mut self,
        partition: &TopicPartition,
        brokers: impl IntoIterator<Item = BrokerId>,
        replica: Replica,
    ) {
        for broker in brokers {
            self.lead_only(partition, broker, replica);
        }
        self.know.insert(partition.clone());
    }

    /// Tells `broker` to lead or follow the partition, and nobody else anything.
    pub(super) fn lead_only(&mut self, partition: &TopicPartition, broker: BrokerId, replica: Replica) {
        let told = self.lead.entry(broker).or_default().entry(partition.clone()).or_insert(replica);
        if replica == Replica::New {
            *told = Replica::New;
        }
    }

    /// Tells everybody about the partition.
    pub(super) fn know(&mut self, partition: &TopicPartition) {
        self.know.insert(partition.clone());
    }

    /// Tells `brokers` about the brokers, even when no partition changed.
    pub(super) fn know_brokers(&mut self, brokers: impl IntoIterator<Item = BrokerId>) {
        self.know_brokers.extend(brokers);
    }

    /// Tells `broker` to stop the replica.
    pub(super) fn stop(&mut self, broker: BrokerId, partition: &TopicPartition, delete: bool) {
        let told = self.stop.entry(broker).or_default().entry(partition.clone()).or_default();
        *told |= delete;
    }

    /// Sends what was collected.
    pub(super) fn flush(&mut self, context: &Context, listener: &str, out: &mut Vec<Effect>) {
        let collected = std::mem::take(self);
        for (broker, partitions) in &collected.lead {
            send(context, *broker, leader_and_isr(context, partitions, listener), out);
        }
        let everybody = !collected.know.is_empty();
        let to = |broker: &BrokerId| everybody || collected.know_brokers.contains(broker);
        if context.brokers.keys().any(to) {
            let partitions = updates(context, &collected.know);
            let brokers = Arc::new(context.brokers.clone());
            for broker in context.brokers.keys().filter(|broker| to(broker)) {
                let (partitions, brokers) = (Arc::clone(&partitions), Arc::clone(&brokers));
                send(context, *broker, Some(Command::UpdateMetadata { partitions, brokers }), out);
            }
        }
        for (broker, partitions) in &collected.stop {
            send(context, *broker, stop_replica(context, partitions), out);
        }
    }
}

/// Sends `broker` everything there is to know, as a broker that just came needs it.
pub(super) fn send_everything(context: &Context, broker: BrokerId, out: &mut Vec<Effect>) {
    let all: BTreeSet<TopicPartition> = context.partitions().map(|(name, _)| name).collect();
    let partitions = updates(context, &all);
    let brokers = Arc::new(context.brokers.clone());
    send(context, broker, Some(Command::UpdateMetadata { partitions, brokers }), out);
}

fn send(context: &Context, broker: BrokerId, command: Option<Command>, out: &mut Vec<Effect>) {
    if let (Some(live), Some(command)) = (context.brokers.get(&broker), command) {
        out.push(Effect::Send(broker, live.epoch, command));
    }
}

fn leader_and_isr(
    context: &Context,
    partitions: &BTreeMap<TopicPartition, Replica>,
    listener: &str,
) -> Option<Command> {
    let updates: Vec<PartitionUpdate> = partitions
        .iter()
        .filter_map(|(name, replica)| {
            let partition = context.partition(name)?;
            // Without a state node there is nothing to lead or follow.
            partition.leadership.as_ref()?;
            Some(update(context, name, partition, *replica == Replica::New))
        })
        .collect();
    let leaders = updates
        .iter()
        .filter_map(|update| {
            let endpoint = context.brokers.get(&update.leader)?.registration.endpoint(listener)?;
            Some((update.leader, (endpoint.host.clone(), endpoint.port)))
        })
        .collect();
    (!updates.is_empty()).then_some(Command::LeaderAndIsr { partitions: updates, leaders })
}

fn stop_replica(context: &Context, partitions: &BTreeMap<TopicPartition, bool>) -> Option<Command> {
    let stop = |(name, delete): (&TopicPartition, &bool)| {
        let known = context.partition(name).and_then(|partition| partition.leadership.as_ref());
        let leader_epoch = if context.is_deleting(&name.topic) {
            EPOCH_DURING_DELETE
        } else {
            known.map_or(LeaderEpoch::UNKNOWN, |leadership| leadership.leader_epoch)
        };
        StopReplica { partition: name.clone(), leader_epoch, delete: *delete }
    };
    (!partitions.is_empty())
        .then(|| Command::StopReplica { partitions: partitions.iter().map(stop).collect() })
}

fn updates(context: &Context, names: &BTreeSet<TopicPartition>) -> Arc<[PartitionUpdate]> {
    names
        .iter()
        .filter_map(|name| {
            let partition = context.partition(name)?;
            let deleting = context.is_deleting(&name.topic);
            (deleting || partition.leadership.is_some()).then(|| update(context, name, partition, false))
        })
        .collect()
}

fn update(context: &Context, name: &TopicPartition, partition: &Partition, is_new: bool) -> PartitionUpdate {
    let deleting = context.is_deleting(&name.topic);
    let known = partition.leadership.as_ref();
    let assignment = &partition.assignment;
    PartitionUpdate {
        partition: name.clone(),
        topic_id: context.topics.get(&name.topic).and_then(|topic| topic.id),
        controller_epoch: known.map_or(context.epoch, |it| it.controller_epoch),
        leader: if deleting { LEADER_DURING_DELETE } else { known.map_or(BrokerId::NONE, |it| it.leader) },
        leader_epoch: if deleting {
            LeaderEpoch(0)
        } else {
            known.map_or(LeaderEpoch(0), |it| it.leader_epoch)
        },
        isr: known.map(|it| it.isr.clone()).unwrap_or_default(),
        partition_epoch: known.map_or(crate::types::PartitionEpoch(0), |it| it.partition_epoch),
        replicas: assignment.replicas.clone(),
        adding: assignment.adding.clone(),
        removing: assignment.removing.clone(),
        offline: assignment
            .replicas
            .iter()
            .copied()
            .filter(|replica| !context.is_reachable(*replica, name))
            .collect(),
        is_new,
        recovery: known.map(|it| it.recovery).unwrap_or_default(),
    }
}

/// Says whether the brokers' nodes differ in what other brokers are told.
pub(super) fn is_same_to_others(one: &LiveBroker, other: &LiveBroker) -> bool {
    let (one, other) = (&one.registration, &other.registration);
    one.endpoints == other.endpoints && one.rack == other.rack && one.features == other.features
}
