//! A cluster without sockets: nodes with versions, brokers that answer, and a transcript of it all.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use uuid::Uuid;

use super::super::*;
use crate::config::SecurityProtocol;
use crate::types::{
    BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, Millis, PartitionEpoch, TopicPartition,
};
use crate::zk::layout::broker::{Endpoint, Registration};
use crate::zk::layout::partition_state::{LeaderRecoveryState, PartitionState};
use crate::zk::layout::topic::{Assignment, TopicNode};

pub(super) const EPOCH: ControllerEpoch = ControllerEpoch(5);
const EPOCH_VERSION: i32 = 5;

/// What ZooKeeper holds, the machine under test, and what both said.
pub(super) struct World {
    pub(super) machine: ControllerMachine,
    pub(super) brokers: BTreeMap<BrokerId, LiveBroker>,
    pub(super) topics: BTreeMap<Arc<str>, TopicNode>,
    pub(super) states: BTreeMap<TopicPartition, (PartitionState, i32)>,
    pub(super) deletions: BTreeSet<Arc<str>>,
    /// Every write is answered with this instead, as long as it is set.
    pub(super) refuse_writes: Option<Outcome>,
    /// Answers to writes wait in `held` until they are let go.
    pub(super) hold: bool,
    pub(super) held: VecDeque<Event>,
    /// What each broker was told last: what to lead or follow, and who leads what.
    pub(super) told: BTreeMap<BrokerId, BTreeMap<TopicPartition, PartitionUpdate>>,
    pub(super) known: BTreeMap<BrokerId, BTreeMap<TopicPartition, PartitionUpdate>>,
    /// What was wrong with a write or a command.
    pub(super) broken: Vec<String>,
    /// Brokers that do not answer StopReplica.
    pub(super) silent: BTreeSet<BrokerId>,
    pub(super) replies: Vec<(RequestId, Reply)>,
    next_epoch: i64,
    next_request: u64,
    story: String,
}

pub(super) fn ids(ids: &[i32]) -> Vec<BrokerId> {
    ids.iter().copied().map(BrokerId).collect()
}

pub(super) fn tp(topic: &str, partition: i32) -> TopicPartition {
    TopicPartition::new(topic, partition)
}

pub(super) fn settings() -> Settings {
    Settings {
        me: BrokerId(1),
        inter_broker_listener: "PLAINTEXT".to_owned(),
        delete_topics: true,
        unclean_election: false,
        auto_balance: true,
        balance_interval_ms: 300_000,
        imbalance_percentage: 10,
    }
}

fn registration(id: i32) -> Registration {
    let endpoint = Endpoint {
        listener: "PLAINTEXT".to_owned(),
        host: format!("k{id}"),
        port: 9092,
        protocol: SecurityProtocol::Plaintext,
    };
    Registration {
        endpoints: vec![endpoint],
        rack: None,
        jmx_port: -1,
        timestamp: Millis(0),
        features: BTreeMap::new(),
    }
}

impl World {
    /// A cluster of these brokers without topics; nobody is controller yet.
    pub(super) fn of(brokers: &[i32]) -> Self {
        let mut world = Self {
            machine: ControllerMachine::new(settings()),
            brokers: BTreeMap::new(),
            topics: BTreeMap::new(),
            states: BTreeMap::new(),
            deletions: BTreeSet::new(),
            refuse_writes: None,
            hold: false,
            held: VecDeque::new(),
            told: BTreeMap::new(),
            known: BTreeMap::new(),
            broken: Vec::new(),
            silent: BTreeSet::new(),
            replies: Vec::new(),
            next_epoch: 100,
            next_request: 0,
            story: String::new(),
        };
        for id in brokers {
            world.register(*id);
        }
        world
    }

    /// A cluster whose controller took office; what it did for that is not in the story.
    pub(super) fn in_office(brokers: &[i32], topics: &[(&str, &[&[i32]])]) -> Self {
        let mut world = Self::of(brokers);
        for (name, partitions) in topics {
            world.add_topic(name, partitions);
        }
        world.elect();
        world.story.clear();
        world
    }

    /// Puts a topic's node into ZooKeeper.
    pub(super) fn add_topic(&mut self, name: &str, partitions: &[&[i32]]) {
        let partitions =
            (0..).zip(partitions).map(|(number, replicas)| (number, Assignment::of(ids(replicas))));
        let id = Uuid::from_u128(1000 + u128::try_from(self.topics.len()).unwrap());
        self.topics.insert(name.into(), TopicNode { id: Some(id), partitions: partitions.collect() });
    }

