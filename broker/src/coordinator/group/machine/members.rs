//! The members of a group: who is in it, who leads, what all of them support.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::member::Member;
use super::names::{InstanceId, MemberId, RequestId};
use super::request::{JoinRequest, Protocol};
use crate::types::Millis;

/// Members by id, and what follows from all of them.
#[derive(Debug, Default)]
pub(super) struct Members {
    by_id: BTreeMap<MemberId, Member>,
    by_instance: BTreeMap<InstanceId, MemberId>,
    leader: Option<MemberId>,
    /// How many have a join parked.
    joined: usize,
    /// How many support each protocol.
    supporters: BTreeMap<Arc<str>, usize>,
}

impl Members {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(super) fn contains(&self, id: &MemberId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn get(&self, id: &MemberId) -> Option<&Member> {
        self.by_id.get(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.by_id.values()
    }

    pub(super) fn ids(&self) -> Vec<MemberId> {
        self.by_id.keys().cloned().collect()
    }

    pub(super) fn leader(&self) -> Option<&MemberId> {
        self.leader.as_ref()
    }

    pub(super) fn is_leader(&self, id: &MemberId) -> bool {
        self.leader.as_ref() == Some(id)
    }

    /// Returns the member that has the instance id now.
    pub(super) fn static_member(&self, instance_id: &InstanceId) -> Option<&MemberId> {
        self.by_instance.get(instance_id)
    }

    pub(super) fn joined(&self) -> usize {
        self.joined
    }

    pub(super) fn have_all_joined(&self) -> bool {
        self.joined == self.by_id.len()
    }

    /// Returns the longest time that a member grants to a rebalance.
    pub(super) fn rebalance_timeout(&self) -> Millis {
        let longest = self.iter().map(|member| member.rebalance_timeout_ms).max().unwrap_or(0);
        Millis(i64::from(longest.max(0)))
    }

    /// Adds a member; the first one leads.
    pub(super) fn add(&mut self, member: Member) {
        debug_assert!(!self.contains(&member.id), "a member is added once");
        self.count_protocols(&member.protocols);
        if member.join.is_some() {
            self.joined += 1;
        }
        if let Some(instance_id) = &member.instance_id {
            self.by_instance.insert(instance_id.clone(), member.id.clone());
        }
        if self.leader.is_none() {
            self.leader = Some(member.id.clone());
        }
        self.by_id.insert(member.id.clone(), member);
    }

    /// Removes a member with whatever it waits for; if it led, another member does.
    pub(super) fn remove(&mut self, id: &MemberId) -> Option<Member> {
        let member = self.take(id)?;
        if let Some(instance_id) = &member.instance_id {
            self.by_instance.remove(instance_id);
        }
        if self.is_leader(id) {
            self.leader = self.by_id.keys().next().cloned();
        }
        Some(member)
    }

    /// Lets a member go on under another id, with its place as leader and static member.
    pub(super) fn rename(&mut self, old: &MemberId, new: &MemberId) {
        let Some(mut member) = self.take(old) else { return };
        member.id = new.clone();
        if self.is_leader(old) {
            self.leader = Some(new.clone());
        }
        self.add(member);
    }

    /// Replaces what a member supports and how patient it is.
    pub(super) fn update(&mut self, id: &MemberId, terms: Terms) {
        let Some(member) = self.by_id.get_mut(id) else { return };
        member.rebalance_timeout_ms = terms.rebalance_timeout_ms;
        member.session_timeout_ms = terms.session_timeout_ms;
        let old = std::mem::replace(&mut member.protocols, terms.protocols.clone());
        self.discount_protocols(&old);
        self.count_protocols(&terms.protocols);
    }

    /// Parks a join; returns the one it displaces.
    pub(super) fn park_join(&mut self, id: &MemberId, request: RequestId) -> Option<RequestId> {
        let member = self.by_id.get_mut(id)?;
        let displaced = member.join.replace(request);
        if displaced.is_none() {
            self.joined += 1;
        }
        displaced
    }

    /// Takes a parked join, to answer it.
    pub(super) fn take_join(&mut self, id: &MemberId) -> Option<RequestId> {
        let request = self.by_id.get_mut(id)?.join.take()?;
        self.joined -= 1;
        Some(request)
    }

    /// Parks a sync; returns the one it displaces.
    pub(super) fn park_sync(&mut self, id: &MemberId, request: RequestId) -> Option<RequestId> {
        self.by_id.get_mut(id)?.sync.replace(request)
    }

    /// Takes a parked sync, to answer it.
    pub(super) fn take_sync(&mut self, id: &MemberId) -> Option<RequestId> {
        self.by_id.get_mut(id)?.sync.take()
    }

    /// Gives a member its assignment.
    pub(super) fn assign(&mut self, id: &MemberId, assignment: bytes::Bytes) {
        if let Some(member) = self.by_id.get_mut(id) {
            member.assignment = assignment;
        }
    }

    /// Notes that a member has been in a generation.
    pub(super) fn settle(&mut self, id: &MemberId) {
        if let Some(member) = self.by_id.get_mut(id) {
            member.is_new = false;
        }
    }

    /// Makes `id` the leader, as a record remembers it; a member that is not there cannot lead.
    pub(super) fn set_leader(&mut self, id: &MemberId) {
        if self.contains(id) {
            self.leader = Some(id.clone());
        }
    }

    /// Keeps the leader if it has joined, else makes the first that has joined the leader; returns whether there is
    /// one.
    pub(super) fn elect_joined_leader(&mut self) -> bool {
        let has_joined = |member: &Member| member.join.is_some();
        if self.leader.as_ref().and_then(|leader| self.by_id.get(leader)).is_some_and(has_joined) {
            return true;
        }
        let joined = self.by_id.values().find(|member| has_joined(member)).map(|member| member.id.clone());
        let is_elected = joined.is_some();
        if is_elected {
            self.leader = joined;
        }
        is_elected
    }

    /// Returns whether every member supports one of `protocols`.
    pub(super) fn support_any_of(&self, protocols: &[Protocol]) -> bool {
        protocols.iter().any(|protocol| self.all_support(&protocol.name))
    }

    /// Returns the protocol that most members like best among those that all support; the first by name on a tie.
    pub(super) fn preferred_protocol(&self) -> Option<Arc<str>> {
        let mut votes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in self.iter() {
            let favourite = member.protocols.iter().find(|protocol| self.all_support(&protocol.name));
            if let Some(favourite) = favourite {
                *votes.entry(&favourite.name).or_default() += 1;
            }
        }
        // `max_by_key` keeps the last of equals, so the first by name wins when walking backwards.
        votes.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| Arc::clone(name))
    }

    fn all_support(&self, protocol: &Arc<str>) -> bool {
        self.supporters.get(protocol).copied().unwrap_or(0) == self.by_id.len()
    }

    fn take(&mut self, id: &MemberId) -> Option<Member> {
        let member = self.by_id.remove(id)?;
        self.discount_protocols(&member.protocols);
        if member.join.is_some() {
            self.joined -= 1;
        }
        Some(member)
    }

    fn count_protocols(&mut self, protocols: &[Protocol]) {
        for name in distinct_names(protocols) {
            *self.supporters.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    fn discount_protocols(&mut self, protocols: &[Protocol]) {
        for name in distinct_names(protocols) {
            if let Some(count) = self.supporters.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.supporters.remove(name);
                }
            }
        }
    }
}

/// What a member brings with each join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) rebalance_timeout_ms: i32,
    pub(super) session_timeout_ms: i32,
    pub(super) protocols: Vec<Protocol>,
}

