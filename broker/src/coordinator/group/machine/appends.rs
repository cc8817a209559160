//! Appends under way: what is to be done once their records are in sync.

use std::collections::BTreeMap;
use std::sync::Arc;

use ottla_protocol::message::ErrorCode;

use super::durable::Position;
use super::effect::Effect;
use super::members::Terms;
use super::names::{AppendId, Generation, GroupId, MemberId, ProducerId, RequestId};
use super::record::Record;
use super::request::Transaction;
use crate::types::TopicPartition;

/// Appends in the order of the log. Outcomes are handed on in that order too, so that what is remembered here never
/// runs ahead of, or behind, what a reader of the log would find.
#[derive(Debug, Default)]
pub(super) struct Appends {
    in_flight: BTreeMap<AppendId, Entry>,
    last_id: u64,
    last_position: u64,
}

/// What is under way at one place of the log.
#[derive(Debug)]
enum Entry {
    Append { in_flight: InFlight, outcome: Option<Result<(), ErrorCode>> },
    Marker(Marker),
}

/// A transaction marker, which waits for the appends before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marker {
    pub(super) producer: ProducerId,
    pub(super) committed: bool,
}

/// What is over.
#[derive(Debug)]
pub(super) enum Finished {
    Append { append: AppendId, in_flight: InFlight, outcome: Result<(), ErrorCode> },
    Marker(Marker),
}

/// One append under way.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) group: GroupId,
    pub(super) first_position: Position,
    pub(super) records: Arc<[Record]>,
    pub(super) producer: Option<ProducerId>,
    pub(super) purpose: Purpose,
}

/// Why records are appended, and who waits for it.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The leader's assignment: members that sync wait.
    Assignment {
        /// For which generation.
        generation: Generation,
    },
    /// The last member left: nobody waits.
    Emptied,
    /// A static member's new id: its join waits.
    StaticMember(StaticReplacement),
    /// Offsets: a commit waits.
    Commit {
        /// The commit.
        request: RequestId,
        /// Its answer if the append succeeds.
        partitions: Vec<(TopicPartition, ErrorCode)>,
    },
    /// A part of what is removed; another append follows.
    PartOfRemoval,
    /// The group itself.
    Removal {
        /// The deletion that waits; none if the group lapsed by itself.
        request: Option<RequestId>,
    },
    /// Offsets of a group that stays.
    OffsetRemoval {
        /// The deletion that waits, and its answer if the append succeeds.
        request: Option<(RequestId, Vec<(TopicPartition, ErrorCode)>)>,
    },
}

/// A static member that came back under a new id while the group is stable.
#[derive(Debug)]
pub(super) struct StaticReplacement {
    pub(super) request: RequestId,
    pub(super) old_id: MemberId,
    pub(super) new_id: MemberId,
    /// What the member brought before.
    pub(super) old_terms: Terms,
    /// The leader before.
    pub(super) old_leader: Option<MemberId>,
    pub(super) generation: Generation,
    pub(super) supports_skipping_assignment: bool,
}

impl Appends {
    /// Starts an append.
    pub(super) fn start(&mut self, out: &mut Vec<Effect>, wanted: Append) {
        let append = self.next_id();
        let first_position = Position(self.last_position + 1);
        self.last_position += wanted.records.len() as u64;
        let records: Arc<[Record]> = wanted.records.into();
        out.push(Effect::Append { append, records: Arc::clone(&records), transaction: wanted.transaction });
        let in_flight = InFlight {
            group: wanted.group,
            first_position,
            records,
            producer: wanted.transaction.map(|transaction| transaction.producer_id),
            purpose: wanted.purpose,
        };
        self.in_flight.insert(append, Entry::Append { in_flight, outcome: None });
    }

    /// Queues a transaction marker behind the appends under way, where it stands in the log.
    pub(super) fn push_marker(&mut self, marker: Marker) {
        let id = self.next_id();
        self.in_flight.insert(id, Entry::Marker(marker));
    }

    /// Takes the position of a record that is read from the log.
    pub(super) fn next_position(&mut self) -> Position {
        self.last_position += 1;
        Position(self.last_position)
    }

    /// Notes an outcome; an append that is not under way is ignored.
    pub(super) fn finish(&mut self, append: AppendId, result: Result<(), ErrorCode>) {
        if let Some(Entry::Append { outcome, .. }) = self.in_flight.get_mut(&append) {
            *outcome = Some(result);
        }
    }

    /// Takes what is oldest, if it is over.
    pub(super) fn take_finished(&mut self) -> Option<Finished> {
        let first = self.in_flight.first_entry()?;
        if matches!(first.get(), Entry::Append { outcome: None, .. }) {
            return None;
        }
        match first.remove_entry() {
            (append, Entry::Append { in_flight, outcome: Some(outcome) }) => {
                Some(Finished::Append { append, in_flight, outcome })
            }
            (_, Entry::Append { outcome: None, .. }) => None,
            (_, Entry::Marker(marker)) => Some(Finished::Marker(marker)),
        }
    }

    /// Gives up on all appends: the partition is another broker's now.
    pub(super) fn abandon(&mut self) -> Vec<InFlight> {
        let entries = std::mem::take(&mut self.in_flight).into_values();
        let appends = entries.filter_map(|entry| match entry {
            Entry::Append { in_flight, .. } => Some(in_flight),
            Entry::Marker(_) => None,
        });
        appends.collect()
    }

    /// Returns whether an append of the group is under way.
    pub(super) fn has_any_of(&self, group: &GroupId) -> bool {
        self.in_flight
            .values()
            .any(|entry| matches!(entry, Entry::Append { in_flight, .. } if in_flight.group == *group))
    }

    fn next_id(&mut self) -> AppendId {
        self.last_id += 1;
        AppendId(self.last_id)
    }
}

/// An append that is wanted.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) group: GroupId,
    pub(super) records: Vec<Record>,
    pub(super) transaction: Option<Transaction>,
    pub(super) purpose: Purpose,
}

impl InFlight {
    /// Returns the records with their positions.
    pub(super) fn positioned(&self) -> impl Iterator<Item = (Position, &Record)> {
        (self.first_position.0..).map(Position).zip(self.records.iter())
    }
}
