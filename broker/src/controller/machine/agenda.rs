//! What an active controller has to do, one piece of work after the other.
//!
//! Every event becomes work at the end of the agenda. Work is planned when its turn comes, from what the context says
//! then, and may need one write; nothing else is planned until that write is answered. So every decision sees the
//! results of all decisions before it, as in Kafka's single controller thread, without ever waiting.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::context::Context;
use super::effect::{Effect, Write, WriteId};
use super::election::Strategy;
use super::event::{
    AlterPartition, ClusterEvent, ElectionKind, NewPartitions, Outcome, Request, RequestId, TopicRead,
};
use super::outgoing::Outgoing;
use super::partitions::Change;
use super::types::{LeaderAndIsr, LiveBroker, Settings};
use super::{
    alter_partition, brokers, deletion, log_dirs, partitions, preferred, reassignment, shutdown, topics,
};
use crate::types::{BrokerId, Millis, TopicPartition};

/// A controller in office.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) settings: Settings,
    pub(super) context: Context,
    pub(super) agenda: VecDeque<Work>,
    pub(super) in_flight: Option<(WriteId, Pending)>,
    pub(super) outgoing: Outgoing,
    /// When the balance of the leaders is looked at next.
    pub(super) next_balance: Option<Millis>,
    next_write: u64,
    /// Another controller was elected, or the session is over: stop.
    pub(super) fenced: bool,
    /// The requests whose write was fenced.
    orphans: Vec<RequestId>,
}

/// One piece of work.
#[derive(Debug)]
pub(super) enum Work {
    Elect { partitions: Vec<TopicPartition>, strategy: Strategy },
    Shrink { partitions: Vec<TopicPartition>, gone: Vec<BrokerId> },
    Housekeeping(Vec<Write>),
    Brokers(BTreeMap<BrokerId, LiveBroker>),
    BrokersFailed(BTreeSet<BrokerId>),
    BrokersStarted(BTreeMap<BrokerId, LiveBroker>),
    ReplicasFailed { broker: BrokerId, partitions: Vec<TopicPartition> },
    TopicNames(Vec<Arc<str>>),
    Topic(Arc<str>, Option<TopicRead>),
    TopicUnclean(Arc<str>, Option<bool>),
    CreateNew(Vec<TopicPartition>),
    DeletionMarks(Vec<Arc<str>>),
    ResumeDeletions,
    LogDirsFailed(Vec<BrokerId>, Vec<String>),
    StatesChanged(BTreeMap<TopicPartition, LeaderAndIsr>, Vec<String>),
    PreferredNode(Vec<TopicPartition>),
    ReassignmentNode(Option<BTreeMap<TopicPartition, Vec<BrokerId>>>),
    AdvanceReassignments { partitions: Vec<TopicPartition>, begin: bool },
    FinishReassignments(Vec<TopicPartition>),
    Balance,
    AlterPartition(RequestId, AlterPartition),
    ElectLeaders(RequestId, ElectionKind, Option<Vec<TopicPartition>>),
    ControlledShutdown(RequestId, BrokerId, crate::types::BrokerEpoch),
    Reassign(RequestId, Vec<(TopicPartition, Option<Vec<BrokerId>>)>),
    ListReassignments(RequestId, Option<Vec<TopicPartition>>),
    CreatePartitions(RequestId, Vec<NewPartitions>, bool),
}

/// A write that was sent, and what it is for.
#[derive(Debug)]
pub(super) enum Pending {
    /// State nodes.
    States { changes: Vec<Change>, then: After },
    /// Topic nodes of reassignments.
    Reassignments(reassignment::Started),
    /// Topic nodes at the end of reassignments.
    ReassignmentsDone(Vec<TopicPartition>),
    /// Topic nodes with more partitions.
    MorePartitions(topics::Growing),
    /// A topic's nodes.
    Deletion(Vec<Arc<str>>),
    /// Nodes whose outcome changes nothing.
    Housekeeping,
}

/// What follows when state nodes were written.
#[derive(Debug)]
pub(super) enum After {
    Nothing,
    AlterPartition(Vec<alter_partition::Answering>),
    Shutdown { request: RequestId, broker: BrokerId },
    ElectLeaders(preferred::Electing),
}

impl Active {
    pub(super) fn new(settings: Settings, context: Context, now: Millis) -> Self {
        let next_balance = settings.auto_balance.then(|| now.plus(preferred::FIRST_BALANCE));
        Self {
            settings,
            context,
            agenda: VecDeque::new(),
            in_flight: None,
            outgoing: Outgoing::default(),
            next_balance,
            next_write: 0,
            fenced: false,
            orphans: Vec::new(),
        }
    }