    /// Puts a state node into ZooKeeper.
    pub(super) fn add_state(&mut self, name: &TopicPartition, leader: i32, leader_epoch: i32, isr: &[i32]) {
        let state = PartitionState {
            leader: BrokerId(leader),
            leader_epoch: LeaderEpoch(leader_epoch),
            controller_epoch: ControllerEpoch(4),
            isr: ids(isr),
            recovery: LeaderRecoveryState::Recovered,
        };
        self.states.insert(name.clone(), (state, 3));
    }

    pub(super) fn register(&mut self, id: i32) {
        self.told.remove(&BrokerId(id));
        self.known.remove(&BrokerId(id));
        self.next_epoch += 1;
        let broker = LiveBroker { epoch: BrokerEpoch(self.next_epoch), registration: registration(id) };
        self.brokers.insert(BrokerId(id), broker);
    }

    /// The machine becomes controller.
    pub(super) fn elect(&mut self) {
        self.step(Event::SessionReady);
        self.step(Event::ControllerRead(None));
        self.step(Event::Campaigned(Campaign::Won { epoch: EPOCH, epoch_version: EPOCH_VERSION }));
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let read = |node: &TopicNode| TopicRead { node: node.clone(), ..TopicRead::default() };
        Snapshot {
            brokers: self.brokers.clone(),
            topics: self.topics.iter().map(|(name, node)| (Arc::clone(name), read(node))).collect(),
            states: self
                .states
                .iter()
                .map(|(name, (state, version))| {
                    (name.clone(), LeaderAndIsr::from_node(state.clone(), *version))
                })
                .collect(),
            deletions: self.deletions.iter().cloned().collect(),
            ..Snapshot::default()
        }
    }

    /// What the last request was answered with.
    pub(super) fn last_reply(&self) -> &Reply {
        &self.replies.last().expect("a reply").1
    }

    pub(super) fn ask(&mut self, request: Request) {
        self.next_request += 1;
        self.step(Event::Request(RequestId(self.next_request), request));
    }

    pub(super) fn cluster(&mut self, event: ClusterEvent) {
        self.step(Event::Cluster(EPOCH, event));
    }

    /// The list of brokers is read again.
    pub(super) fn look_at_brokers(&mut self) {
        self.cluster(ClusterEvent::Brokers(self.brokers.clone()));
    }

    pub(super) fn dies(&mut self, id: i32) {
        self.tell(&format!("broker {id} dies"));
        self.brokers.remove(&BrokerId(id));
        self.look_at_brokers();
    }

    pub(super) fn returns(&mut self, id: i32) {
        self.tell(&format!("broker {id} comes"));
        self.register(id);
        self.look_at_brokers();
    }

    pub(super) fn tell(&mut self, line: &str) {
        writeln!(self.story, "> {line}").unwrap();
    }

    pub(super) fn story(&mut self) -> String {
        std::mem::take(&mut self.story)
    }

    /// Takes a step, and everything that follows from it.
    pub(super) fn step(&mut self, event: Event) {
        self.step_at(Millis(0), event);
    }

