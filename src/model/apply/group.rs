//! Groups: rebalances with their causes, and lags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ottla_broker::types::Millis;

use super::topic::count;
use crate::model::group::{Group, GroupDescription, GroupState, GroupUpdate, Rebalance};
use crate::model::state::Model;
use crate::model::timeline::{EventKind, Severity};

/// How many names of members an event lists.
const NAMES_MAX: usize = 3;

impl Model {
    pub(super) fn apply_group(&mut self, now: Millis, name: &str, update: GroupUpdate) {
        match update {
            GroupUpdate::Gone => self.remove_group(now, name),
            GroupUpdate::Described(description) => self.apply_description(now, name, description),
            GroupUpdate::Offsets(offsets) => {
                let mut group = self.groups.remove(name).unwrap_or_default();
                group.apply_offsets(offsets);
                self.put_group(now, name, group);
            }
        }
        self.count_groups();
    }

    fn apply_description(&mut self, now: Millis, name: &str, description: GroupDescription) {
        let known = self.groups.contains_key(name);
        let mut group = self.groups.remove(name).unwrap_or_default();
        let before = std::mem::replace(&mut group.description, description);
        let described_before = group.described_at.replace(now).is_some();
        if described_before {
            self.follow_rebalance(now, name, &mut group, before);
        } else if group.description.state.is_rebalancing() {
            group.rebalance =
                Some(Rebalance { since: now, generation_before: None, members_before: BTreeMap::new() });
        }
        if !known && self.listed.groups {
            let text = format!("group {name} appeared");
            self.timeline.add(now, Severity::Info, EventKind::Group, text);
        }
        group.settle_owners();
        self.put_group(now, name, group);
    }

    /// Notes the beginning or the end of a rebalance.
    fn follow_rebalance(&mut self, now: Millis, name: &str, group: &mut Group, before: GroupDescription) {
        let after = &group.description;
        let generation_moved = match (before.generation, after.generation) {
            (Some(old), Some(new)) => new != old,
            _ => false,
        };
        let old = Group { description: before, ..Group::default() };
        if after.state.is_rebalancing() {
            if group.rebalance.is_none() {
                group.rebalance = Some(Rebalance {
                    since: now,
                    generation_before: old.description.generation,
                    members_before: old.members_by_id(),
                });
                let text = format!("group {name} rebalances");
                self.timeline.add(now, Severity::Warning, EventKind::Rebalance, text);
            }
            return;
        }
        let (members_before, took) = match group.rebalance.take() {
            Some(rebalance) => (rebalance.members_before, Some(now.since(rebalance.since))),
            None if generation_moved || membership_moved(&old, group) => (old.members_by_id(), None),
            None => return,
        };
        if let Some(took) = took {
            group.last_rebalance = Some((now, took));
        }
        let text = tell(name, group, &members_before);
        let severity =
            if group.description.state == GroupState::Stable { Severity::Good } else { Severity::Info };
        self.timeline.add_timed(now, severity, EventKind::Rebalance, text, took);
    }

    pub(super) fn apply_groups_listed(&mut self, now: Millis, names: &[String]) {
        let gone: Vec<_> = self.groups.keys().filter(|name| !names.contains(name)).cloned().collect();
        for name in gone {
            self.remove_group(now, &name);
        }
        self.listed.groups = true;
        self.count_groups();
    }

    fn remove_group(&mut self, now: Millis, name: &str) {
        if self.groups.remove(name).is_some() {
            self.timeline.add(now, Severity::Info, EventKind::Group, format!("group {name} is gone"));
        }
    }

    fn put_group(&mut self, now: Millis, name: &str, mut group: Group) {
        let topics = &self.topics;
        group.settle_lag(now, |partition| {
            topics.get(&*partition.topic)?.partitions.get(&partition.partition)?.readable_end()
        });
        self.groups.insert(name.to_owned(), group);
    }

    /// Works out the lags anew after ends moved, in all topics or these.
    pub(super) fn settle_group_lags(&mut self, now: Millis, moved: Option<&BTreeSet<Arc<str>>>) {
        let topics = &self.topics;
        for group in self.groups.values_mut() {
            let concerned = moved
                .is_none_or(|moved| group.offsets.keys().any(|partition| moved.contains(&partition.topic)));
            if concerned {
                group.settle_lag(now, |partition| {
                    topics.get(&*partition.topic)?.partitions.get(&partition.partition)?.readable_end()
                });
            }
        }
        self.count_groups();
    }

    fn count_groups(&mut self) {
        self.summary.rebalancing = self.groups.values().filter(|group| group.rebalance.is_some()).count();
        self.summary.lag = self.groups.values().filter_map(|group| group.lag).sum();
    }
}

/// Returns whether another set of members shares the partitions than before.
fn membership_moved(before: &Group, after: &Group) -> bool {
    after.description.generation.is_none() && before.members_by_id() != after.members_by_id()
}

/// Puts a finished rebalance in words: "group g: generation 4, 3 members; consumer-3 joined".
fn tell(name: &str, group: &Group, before: &BTreeMap<String, String>) -> String {
    let after = group.members_by_id();
    let joined: Vec<_> =
        after.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, name)| name).collect();
    let left: Vec<_> =
        before.iter().filter(|(id, _)| !after.contains_key(*id)).map(|(_, name)| name).collect();
    let mut text = format!("group {name}");
    if let Some(generation) = group.description.generation {
        text.push_str(&format!(" rebalanced to generation {generation}"));
    } else {
        text.push_str(" rebalanced");
    }
    text.push_str(&format!(", {}", count(after.len(), "member")));
    let cause = match (joined.is_empty(), left.is_empty()) {
        (true, true) => "members joined again".to_owned(),
        (false, true) => format!("{} joined", names(&joined)),
        (true, false) => format!("{} left", names(&left)),
        (false, false) => format!("{} joined, {} left", names(&joined), names(&left)),
    };
    format!("{text}: {cause}")
}

fn names(list: &[&String]) -> String {
    let shown: Vec<_> = list.iter().take(NAMES_MAX).map(|name| name.as_str()).collect();
    match list.len().saturating_sub(NAMES_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