    /// Puts a cluster event on the agenda, or finishes the write that it answers.
    pub(super) fn happened(&mut self, event: ClusterEvent, out: &mut Vec<Effect>) {
        let work = match event {
            ClusterEvent::Written(id, outcomes) => return self.written(id, outcomes, out),
            ClusterEvent::Brokers(brokers) => Work::Brokers(brokers),
            ClusterEvent::Topics(names) => Work::TopicNames(names),
            ClusterEvent::Topic(name, read) => Work::Topic(name, read),
            ClusterEvent::TopicUnclean(name, unclean) => Work::TopicUnclean(name, unclean),
            ClusterEvent::Deletions(names) => Work::DeletionMarks(names),
            ClusterEvent::PreferredElectionNode(partitions) => Work::PreferredNode(partitions),
            ClusterEvent::ReassignmentNode(targets) => Work::ReassignmentNode(targets),
            ClusterEvent::LogDirsFailed(brokers, nodes) => Work::LogDirsFailed(brokers, nodes),
            ClusterEvent::StatesChanged(states, nodes) => Work::StatesChanged(states, nodes),
            ClusterEvent::LeaderAndIsrAnswered(broker, results) => {
                let failed = log_dirs::failed(&results);
                if failed.is_empty() {
                    return;
                }
                Work::ReplicasFailed { broker, partitions: failed }
            }
            ClusterEvent::StopReplicaAnswered(broker, results) => {
                deletion::answered(self, broker, &results);
                Work::ResumeDeletions
            }
            ClusterEvent::ChannelOverflowed(broker) => return brokers::tell_everything(self, broker, out),
        };
        self.agenda.push_back(work);
    }

    /// Puts a request on the agenda.
    pub(super) fn asked(&mut self, id: RequestId, request: Request) {
        self.agenda.push_back(match request {
            Request::AlterPartition(wish) => Work::AlterPartition(id, wish),
            Request::ControlledShutdown { broker, epoch } => Work::ControlledShutdown(id, broker, epoch),
            Request::ElectLeaders { kind, partitions } => Work::ElectLeaders(id, kind, partitions),
            Request::Reassign(targets) => Work::Reassign(id, targets),
            Request::ListReassignments(partitions) => Work::ListReassignments(id, partitions),
            Request::CreatePartitions { topics, validate_only } => {
                Work::CreatePartitions(id, topics, validate_only)
            }
        });
    }

    /// Works until the agenda is empty or a write has to be answered first.
    pub(super) fn run(&mut self, out: &mut Vec<Effect>) {
        while self.in_flight.is_none() && !self.fenced {
            let Some(work) = self.agenda.pop_front() else { return };
            self.begin(work, out);
            if self.in_flight.is_none() {
                self.flush(out);
            }
        }
    }

    fn begin(&mut self, work: Work, out: &mut Vec<Effect>) {
        match work {
            Work::Elect { partitions, strategy } => partitions::elect(self, &partitions, strategy, out),
            Work::Shrink { partitions, gone } => partitions::shrink_all(self, &partitions, &gone, out),
            Work::Housekeeping(writes) => self.write(writes, Pending::Housekeeping, out),
            Work::Brokers(brokers) => brokers::compare(self, brokers, out),
            Work::BrokersFailed(gone) => brokers::failed(self, &gone, out),
            Work::BrokersStarted(started) => brokers::started(self, started, out),
            Work::ReplicasFailed { broker, partitions } => {
                log_dirs::replicas_failed(self, broker, partitions, out);
            }
            Work::TopicNames(names) => topics::listed(self, &names, out),
            Work::Topic(name, read) => topics::read(self, &name, read),
            Work::TopicUnclean(name, unclean) => topics::unclean_changed(self, &name, unclean),
            Work::CreateNew(partitions) => partitions::create(self, &partitions, out),
            Work::DeletionMarks(names) => deletion::marked(self, names, out),
            Work::ResumeDeletions => deletion::resume(self, out),
            Work::LogDirsFailed(brokers, nodes) => log_dirs::notified(self, &brokers, nodes, out),
            Work::StatesChanged(states, nodes) => log_dirs::states_changed(self, states, nodes, out),
            Work::PreferredNode(partitions) => preferred::from_node(self, &partitions, out),
            Work::ReassignmentNode(targets) => reassignment::from_node(self, targets, out),
            Work::AdvanceReassignments { partitions, begin } => {
                reassignment::advance(self, &partitions, begin, out);
            }
            Work::FinishReassignments(partitions) => reassignment::finish(self, partitions, out),
            Work::Balance => preferred::balance(self, out),
            Work::AlterPartition(id, wish) => alter_partition::alter(self, id, wish, out),
            Work::ElectLeaders(id, kind, partitions) => {
                preferred::elect_leaders(self, id, kind, partitions, out);
            }
            Work::ControlledShutdown(id, broker, epoch) => shutdown::begin(self, id, broker, epoch, out),
            Work::Reassign(id, targets) => reassignment::asked(self, id, targets, out),
            Work::ListReassignments(id, partitions) => reassignment::list(self, id, partitions, out),
            Work::CreatePartitions(id, asked, validate_only) => {
                topics::grow(self, id, asked, validate_only, out);
            }
        }
    }