    pub(super) fn step_at(&mut self, now: Millis, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut effects = Vec::new();
            self.machine.step(now, event, &mut effects);
            for effect in effects {
                self.perform(effect, &mut events);
            }
        }
    }

    fn perform(&mut self, effect: Effect, events: &mut VecDeque<Event>) {
        match effect {
            Effect::Write { id, epoch_version, changes } => {
                assert_eq!(epoch_version, EPOCH_VERSION);
                let outcomes = changes.into_iter().map(|change| self.write(change)).collect();
                let written = Event::Cluster(EPOCH, ClusterEvent::Written(id, outcomes));
                if self.hold { self.held.push_back(written) } else { events.push_back(written) }
            }
            Effect::Send(broker, epoch, command) => {
                // A broker that is gone, or registered anew, does not hear what was meant for it before.
                if self.brokers.get(&broker).map(|it| it.epoch) == Some(epoch) {
                    self.send(broker, &command, events);
                }
            }
            Effect::Load(_) => events.push_back(Event::Loaded(Box::new(self.snapshot()))),
            Effect::WatchTopics(names) => {
                for name in names {
                    let read = self.topics.get(&name).cloned();
                    let read = read.map(|node| TopicRead { node, ..TopicRead::default() });
                    events.push_back(Event::Cluster(EPOCH, ClusterEvent::Topic(name, read)));
                }
            }
            Effect::Reply(request, reply) => {
                self.line(&format!("reply    {}", describe_reply(&reply)));
                self.replies.push((request, reply));
            }
            Effect::Connect(broker, _) => self.line(&format!("connect  {broker}")),
            Effect::Disconnect(broker) => self.line(&format!("close    {broker}")),
            other @ (Effect::ReadController
            | Effect::Campaign
            | Effect::Elected(_)
            | Effect::Resign
            | Effect::Abdicate(_)) => self.line(&format!("{other:?}")),
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.story, "  {line}").unwrap();
    }

    fn write(&mut self, change: Write) -> Outcome {
        let refused = self.refuse_writes.clone();
        let suffix = if refused.is_some() { "  (refused)" } else { "" };
        match change {
            Write::State(name, state, expected) => {
                let state_text = describe_state(&state);
                self.line(&format!("write    {name} {state_text}{suffix}"));
                refused.unwrap_or_else(|| self.write_state(name, state, Some(expected)))
            }
            Write::NewState(name, state) => {
                let state_text = describe_state(&state);
                self.line(&format!("create   {name} {state_text}{suffix}"));
                refused.unwrap_or_else(|| self.write_state(name, state, None))
            }
            Write::Topic(name, node) => {
                self.line(&format!("write    {name}: {}{suffix}", describe_topic(&node)));
                self.topics.insert(name, node);
                refused.unwrap_or(Outcome::Done(1))
            }
            Write::DeleteTopic(name) => {
                self.line(&format!("delete   topic {name}{suffix}"));
                self.topics.remove(&name);
                self.deletions.remove(&name);
                self.states.retain(|partition, _| partition.topic != name);
                refused.unwrap_or(Outcome::Done(0))
            }
            Write::Set(path, data) | Write::Put(path, data) => {
                self.line(&format!("write    {path} {}", String::from_utf8(data).unwrap()));
                Outcome::Done(1)
            }
            Write::Delete(path) => {
                self.line(&format!("delete   {path}"));
                Outcome::Done(0)
            }
        }
    }

    fn write_state(
        &mut self,
        name: TopicPartition,
        state: PartitionState,
        expected: Option<PartitionEpoch>,
    ) -> Outcome {
        let stored = self.states.get(&name);
        let version = match (stored, expected) {
            (None, None) => 0,
            (Some((_, version)), Some(expected)) if *version == expected.0 => version + 1,
            (stored, _) => {
                let stored = stored.map(|(state, version)| LeaderAndIsr::from_node(state.clone(), *version));
                return Outcome::Conflict(stored);
            }
        };
        if let Some((before, _)) = self.states.get(&name) {
            self.check_write(&name, before.clone(), &state);
        }
        self.states.insert(name, (state, version));
        Outcome::Done(version)
    }

    /// A leader comes from the in-sync replicas, unless it has to recover; epochs only grow.
    fn check_write(&mut self, name: &TopicPartition, before: PartitionState, after: &PartitionState) {
        let clean = after.leader == BrokerId::NONE
            || after.leader == before.leader
            || before.isr.contains(&after.leader)
            || after.recovery == LeaderRecoveryState::Recovering;
        if !clean {
            self.broken.push(format!("{name}: {after:?} after {before:?}: the leader was not in sync"));
        }
        if after.leader_epoch < before.leader_epoch || after.isr.is_empty() {
            self.broken.push(format!("{name}: {after:?} after {before:?}"));
        }
        if after.leader != before.leader && after.leader_epoch == before.leader_epoch {
            self.broken.push(format!("{name}: two leaders in epoch {}", after.leader_epoch));
        }
    }

    /// A broker is told only what is written.
    fn learn(&mut self, broker: BrokerId, partitions: &[PartitionUpdate]) {
        for update in partitions {
            let stored = self.states.get(&update.partition).map(|(state, _)| state);
            let written = stored.is_some_and(|state| {
                update.leader_epoch < state.leader_epoch
                    || (update.leader_epoch, update.leader) == (state.leader_epoch, state.leader)
            });
            if !written {
                self.broken.push(format!("{broker} is told {update:?}, and stored is {stored:?}"));
            }
            self.told.entry(broker).or_default().insert(update.partition.clone(), update.clone());
        }
    }

    fn send(&mut self, broker: BrokerId, command: &Command, events: &mut VecDeque<Event>) {
        let text = match command {
            Command::LeaderAndIsr { partitions, .. } => {
                self.learn(broker, partitions);
                let each: Vec<String> = partitions.iter().map(describe_update).collect();
                format!("LeaderAndIsr {}", each.join(", "))
            }
            Command::UpdateMetadata { partitions, brokers } => {
                let known = self.known.entry(broker).or_default();
                known.extend(partitions.iter().map(|update| (update.partition.clone(), update.clone())));
                let brokers: Vec<String> = brokers.keys().map(ToString::to_string).collect();
                let each: Vec<String> = partitions.iter().map(describe_known).collect();
                format!("UpdateMetadata brokers {} {}", brokers.join(" "), each.join(", "))
                    .trim_end()
                    .to_owned()
            }
            Command::StopReplica { partitions } => {
                let each: Vec<String> = partitions
                    .iter()
                    .map(|it| {
                        let delete = if it.delete { " delete" } else { "" };
                        format!("{} epoch {}{delete}", it.partition, it.leader_epoch)
                    })
                    .collect();
                let deleted: Vec<_> =
                    partitions.iter().filter(|it| it.delete).map(|it| (it.partition.clone(), 0)).collect();
                if !deleted.is_empty() && !self.silent.contains(&broker) {
                    let answered = ClusterEvent::StopReplicaAnswered(broker, deleted);
                    events.push_back(Event::Cluster(EPOCH, answered));
                }
                format!("StopReplica {}", each.join(", "))
            }
        };
        self.line(&format!("to {broker}     {text}"));
    }
}

