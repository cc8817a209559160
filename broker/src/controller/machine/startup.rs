//! The first steps of a new controller: from what ZooKeeper holds to a context, and everything that is due.

use super::agenda::{Active, After, Work};
use super::context::{Context, Partition};
use super::effect::{Effect, Write};
use super::election::Strategy;
use super::event::Snapshot;
use super::outgoing::{Outgoing, Replica};
use super::types::{PartitionStatus, ReplicaStatus, Settings};
use super::{deletion, partitions};
use crate::types::{ControllerEpoch, Millis, TopicPartition};
use crate::zk::layout::feature::{self, FeatureNode, FeatureStatus};
use crate::zk::layout::{preferred_election, reassign};

/// Takes office with the cluster as it was read, in the order of Kafka's `onControllerFailover`.
pub(super) fn take_office(
    settings: Settings,
    epoch: ControllerEpoch,
    epoch_version: i32,
    snapshot: Snapshot,
    now: Millis,
    out: &mut Vec<Effect>,
) -> Active {
    let mut active = Active::new(settings, Context::new(epoch, epoch_version), now);
    let Snapshot { brokers, topics, states, deletions, reassignments, preferred_elections } = snapshot;
    let mut unnamed = Vec::new();
    for (name, mut read) in topics {
        if read.node.id.is_none() && read.fresh_id.is_some() {
            read.node.id = read.fresh_id;
            unnamed.push(Write::Topic(name.clone(), read.node.clone()));
        }
        active.context.add_topic(&name, read.node.id, &read.node.partitions);
        if let Some(topic) = active.context.topics.get_mut(&name) {
            topic.unclean_election = read.unclean_election;
        }
    }
    for (id, broker) in &brokers {
        out.push(Effect::Connect(*id, Box::new(broker.clone())));
    }
    active.context.brokers = brokers;
    place(&mut active.context, &states);
    for name in &deletions {
        deletion::queue(&mut active, name);
    }
    // Brokers have to know where the leaders are before they are told to follow them.
    let mut first = Outgoing::default();
    first.know_brokers(active.context.brokers.keys().copied());
    first.flush(&active.context, &active.settings.inter_broker_listener, out);
    announce(&mut active);
    queue_the_rest(&mut active, unnamed, &deletions, reassignments, preferred_elections);
    begin(&mut active, out);
    let topics: Vec<_> = active.context.topics.keys().cloned().collect();
    if !topics.is_empty() {
        out.push(Effect::WatchTopics(topics));
    }
    active
}

/// Decides where every partition and replica stands.
fn place(
    context: &mut Context,
    states: &std::collections::BTreeMap<TopicPartition, super::types::LeaderAndIsr>,
) {
    let brokers = std::mem::take(&mut context.brokers);
    for (name, topic) in &mut context.topics {
        for (number, partition) in &mut topic.partitions {
            let state = states.get(&TopicPartition::new(name.clone(), *number));
            partition.leadership = state.cloned();
            partition.status = match state {
                None => PartitionStatus::New,
                Some(state) if brokers.contains_key(&state.leader) => PartitionStatus::Online,
                Some(_) => PartitionStatus::Offline,
            };
            for (broker, status) in &mut partition.replicas {
                let alive = brokers.contains_key(broker);
                *status = if alive { ReplicaStatus::Online } else { ReplicaStatus::Offline };
            }
        }
    }
    context.brokers = brokers;
}

/// Tells every living replica what it is; topics that go are left to the deletion.
fn announce(active: &mut Active) {
    for name in active.context.select(|_, partition: &Partition| partition.leadership.is_some()) {
        let Some(partition) = active.context.partition(&name) else { continue };
        let replicas = partition.assignment.replicas.clone();
        active.outgoing.lead(&name, replicas, Replica::Known);
    }
}

/// Elects where there is no leader and takes the dead out of the in-sync replicas.
fn begin(active: &mut Active, out: &mut Vec<Effect>) {
    let mut changes = Vec::new();
    for name in active.context.select(|_, _| true) {
        let Some(partition) = active.context.partition(&name) else { continue };
        let dead: Vec<_> = partition
            .assignment
            .replicas
            .iter()
            .copied()
            .filter(|replica| !active.context.brokers.contains_key(replica))
            .collect();
        let leaderless = partition.status != PartitionStatus::Online;
        let strategy = Strategy::Offline { unclean: false };
        let elected = leaderless.then(|| partitions::election(active, &name, strategy)).flatten();
        changes.extend(elected.or_else(|| partitions::shrink(active, &name, &dead)));
    }
    partitions::apply(active, changes, After::Nothing, out);
}

fn queue_the_rest(
    active: &mut Active,
    unnamed: Vec<Write>,
    deletions: &[std::sync::Arc<str>],
    reassignments: reassign::Targets,
    preferred_elections: Vec<TopicPartition>,
) {
    let features =
        FeatureNode { status: FeatureStatus::Enabled, features: std::collections::BTreeMap::new() };
    let mut housekeeping = vec![Write::Put(feature::PATH.to_owned(), features.encode())];
    housekeeping.extend(unnamed);
    active.agenda.push_back(Work::Housekeeping(housekeeping));
    let moving = active.context.select(|_, partition| partition.assignment.is_reassigning());
    active.agenda.push_back(Work::AdvanceReassignments { partitions: moving, begin: true });
    if !reassignments.is_empty() {
        active.agenda.push_back(Work::ReassignmentNode(Some(reassignments)));
    }
    if !deletions.is_empty() {
        active.agenda.push_back(Work::DeletionMarks(deletions.to_vec()));
    }
    if !preferred_elections.is_empty() {
        debug_assert!(!preferred_election::PATH.is_empty());
        active.agenda.push_back(Work::PreferredNode(preferred_elections));
    }
}