    /// Sends a write; nothing else is planned until it is answered.
    pub(super) fn write(&mut self, changes: Vec<Write>, pending: Pending, out: &mut Vec<Effect>) {
        debug_assert!(self.in_flight.is_none(), "one write at a time");
        self.next_write += 1;
        let id = WriteId(self.next_write);
        self.in_flight = Some((id, pending));
        out.push(Effect::Write { id, epoch_version: self.context.epoch_version, changes });
    }

    fn written(&mut self, id: WriteId, outcomes: Vec<Outcome>, out: &mut Vec<Effect>) {
        match self.in_flight.take() {
            Some((awaited, pending)) if awaited == id => {
                let requests = pending.requests();
                self.fenced = outcomes.contains(&Outcome::Fenced);
                if !self.fenced {
                    self.finish(pending, outcomes, out);
                }
                if self.fenced {
                    self.orphans = requests;
                }
                // Whoever is not the controller any more tells nobody anything.
                if self.in_flight.is_none() && !self.fenced {
                    self.flush(out);
                }
            }
            other => self.in_flight = other,
        }
    }

    fn finish(&mut self, pending: Pending, outcomes: Vec<Outcome>, out: &mut Vec<Effect>) {
        match pending {
            Pending::States { changes, then } => partitions::written(self, changes, outcomes, then, out),
            Pending::Reassignments(started) => reassignment::started(self, started, &outcomes, out),
            Pending::ReassignmentsDone(partitions) => reassignment::done(self, &partitions, &outcomes, out),
            Pending::MorePartitions(growing) => topics::grown(self, growing, &outcomes, out),
            Pending::Deletion(topics) => deletion::deleted(self, &topics, &outcomes),
            Pending::Housekeeping => {}
        }
    }

    /// Returns the requests that nobody has answered yet.
    pub(super) fn unanswered(&self) -> Vec<RequestId> {
        let mut requests = self.orphans.clone();
        requests.extend(self.agenda.iter().filter_map(Work::request));
        if let Some((_, pending)) = &self.in_flight {
            requests.extend(pending.requests());
        }
        requests
    }

    /// Sends what was collected.
    pub(super) fn flush(&mut self, out: &mut Vec<Effect>) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        outgoing.flush(&self.context, &self.settings.inter_broker_listener, out);
        self.outgoing = outgoing;
    }
}

impl Work {
    fn request(&self) -> Option<RequestId> {
        match self {
            Self::AlterPartition(id, _)
            | Self::ElectLeaders(id, _, _)
            | Self::ControlledShutdown(id, _, _)
            | Self::Reassign(id, _)
            | Self::ListReassignments(id, _)
            | Self::CreatePartitions(id, _, _) => Some(*id),
            Self::Elect { .. }
            | Self::Shrink { .. }
            | Self::Housekeeping(_)
            | Self::Brokers(_)
            | Self::BrokersFailed(_)
            | Self::BrokersStarted(_)
            | Self::ReplicasFailed { .. }
            | Self::TopicNames(_)
            | Self::Topic(..)
            | Self::TopicUnclean(..)
            | Self::CreateNew(_)
            | Self::DeletionMarks(_)
            | Self::ResumeDeletions
            | Self::LogDirsFailed(..)
            | Self::StatesChanged(..)
            | Self::PreferredNode(_)
            | Self::ReassignmentNode(_)
            | Self::AdvanceReassignments { .. }
            | Self::FinishReassignments(_)
            | Self::Balance => None,
        }
    }
}

impl Pending {
    fn requests(&self) -> Vec<RequestId> {
        match self {
            Self::States { then, .. } => match then {
                After::Nothing => Vec::new(),
                After::AlterPartition(answering) => answering.iter().map(|it| it.request).collect(),
                After::Shutdown { request, .. } => vec![*request],
                After::ElectLeaders(electing) => vec![electing.request],
            },
            Self::Reassignments(started) => started.request.into_iter().collect(),
            Self::MorePartitions(growing) => vec![growing.request],
            Self::ReassignmentsDone(_) | Self::Deletion(_) | Self::Housekeeping => Vec::new(),
        }
    }
}
