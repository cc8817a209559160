//! What happened, in words, oldest first.

use std::collections::{BTreeMap, VecDeque};

use ottla_broker::types::{BrokerId, LeaderEpoch, Millis, TopicPartition};
use serde::{Deserialize, Serialize};

/// How many events are remembered.
const EVENTS_MAX: usize = 5_000;
/// How many partitions one event lists; more are only counted.
const PARTITIONS_PER_EVENT_MAX: usize = 2_000;
/// Changes with the same cause that come this close together are one event.
const TOGETHER_MS: i64 = 1_500;
/// How far back an event is looked for that a change belongs to.
const TOGETHER_EVENTS: usize = 16;

/// How grave an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something happened.
    Info,
    /// Something got well again.
    Good,
    /// Something is not as it should be.
    Warning,
    /// Somebody cannot work.
    Critical,
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A broker came, went, froze.
    Broker,
    /// Another controller.
    Controller,
    /// Partitions got another leader.
    Election,
    /// Replicas left or joined the in-sync sets.
    Isr,
    /// A group handed out its partitions anew.
    Rebalance,
    /// A group came or went.
    Group,
    /// A topic came or went.
    Topic,
    /// The operator did something.
    Action,
    /// The connection to ZooKeeper, or its process.
    Zookeeper,
    /// A source fell silent or came back.
    Source,
    /// The demo load.
    Load,
    /// Something else.
    Notice,
}

impl EventKind {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Broker => "broker",
            Self::Controller => "controller",
            Self::Election => "election",
            Self::Isr => "isr",
            Self::Rebalance => "rebalance",
            Self::Group => "group",
            Self::Topic => "topic",
            Self::Action => "action",
            Self::Zookeeper => "zookeeper",
            Self::Source => "source",
            Self::Load => "load",
            Self::Notice => "notice",
        }
    }
}

/// A partition that got another leader, or a replica that left or joined an in-sync set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Election {
    /// The partition.
    pub partition: TopicPartition,
    /// Who led before; for an in-sync set, the replica.
    pub from: Option<BrokerId>,
    /// Who leads now.
    pub to: Option<BrokerId>,
    /// The epoch of the new leader.
    pub leader_epoch: LeaderEpoch,
    /// How long nobody led, or how long the replica was out.
    pub took: Option<Millis>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its number, growing.
    pub number: u64,
    /// When it was seen.
    pub at: Millis,
    /// How grave it is.
    pub severity: Severity,
    /// What it is about.
    pub kind: EventKind,
    /// What happened.
    pub text: String,
    /// How long it took: the longest, where it is about many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Millis>,
    /// The partitions it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Election>,
    /// Partitions beyond those listed.
    #[serde(default)]
    pub partitions_unlisted: usize,
    /// What kept together belongs together.
    #[serde(skip)]
    pub(super) cause: Option<Cause>,
}

/// Why partitions changed; changes with one cause, close together, are one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// Their leader stopped serving.
    LeaderGone(BrokerId),
    /// They have another leader after theirs was lost.
    LeaderLost(BrokerId),
    /// Leadership was handed over.
    Moved,
    /// Their leader serves again without anybody else having been elected.
    LeaderBack(BrokerId),
    /// They lost their leader and nobody can take over.
    Offline(BrokerId),
    /// A replica left the in-sync sets.
    Left(BrokerId),
    /// A replica joined the in-sync sets.
    Joined(BrokerId),
}

/// The events, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    events: VecDeque<Event>,
    next_number: u64,
}