fn list(brokers: &[BrokerId]) -> String {
    let brokers: Vec<String> = brokers.iter().map(ToString::to_string).collect();
    brokers.join(" ")
}

fn describe_state(state: &PartitionState) -> String {
    let recovering = if state.recovery == LeaderRecoveryState::Recovering { " recovering" } else { "" };
    format!("leader {} epoch {} isr [{}]{recovering}", state.leader, state.leader_epoch, list(&state.isr))
}

fn describe_update(update: &PartitionUpdate) -> String {
    let new = if update.is_new { " new" } else { "" };
    format!(
        "{} leader {} epoch {} isr [{}] of [{}]{new}",
        update.partition,
        update.leader,
        update.leader_epoch,
        list(&update.isr),
        list(&update.replicas)
    )
}

fn describe_known(update: &PartitionUpdate) -> String {
    let offline = if update.offline.is_empty() {
        String::new()
    } else {
        format!(" offline [{}]", list(&update.offline))
    };
    format!("{} leader {} epoch {}{offline}", update.partition, update.leader, update.leader_epoch)
}

fn describe_topic(node: &TopicNode) -> String {
    let each: Vec<String> = node
        .partitions
        .iter()
        .map(|(number, it)| {
            let mut text = format!("{number} [{}]", list(&it.replicas));
            if it.is_reassigning() {
                write!(text, " adding [{}] removing [{}]", list(&it.adding), list(&it.removing)).unwrap();
            }
            text
        })
        .collect();
    each.join(", ")
}

fn describe_reply(reply: &Reply) -> String {
    match reply {
        Reply::AlterPartition(topics) => {
            let each: Vec<String> = topics
                .iter()
                .flat_map(|topic| &topic.partitions)
                .map(|(partition, result)| match result {
                    Ok(it) => format!("{partition}: isr [{}] version {}", list(&it.isr), it.partition_epoch),
                    Err(refusal) => format!("{partition}: {refusal:?}"),
                })
                .collect();
            format!("altered {}", each.join(", "))
        }
        Reply::ElectLeaders(results) => {
            format!("elected {}", each(results, |leader| format!("leader {leader}")))
        }
        Reply::Reassign(results) => format!("reassigning {}", each(results, |()| "yes".to_owned())),
        Reply::Reassignments(moves) => {
            let each: Vec<String> = moves
                .iter()
                .map(|(name, it)| {
                    let (replicas, adding, removing) =
                        (list(&it.replicas), list(&it.adding), list(&it.removing));
                    format!("{name} [{replicas}] adding [{adding}] removing [{removing}]")
                })
                .collect();
            format!("under way: {}", if each.is_empty() { "none".to_owned() } else { each.join(", ") })
        }
        Reply::CreatePartitions(results) => {
            let each: Vec<String> = results
                .iter()
                .map(|(topic, result)| match result {
                    Ok(()) => format!("{topic}: yes"),
                    Err((error, text)) => format!("{topic}: {error:?}, {text}"),
                })
                .collect();
            format!("grows {}", each.join(", "))
        }
        Reply::ControlledShutdown(remaining) => {
            let each: Vec<String> = remaining.iter().map(ToString::to_string).collect();
            format!(
                "may stop, still leads: {}",
                if each.is_empty() { "nothing".to_owned() } else { each.join(", ") }
            )
        }
        Reply::Refused(error) => format!("refused: {error:?}"),
    }
}

fn each<T>(
    results: &[(TopicPartition, Result<T, ottla_protocol::message::ErrorCode>)],
    describe: impl Fn(&T) -> String,
) -> String {
    let each: Vec<String> = results
        .iter()
        .map(|(name, result)| match result {
            Ok(value) => format!("{name}: {}", describe(value)),
            Err(error) => format!("{name}: {error:?}"),
        })
        .collect();
    each.join(", ")
}
