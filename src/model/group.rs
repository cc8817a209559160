//! Consumer groups.

use std::collections::{BTreeMap, BTreeSet};

use ottla_broker::types::{BrokerId, Millis, Offset, TopicPartition};
use serde::{Deserialize, Serialize};

use super::history::History;

/// How much of a member's id tells it from others of the same name.
const ID_CHARS: usize = 4;

/// What can become known of a consumer group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupUpdate {
    /// Its state and members.
    Described(GroupDescription),
    /// All its committed offsets.
    Offsets(Vec<GroupOffset>),
    /// It is gone.
    Gone,
}

/// A group's state and members at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupDescription {
    /// Where it is in its life.
    pub state: GroupState,
    /// What kind of group it is: `consumer` for consumers.
    pub protocol_type: String,
    /// How partitions are handed out: `range`, `roundrobin`, …
    pub protocol: String,
    /// How many rebalances it has been through; `None` when the source cannot tell.
    #[serde(default)]
    pub generation: Option<i32>,
    /// The broker that coordinates it.
    #[serde(default)]
    pub coordinator: Option<BrokerId>,
    /// Its members.
    pub members: Vec<Member>,
}

/// Where a group is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupState {
    /// It has offsets, but no members.
    Empty,
    /// Members are asked to join again.
    PreparingRebalance,
    /// All have joined; the leader hands out partitions.
    CompletingRebalance,
    /// Everybody knows what to read.
    Stable,
    /// It is being removed.
    Dead,
    /// Not known.
    #[default]
    Unknown,
}

impl GroupState {
    /// Returns the word that Kafka's own tools print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
            Self::Unknown => "Unknown",
        }
    }

    /// Returns the state that Kafka calls by this name.
    pub fn from_kafka(name: &str) -> Self {
        match name {
            "Empty" => Self::Empty,
            "PreparingRebalance" => Self::PreparingRebalance,
            "CompletingRebalance" | "AwaitingSync" => Self::CompletingRebalance,
            "Stable" => Self::Stable,
            "Dead" => Self::Dead,
            _ => Self::Unknown,
        }
    }

    /// Returns whether members are between two assignments.
    pub fn is_rebalancing(self) -> bool {
        matches!(self, Self::PreparingRebalance | Self::CompletingRebalance)
    }
}

/// One member of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Member {
    /// The id the coordinator gave it.
    pub member_id: String,
    /// The id it keeps over restarts, for a static member.
    #[serde(default)]
    pub group_instance_id: Option<String>,
    /// What it calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub client_host: String,
    /// The partitions it reads.
    pub assignment: Vec<TopicPartition>,
}

impl Member {
    /// Returns what it calls itself: its fixed name, its client id, or else the id it was given.
    pub fn name(&self) -> &str {
        match &self.group_instance_id {
            Some(instance) => instance,
            None if self.client_id.is_empty() => &self.member_id,
            None => &self.client_id,
        }
    }
}

/// A committed offset as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupOffset {
    /// The partition.
    #[serde(flatten)]
    pub partition: TopicPartition,
    /// The next offset to read.
    pub offset: Offset,
    /// When it was committed, where the source can tell.
    #[serde(default)]
    pub committed_at: Option<Millis>,
}

/// A committed offset and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedOffset {
    /// The next offset to read; `None` when a member reads the partition and has not committed yet.
    pub offset: Option<Offset>,
    /// When it was committed, where that is known.
    pub committed_at: Option<Millis>,
    /// Where the partition ends for consumers.
    pub end: Option<Offset>,
    /// How many records are still to be read, never below zero.
    pub lag: Option<i64>,
    /// The member that reads it, as an index into the members.
    pub member: Option<usize>,
}

/// A rebalance that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebalance {
    /// When it was first seen.
    pub since: Millis,
    /// The generation before it.
    pub generation_before: Option<i32>,
    /// The members before it, by member id.
    pub members_before: BTreeMap<String, String>,
}

/// What is known of a group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// Its state and members.
    pub description: GroupDescription,
    /// When its state and members were read; `None` while only its name is known.
    pub described_at: Option<Millis>,
    /// Its offsets, one for each partition that it committed or is assigned.
    pub offsets: BTreeMap<TopicPartition, CommittedOffset>,
    /// The sum of its lags, as far as they are known.
    pub lag: Option<i64>,
    /// The sum of its lags over the last minute.
    pub lag_history: History,
    /// Set while it rebalances.
    pub rebalance: Option<Rebalance>,
    /// How long the last rebalance took, and when it ended.
    pub last_rebalance: Option<(Millis, Millis)>,
}

impl Group {
    /// Returns the topics it reads.
    pub fn topics(&self) -> BTreeSet<&str> {
        self.offsets.keys().map(|partition| &*partition.topic).collect()
    }

    /// Returns what a member is called here: what it calls itself, and where several call themselves the same, a bit of
    /// its id too.
    pub fn member_name(&self, index: usize) -> Option<String> {
        let members = &self.description.members;
        let member = members.get(index)?;
        let name = member.name();
        if members.iter().filter(|other| other.name() == name).count() < 2 {
            return Some(name.to_owned());
        }
        // The coordinator makes an id of the client's id and something random.
        let rest = member.member_id.strip_prefix(name).unwrap_or(&member.member_id).trim_start_matches('-');
        Some(format!("{name}-{}", rest.chars().take(ID_CHARS).collect::<String>()))
    }

    /// Returns the members by id, with what they are called here.
    pub(super) fn members_by_id(&self) -> BTreeMap<String, String> {
        let name = |(index, member): (usize, &Member)| {
            (member.member_id.clone(), self.member_name(index).unwrap_or_default())
        };
        self.description.members.iter().enumerate().map(name).collect()
    }

    /// Puts the committed offsets in place of those before.
    pub(super) fn apply_offsets(&mut self, offsets: Vec<GroupOffset>) {
        self.offsets.clear();
        for GroupOffset { partition, offset, committed_at } in offsets {
            self.offsets.insert(
                partition,
                CommittedOffset { offset: Some(offset), committed_at, end: None, lag: None, member: None },
            );
        }
        self.settle_owners();
    }

    /// Works out who reads what.
    pub(super) fn settle_owners(&mut self) {
        for committed in self.offsets.values_mut() {
            committed.member = None;
        }
        for (index, member) in self.description.members.iter().enumerate() {
            for partition in &member.assignment {
                self.offsets
                    .entry(partition.clone())
                    .or_insert(CommittedOffset {
                        offset: None,
                        committed_at: None,
                        end: None,
                        lag: None,
                        member: None,
                    })
                    .member = Some(index);
            }
        }
        self.offsets.retain(|_, committed| committed.offset.is_some() || committed.member.is_some());
    }

    /// Works out the lags anew, given where each partition ends.
    pub(super) fn settle_lag(&mut self, now: Millis, end_of: impl Fn(&TopicPartition) -> Option<Offset>) {
        let mut total = None;
        for (partition, committed) in &mut self.offsets {
            committed.end = end_of(partition);
            committed.lag = committed.end.zip(committed.offset).map(|(end, own)| end.distance_from(own));
            if let Some(lag) = committed.lag {
                total = Some(total.unwrap_or(0_i64).saturating_add(lag));
            }
        }
        self.lag = total;
        if let Some(lag) = total {
            self.lag_history.push(now, lag as f64);
        }
    }
}