impl Timeline {
    /// Returns the events, newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Event> + ExactSizeIterator {
        self.events.iter().rev()
    }

    /// Returns the event with this number, while it is remembered.
    pub fn get(&self, number: u64) -> Option<&Event> {
        let first = self.events.front()?.number;
        self.events.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// Returns the number that the next event will have; it grows whenever there is news.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Adds an event.
    pub(super) fn add(&mut self, at: Millis, severity: Severity, kind: EventKind, text: impl Into<String>) {
        self.add_timed(at, severity, kind, text, None);
    }

    /// Adds an event that took a while.
    pub(super) fn add_timed(
        &mut self,
        at: Millis,
        severity: Severity,
        kind: EventKind,
        text: impl Into<String>,
        took: Option<Millis>,
    ) {
        self.push(Event {
            number: 0,
            at,
            severity,
            kind,
            text: text.into(),
            took,
            partitions: Vec::new(),
            partitions_unlisted: 0,
            cause: None,
        });
    }

    /// Puts other words into an event, and how it ended.
    pub(super) fn revise(
        &mut self,
        number: u64,
        severity: Severity,
        text: String,
        took: Option<Millis>,
    ) -> bool {
        let first = self.events.front().map_or(0, |event| event.number);
        let place = number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        let Some(event) = place.and_then(|place| self.events.get_mut(place)) else { return false };
        event.severity = severity;
        event.text = text;
        event.took = took;
        true
    }

    /// Adds a change of one partition, to the event it belongs to if there is one.
    pub(super) fn add_partition(&mut self, at: Millis, cause: Cause, election: Election) {
        let together = self
            .events
            .iter_mut()
            .rev()
            .take(TOGETHER_EVENTS)
            .find(|event| event.cause.as_ref() == Some(&cause) && at.since(event.at).0 <= TOGETHER_MS);
        if let Some(event) = together {
            event.took = event.took.max(election.took);
            if event.partitions.len() < PARTITIONS_PER_EVENT_MAX {
                event.partitions.push(election);
            } else {
                event.partitions_unlisted += 1;
            }
            event.text = tell(&cause, event);
            return;
        }
        let (severity, kind) = match &cause {
            Cause::LeaderLost(_) | Cause::LeaderBack(_) => (Severity::Good, EventKind::Election),
            Cause::Moved => (Severity::Info, EventKind::Election),
            Cause::Offline(_) | Cause::LeaderGone(_) => (Severity::Critical, EventKind::Election),
            Cause::Left(_) => (Severity::Warning, EventKind::Isr),
            Cause::Joined(_) => (Severity::Good, EventKind::Isr),
        };
        let mut event = Event {
            number: 0,
            at,
            severity,
            kind,
            text: String::new(),
            took: election.took,
            partitions: vec![election],
            partitions_unlisted: 0,
            cause: Some(cause.clone()),
        };
        event.text = tell(&cause, &event);
        self.push(event);
    }

    fn push(&mut self, mut event: Event) {
        event.number = self.next_number;
        self.next_number += 1;
        if self.events.len() >= EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

/// Puts what happened to the partitions of an event in words.
fn tell(cause: &Cause, event: &Event) -> String {
    let who = subject(event);
    match cause {
        Cause::LeaderLost(was) => {
            format!("{who}: {}; {}", leaders(event, Some(*was)), gaps(event, "without a leader"))
        }
        Cause::LeaderGone(broker) => {
            format!("{who}: broker {broker} was the leader and does not serve any more")
        }
        Cause::Moved => format!("{who}: {}, handed over", leaders(event, None)),
        Cause::LeaderBack(broker) => {
            format!("{who}: leader {broker} serves again; {}", gaps(event, "without a leader"))
        }
        Cause::Offline(was) => format!("{who}: no leader since broker {was} was lost"),
        Cause::Left(broker) => format!("{who}: broker {broker} fell out of the isr"),
        Cause::Joined(broker) => {
            let out = gaps(event, "out");
            let out = if out.is_empty() { String::new() } else { format!(" after {out}") };
            format!("{who}: broker {broker} joined the isr{out}")
        }
    }
}

fn subject(event: &Event) -> String {
    match event.partitions.as_slice() {
        [only] if event.partitions_unlisted == 0 => only.partition.to_string(),
        many => format!("{} partitions", many.len() + event.partitions_unlisted),
    }
}

/// Returns "leader 2 → 1", or for many "leader 2 → 1 (4), 3 (3)".
fn leaders(event: &Event, from: Option<BrokerId>) -> String {
    if let [only] = event.partitions.as_slice() {
        let name = |broker: Option<BrokerId>| broker.map_or_else(|| "none".to_owned(), |id| id.to_string());
        return format!("leader {} → {} (epoch {})", name(only.from), name(only.to), only.leader_epoch);
    }
    let mut counts = BTreeMap::<BrokerId, usize>::new();
    for election in &event.partitions {
        *counts.entry(election.to.unwrap_or(BrokerId::NONE)).or_default() += 1;
    }
    let list: Vec<_> = counts.iter().map(|(broker, count)| format!("{broker} ({count})")).collect();
    match from {
        Some(from) => format!("leader {from} → {}", list.join(", ")),
        None => format!("new leader {}", list.join(", ")),
    }
}

/// Returns "43 ms without a leader", or for many "12–43 ms without a leader".
fn gaps(event: &Event, what: &str) -> String {
    let times = || event.partitions.iter().filter_map(|election| election.took);
    match (times().min(), times().max()) {
        (Some(min), Some(max)) if duration(min) == duration(max) => format!("{} {what}", duration(max)),
        (Some(min), Some(max)) => format!("{} to {} {what}", duration(min), duration(max)),
        _ => String::new(),
    }
}

/// Writes a duration as people say it: "43 ms", "8.2 s", "3 min 20 s", "2 h 5 min".
pub(super) fn duration(time: Millis) -> String {
    match time.0 {
        ms if ms < 1_000 => format!("{ms} ms"),
        ms if ms < 60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms if ms < 3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        ms => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}