impl Terms {
    pub(super) fn of_request(request: &JoinRequest) -> Self {
        Self {
            rebalance_timeout_ms: request.rebalance_timeout_ms,
            session_timeout_ms: request.session_timeout_ms,
            protocols: request.protocols.clone(),
        }
    }

    pub(super) fn of_member(member: &Member) -> Self {
        Self {
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            protocols: member.protocols.clone(),
        }
    }
}

fn distinct_names(protocols: &[Protocol]) -> BTreeSet<&Arc<str>> {
    protocols.iter().map(|protocol| &protocol.name).collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn member(id: &str, protocols: &[&str]) -> Member {
        let protocols =
            protocols.iter().map(|name| Protocol { name: Arc::from(*name), metadata: Bytes::new() });
        Member {
            id: id.into(),
            instance_id: None,
            client_id: "client".into(),
            client_host: "/host".into(),
            rebalance_timeout_ms: 100,
            session_timeout_ms: 10,
            protocols: protocols.collect(),
            assignment: Bytes::new(),
            is_new: true,
            join: None,
            sync: None,
        }
    }

    fn members(lists: &[&[&str]]) -> Members {
        let mut members = Members::default();
        for (index, protocols) in lists.iter().enumerate() {
            members.add(member(&format!("m{index}"), protocols));
        }
        members
    }

    #[test]
    fn the_protocol_with_most_votes_among_the_common_ones_wins() {
        let cases: &[(&[&[&str]], Option<&str>)] = &[
            (&[], None),
            (&[&["range"]], Some("range")),
            (&[&["range", "sticky"], &["sticky", "range"], &["sticky", "range"]], Some("sticky")),
            // Only "range" is common, whatever most like best.
            (&[&["sticky", "range"], &["sticky", "range"], &["range"]], Some("range")),
            (&[&["b", "a"], &["a", "b"]], Some("a")),
            (&[&["a", "a", "b"], &["b", "a"], &["b", "a"]], Some("b")),
            (&[&["a"], &["b"]], None),
        ];
        for (lists, expected) in cases {
            assert_eq!(members(lists).preferred_protocol().as_deref(), *expected, "{lists:?}");
        }
    }

    #[test]
    fn support_follows_additions_updates_and_removals() {
        let mut members = members(&[&["range", "sticky"], &["range"]]);
        let sticky = [Protocol { name: "sticky".into(), metadata: Bytes::new() }];
        assert!(!members.support_any_of(&sticky));
        members.update(
            &"m1".into(),
            Terms { rebalance_timeout_ms: 7, session_timeout_ms: 8, protocols: sticky.to_vec() },
        );
        assert!(members.support_any_of(&sticky));
        assert_eq!(members.rebalance_timeout(), Millis(100));
        members.remove(&"m1".into());
        assert_eq!(members.preferred_protocol().as_deref(), Some("range"));
    }

    #[test]
    fn leadership_moves_to_a_joined_member_and_away_from_a_removed_one() {
        let mut members = members(&[&["range"], &["range"], &["range"]]);
        assert!(members.is_leader(&"m0".into()));
        assert!(!members.elect_joined_leader(), "nobody has joined");
        assert!(members.is_leader(&"m0".into()), "and nothing changes");
        members.park_join(&"m2".into(), RequestId(1));
        assert!(members.elect_joined_leader());
        assert!(members.is_leader(&"m2".into()));
        members.rename(&"m2".into(), &"m9".into());
        assert!(members.is_leader(&"m9".into()));
        assert_eq!(members.joined(), 1, "what it waits for goes along");
        members.remove(&"m9".into());
        assert!(members.is_leader(&"m0".into()));
        assert_eq!(members.joined(), 0);
    }
}
