//! Brokers that come, go, return under a new epoch, or change what they advertise.

use std::collections::{BTreeMap, BTreeSet};

use super::agenda::{Active, After, Work};
use super::deletion;
use super::effect::Effect;
use super::election::Strategy;
use super::outgoing::{Outgoing, Replica, is_same_to_others, send_everything};
use super::partitions;
use super::types::{LiveBroker, PartitionStatus, ReplicaStatus};
use crate::types::BrokerId;

const OFFLINE: Strategy = Strategy::Offline { unclean: false };

/// Compares who is registered with who was: new ones first, then those that returned before their death was seen,
/// which fail and start, then the dead.
pub(super) fn compare(active: &mut Active, now: BTreeMap<BrokerId, LiveBroker>, out: &mut Vec<Effect>) {
    let mut new = BTreeMap::new();
    let mut bounced = BTreeMap::new();
    let mut changed = false;
    let mut moved = Vec::new();
    for (id, broker) in &now {
        match active.context.brokers.get_mut(id) {
            None => drop(new.insert(*id, broker.clone())),
            Some(known) if broker.epoch > known.epoch => drop(bounced.insert(*id, broker.clone())),
            Some(known) if !is_same_to_others(known, broker) => {
                let listener = &active.settings.inter_broker_listener;
                if known.registration.endpoint(listener) != broker.registration.endpoint(listener) {
                    moved.push(*id);
                }
                *known = broker.clone();
                changed = true;
            }
            Some(_) => {}
        }
    }
    let dead: BTreeSet<BrokerId> =
        active.context.brokers.keys().copied().filter(|id| !now.contains_key(id)).collect();
    if changed {
        active.outgoing.know_brokers(active.context.brokers.keys().copied());
    }
    for id in moved {
        reconnect(active, id, out);
    }
    tracing::debug!(?new, ?bounced, ?dead, "brokers compared");
    let works = [
        (!new.is_empty()).then_some(Work::BrokersStarted(new)),
        (!bounced.is_empty()).then(|| Work::BrokersFailed(bounced.keys().copied().collect())),
        (!bounced.is_empty()).then_some(Work::BrokersStarted(bounced)),
        (!dead.is_empty()).then_some(Work::BrokersFailed(dead)),
    ];
    for work in works.into_iter().flatten().rev() {
        active.agenda.push_front(work);
    }
}

/// Brokers died: their partitions get other leaders, and they leave the in-sync replicas; all in one write.
pub(super) fn failed(active: &mut Active, gone: &BTreeSet<BrokerId>, out: &mut Vec<Effect>) {
    for broker in gone {
        active.context.brokers.remove(broker);
        active.context.shutting_down.remove(broker);
        active.context.offline_dirs.remove(broker);
        out.push(Effect::Disconnect(*broker));
    }
    let mut leader_lost = false;
    let affected = active.context.select(|_, partition| {
        partition.assignment.replicas.iter().any(|replica| gone.contains(replica))
            || partition.status != PartitionStatus::Online
    });
    let mut changes = Vec::with_capacity(affected.len());
    for name in &affected {
        let Some(partition) = active.context.partition_mut(name) else { continue };
        let here: Vec<BrokerId> =
            partition.assignment.replicas.iter().copied().filter(|it| gone.contains(it)).collect();
        for broker in &here {
            partition.set_replica(*broker, ReplicaStatus::Offline);
        }
        if here.iter().any(|broker| partition.is_led_by(*broker)) {
            partition.become_status(PartitionStatus::Offline);
            leader_lost = true;
        }
        let leaderless = partition.status != PartitionStatus::Online;
        if !here.is_empty() {
            active.outgoing.know(name);
        }
        let elected = leaderless.then(|| partitions::election(active, name, OFFLINE)).flatten();
        changes.extend(elected.or_else(|| partitions::shrink(active, name, &here)));
    }
    deletion::brokers_failed(active, gone);
    if !leader_lost {
        active.outgoing.know_brokers(active.context.brokers.keys().copied());
    }
    partitions::apply(active, changes, After::Nothing, out);
}

/// Brokers came: they learn everything, then what they lead and follow; whoever waited for them goes on.
pub(super) fn started(active: &mut Active, started: BTreeMap<BrokerId, LiveBroker>, out: &mut Vec<Effect>) {
    let listener = active.settings.inter_broker_listener.clone();
    let ids: BTreeSet<BrokerId> = started.keys().copied().collect();
    let mut first = Outgoing::default();
    first.know_brokers(active.context.brokers.keys().copied());
    for (id, broker) in started {
        out.push(Effect::Connect(id, Box::new(broker.clone())));
        active.context.brokers.insert(id, broker);
    }
    // A follower takes a leader only if it knows where it is, so what is to be known goes before what is to be done.
    first.flush(&active.context, &listener, out);
    for id in &ids {
        send_everything(&active.context, *id, out);
    }
    let mut moving = Vec::new();
    let mut leaderless = Vec::new();
    for name in active.context.select(|_, _| true) {
        let Some(partition) = active.context.partition_mut(&name) else { continue };
        let here: Vec<BrokerId> =
            partition.assignment.replicas.iter().copied().filter(|it| ids.contains(it)).collect();
        for broker in &here {
            partition.set_replica(*broker, ReplicaStatus::Online);
        }
        let target = partition.assignment.target();
        if partition.assignment.is_reassigning() && target.iter().any(|it| ids.contains(it)) {
            moving.push(name.clone());
        }
        if partition.status != PartitionStatus::Online {
            leaderless.push(name.clone());
        }
        if !here.is_empty() {
            active.outgoing.lead(&name, here, Replica::Known);
        }
    }
    deletion::brokers_started(active, &ids);
    active.agenda.push_front(Work::ResumeDeletions);
    active.agenda.push_front(Work::AdvanceReassignments { partitions: moving, begin: true });
    partitions::elect(active, &leaderless, OFFLINE, out);
}

/// The broker listens elsewhere: what waited for it at its old address is said anew at the new one.
fn reconnect(active: &Active, broker: BrokerId, out: &mut Vec<Effect>) {
    if let Some(live) = active.context.brokers.get(&broker) {
        out.push(Effect::Disconnect(broker));
        out.push(Effect::Connect(broker, Box::new(live.clone())));
        tell_everything(active, broker, out);
    }
}

/// Tells a broker everything again, for what waited for it was too much and was dropped.
pub(super) fn tell_everything(active: &Active, broker: BrokerId, out: &mut Vec<Effect>) {
    send_everything(&active.context, broker, out);
    let mut again = Outgoing::default();
    for (name, partition) in active.context.partitions() {
        match partition.replicas.get(&broker) {
            Some(ReplicaStatus::DeletionStarted) => again.stop(broker, &name, true),
            Some(_) if !active.context.is_deleting(&name.topic) => {
                again.lead_only(&name, broker, Replica::Known);
            }
            Some(_) | None => {}
        }
    }
    again.flush(&active.context, &active.settings.inter_broker_listener, out);
}
