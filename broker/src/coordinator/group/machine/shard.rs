//! The groups of one partition of `__consumer_offsets`.

use std::collections::{BTreeMap, BTreeSet};

use super::appends::Appends;
use super::config::Config;
use super::context::Context;
use super::effect::Effect;
use super::group::Group;
use super::member_ids::MemberIds;
use super::names::{GroupId, ProducerId};
use super::record::Record;
use super::state::State;
use super::time::Now;
use crate::types::Millis;

/// The groups of one partition of `__consumer_offsets`: everything that its leader coordinates.
///
/// A shard is made empty, [`replay`](Self::replay)s what the log holds, is told
/// [`Event::Loaded`](super::Event::Loaded), and takes [`step`](Self::step)s until
/// [`Event::Resigned`](super::Event::Resigned).
#[derive(Debug)]
pub struct Shard {
    pub(super) config: Config,
    pub(super) groups: BTreeMap<GroupId, Group>,
    pub(super) appends: Appends,
    pub(super) next_expiry: Option<Millis>,
    member_ids: MemberIds,
    /// The next deadline of each group that has one, twice: in order and by group.
    deadlines: BTreeSet<(Millis, GroupId)>,
    deadline_of: BTreeMap<GroupId, Millis>,
}

impl Shard {
    /// Makes a shard without groups. Member ids come from `seed`, which must differ between brokers and terms.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            groups: BTreeMap::new(),
            appends: Appends::default(),
            next_expiry: None,
            member_ids: MemberIds::new(seed),
            deadlines: BTreeSet::new(),
            deadline_of: BTreeMap::new(),
        }
    }

    /// Applies a record that is read from the log, in the order of the log.
    pub fn replay(&mut self, record: &Record, producer: Option<ProducerId>) {
        let position = self.appends.next_position();
        let id = record.group();
        if !self.groups.contains_key(id) {
            self.groups.insert(id.clone(), Group::new(id.clone()));
        }
        if let Some(group) = self.groups.get_mut(id) {
            group.durable.replay(position, record, producer);
            if group.durable.is_empty() {
                self.groups.remove(id);
            }
        }
    }

    /// Applies a transaction marker that is read from the log.
    pub fn replay_marker(&mut self, producer: ProducerId, committed: bool) {
        for group in self.groups.values_mut() {
            group.durable.end_transaction(producer, committed);
        }
        self.groups.retain(|_, group| !group.durable.is_empty());
    }

    /// Returns by when the shard wants an [`Event::Tick`](super::Event::Tick).
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        let groups = self.deadlines.first().map(|(deadline, _)| *deadline);
        [groups, self.next_expiry].into_iter().flatten().min()
    }

    /// Returns how many groups there are.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Returns how many groups are in each of the given states.
    #[must_use]
    pub fn count_in<const N: usize>(&self, states: [State; N]) -> [usize; N] {
        states.map(|state| self.groups.values().filter(|group| group.state == state).count())
    }

    /// Lets a group act, if it is there, and sees to what follows from it.
    pub(super) fn with_group<T>(
        &mut self,
        now: Now,
        id: &GroupId,
        out: &mut Vec<Effect>,
        act: impl FnOnce(&mut Group, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let mut ctx = Context {
            now,
            config: &self.config,
            member_ids: &mut self.member_ids,
            appends: &mut self.appends,
            out,
        };
        let acted = self.groups.get_mut(id).map(|group| act(group, &mut ctx));
        self.settle(id);
        acted
    }

    /// Makes a group unless it is there.
    pub(super) fn ensure(&mut self, id: &GroupId) {
        if !self.groups.contains_key(id) {
            self.groups.insert(id.clone(), Group::new(id.clone()));
        }
    }

    /// Returns the ids of all groups.
    pub(super) fn group_ids(&self) -> Vec<GroupId> {
        self.groups.keys().cloned().collect()
    }

    /// Returns a group that has a deadline in the past.
    pub(super) fn due_group(&self, now: Now) -> Option<GroupId> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now.steady).map(|(_, id)| id.clone())
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.deadlines.clear();
        self.deadline_of.clear();
        self.next_expiry = None;
    }

    /// Forgets one group.
    pub(super) fn forget(&mut self, id: &GroupId) {
        self.groups.remove(id);
        self.note_deadline(id, None);
    }

    /// Drops a group that has become vacant, and notes when the others must be looked at.
    fn settle(&mut self, id: &GroupId) {
        let Some(group) = self.groups.get(id) else { return };
        if group.is_vacant() && !self.appends.has_any_of(id) {
            self.forget(id);
        } else {
            let deadline = group.timers.next();
            self.note_deadline(id, deadline);
        }
    }

    fn note_deadline(&mut self, id: &GroupId, deadline: Option<Millis>) {
        if self.deadline_of.get(id).copied() == deadline {
            return;
        }
        if let Some(old) = self.deadline_of.remove(id) {
            self.deadlines.remove(&(old, id.clone()));
        }
        if let Some(new) = deadline {
            self.deadline_of.insert(id.clone(), new);
            self.deadlines.insert((new, id.clone()));
        }
    }
}
