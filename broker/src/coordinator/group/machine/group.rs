//! One group: its state, its members, and what the log remembers of it.
//!
//! The duties are in files of their own, each an `impl Group`: [`join`](super::join), [`rebalance`](super::rebalance),
//! [`sync`](super::sync), [`heartbeat`](super::heartbeat), [`leave`](super::leave), [`commit`](super::commit),
//! [`fetch`](super::fetch), [`expiry`](super::expiry), [`removal`](super::removal), [`describe`](super::describe),
//! [`load`](super::load). Here is what they share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::ErrorCode;

use super::appends::{Append, Purpose};
use super::context::Context;
use super::durable::Durable;
use super::member::Member;
use super::members::Members;
use super::names::{Generation, GroupId, InstanceId, MemberId};
use super::pending_commits::PendingCommits;
use super::rebalance::JoinPhase;
use super::record::{GroupMetadata, Record};
use super::reply::{JoinReply, Reply, SyncReply};
use super::state::State;
use super::subscription;
use super::timers::{Timer, Timers};
use crate::types::Millis;

/// One group.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: GroupId,
    pub(super) state: State,
    /// When the group entered its state, on the wall; unknown when an old record did not say.
    pub(super) state_since: Option<Millis>,
    pub(super) generation: Generation,
    pub(super) protocol_type: Option<Arc<str>>,
    pub(super) protocol: Option<Arc<str>>,
    pub(super) members: Members,
    /// Ids that were handed out and have not joined (KIP-394).
    pub(super) pending_members: BTreeSet<MemberId>,
    /// Members that have not synced in this generation.
    pub(super) pending_syncs: BTreeSet<MemberId>,
    pub(super) join_phase: JoinPhase,
    /// The generation whose assignment is being appended: a leader that repeats its sync does not append it again.
    pub(super) storing_assignment: Option<Generation>,
    /// What the members of a consumer group read; `None` if that is not known.
    pub(super) subscribed_topics: Option<BTreeSet<String>>,
    pub(super) pending_commits: PendingCommits,
    pub(super) durable: Durable,
    pub(super) timers: Timers,
}

impl Group {
    /// Makes an empty group.
    pub(super) fn new(id: GroupId) -> Self {
        Self {
            id,
            state: State::Empty,
            state_since: None,
            generation: Generation::ZERO,
            protocol_type: None,
            protocol: None,
            members: Members::default(),
            pending_members: BTreeSet::new(),
            pending_syncs: BTreeSet::new(),
            join_phase: JoinPhase::default(),
            storing_assignment: None,
            subscribed_topics: None,
            pending_commits: PendingCommits::default(),
            durable: Durable::default(),
            timers: Timers::default(),
        }
    }

    /// Returns whether the group is as good as absent: nobody in it, nothing remembered, nothing under way.
    pub(super) fn is_vacant(&self) -> bool {
        self.state == State::Empty
            && self.pending_members.is_empty()
            && self.pending_commits.is_empty()
            && self.durable.is_empty()
    }

    /// Moves to another state.
    pub(super) fn enter(&mut self, ctx: &Context<'_>, state: State) {
        debug_assert!(state.may_follow(self.state), "{}: {} does not follow {}", self.id, state, self.state);
        self.state = state;
        self.state_since = Some(ctx.now.wall);
    }

    /// Checks that a request comes from a current member: its instance id is its own, and its id is known.
    pub(super) fn check_member(
        &self,
        member_id: &MemberId,
        instance_id: Option<&InstanceId>,
    ) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            match self.members.static_member(instance_id) {
                None => return Err(ErrorCode::UnknownMemberId),
                Some(current) if current != member_id => return Err(ErrorCode::FencedInstanceId),
                Some(_) => {}
            }
        }
        if self.members.contains(member_id) { Ok(()) } else { Err(ErrorCode::UnknownMemberId) }
    }

    /// Checks that a request comes from a current member of the current generation.
    pub(super) fn check_member_of(
        &self,
        generation: Generation,
        member_id: &MemberId,
        instance_id: Option<&InstanceId>,
    ) -> Result<(), ErrorCode> {
        if self.state == State::Dead {
            return Err(ErrorCode::CoordinatorNotAvailable);
        }
        self.check_member(member_id, instance_id)?;
        if generation == self.generation { Ok(()) } else { Err(ErrorCode::IllegalGeneration) }
    }

    /// Starts a member's session anew, unless the member waits for us.
    pub(super) fn restart_session(&mut self, ctx: &Context<'_>, member_id: &MemberId) {
        let Some(member) = self.members.get(member_id) else { return };
        let timer = Timer::Session(member_id.clone());
        if member.is_excused() {
            self.timers.cancel(&timer);
        } else {
            self.timers.set(timer, ctx.now.after(member.patience()));
        }
    }

    /// Removes a member from everything and refuses what it waits for.
    pub(super) fn drop_member(&mut self, ctx: &mut Context<'_>, member_id: &MemberId) -> Option<Member> {
        self.timers.cancel(&Timer::Session(member_id.clone()));
        self.pending_syncs.remove(member_id);
        let member = self.members.remove(member_id)?;
        let error = ErrorCode::UnknownMemberId;
        if let Some(join) = member.join {
            // Without an id, so that a member that is alive after all joins as a new one.
            ctx.reply(join, Reply::Join(JoinReply::error(MemberId::unknown(), error)));
        }
        if let Some(sync) = member.sync {
            ctx.reply(sync, Reply::Sync(SyncReply::error(error)));
        }
        Some(member)
    }

    /// Takes back an id that was handed out.
    pub(super) fn drop_pending_member(&mut self, member_id: &MemberId) -> bool {
        self.timers.cancel(&Timer::PendingMember(member_id.clone()));
        self.pending_members.remove(member_id)
    }

    /// Appends the group's membership with the given assignments.
    pub(super) fn append_membership(
        &self,
        ctx: &mut Context<'_>,
        mut assignments: BTreeMap<MemberId, Bytes>,
        purpose: Purpose,
    ) {
        let protocol = self.protocol.as_deref();
        let members = self.members.iter();
        let members = members
            .map(|member| member.to_record(protocol, assignments.remove(&member.id).unwrap_or_default()));
        let value = GroupMetadata {
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.members.leader().cloned(),
            state_since: self.state_since,
            members: members.collect(),
        };
        let records = vec![Record::Group { group: self.id.clone(), value: Some(value) }];
        let wanted = Append { group: self.id.clone(), records, transaction: None, purpose };
        ctx.appends.start(ctx.out, wanted);
    }

    /// Notes what the members subscribe to, for the chosen protocol.
    pub(super) fn note_subscriptions(&mut self) {
        self.subscribed_topics = subscription::topics_of(self);
    }

    /// Returns whether a topic may be read by the group; yes if nobody knows.
    pub(super) fn may_read(&self, topic: &str) -> bool {
        self.subscribed_topics.as_ref().is_none_or(|topics| topics.contains(topic))
    }

    /// Returns whether its members are consumers.
    pub(super) fn is_consumer_group(&self) -> bool {
        self.protocol_type.as_deref() == Some(subscription::CONSUMER)
    }
}
