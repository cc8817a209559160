//! The join phase: from the decision to rebalance to the next generation.

use std::collections::BTreeMap;

use ottla_protocol::message::ErrorCode;

use super::appends::Purpose;
use super::context::Context;
use super::effect::{Reason, Report};
use super::group::Group;
use super::names::{MemberId, RequestId};
use super::reply::{JoinReply, JoinedMember, Reply, SyncReply};
use super::state::State;
use super::timers::Timer;
use crate::types::Millis;

/// A join phase that nobody came to is not repeated faster than this, however little patience its members declare.
const REPEATED_ROUND_MIN: Millis = Millis(1_000);

/// How the join phase ends.
#[derive(Debug, Default)]
pub(super) enum JoinPhase {
    /// As soon as all members have joined and no id is pending, or when their rebalance timeout is over.
    #[default]
    Complete,
    /// When the initial delay is over, which new members extend (KIP-134).
    Initial {
        /// By how much the delay may still be extended.
        remaining: Millis,
        /// Somebody joined during this delay.
        has_newcomer: bool,
    },
}

impl Group {
    /// Starts a rebalance, unless one is under way or the group is being removed.
    pub(super) fn prepare_rebalance(&mut self, ctx: &mut Context<'_>, reason: Reason) {
        if !State::PreparingRebalance.may_follow(self.state) {
            return;
        }
        let from = self.state;
        if from == State::CompletingRebalance {
            self.refuse_syncs(ctx, ErrorCode::RebalanceInProgress);
        }
        self.timers.cancel(&Timer::Sync);
        self.pending_syncs.clear();
        self.start_join_phase(ctx, from);
        self.enter(ctx, State::PreparingRebalance);
        let (group, generation) = (self.id.clone(), self.generation);
        ctx.report(Report::RebalanceStarted { group, from, generation, reason });
        self.complete_join_if_all_are_here(ctx);
    }

    fn start_join_phase(&mut self, ctx: &Context<'_>, from: State) {
        let timeout = self.members.rebalance_timeout();
        if from == State::Empty {
            let delay = ctx.config.initial_rebalance_delay;
            self.join_phase = JoinPhase::Initial { remaining: timeout.since(delay), has_newcomer: false };
            self.timers.set(Timer::Join, ctx.now.after(delay));
        } else {
            self.join_phase = JoinPhase::Complete;
            self.timers.set(Timer::Join, ctx.now.after(timeout));
        }
    }

    /// Ends the join phase if nobody is missing. An initial delay runs to its end.
    pub(super) fn complete_join_if_all_are_here(&mut self, ctx: &mut Context<'_>) {
        let is_waiting =
            self.state == State::PreparingRebalance && matches!(self.join_phase, JoinPhase::Complete);
        if is_waiting && self.members.have_all_joined() && self.pending_members.is_empty() {
            self.complete_join(ctx);
        }
    }

    /// The time of the join phase, or of its initial delay, is over.
    pub(super) fn on_join_deadline(&mut self, ctx: &mut Context<'_>) {
        if self.state != State::PreparingRebalance {
            return;
        }
        if let JoinPhase::Initial { remaining, has_newcomer: true } = self.join_phase
            && remaining > Millis(0)
        {
            let delay = ctx.config.initial_rebalance_delay.min(remaining);
            self.join_phase = JoinPhase::Initial { remaining: remaining.since(delay), has_newcomer: false };
            self.timers.set(Timer::Join, ctx.now.after(delay));
            return;
        }
        self.complete_join(ctx);
    }

    fn complete_join(&mut self, ctx: &mut Context<'_>) {
        self.drop_absent_members(ctx);
        if !self.members.is_empty() && !self.members.elect_joined_leader() {
            // Only static members are left and none has come: they get another round, or their sessions expire.
            self.join_phase = JoinPhase::Complete;
            let timeout = self.members.rebalance_timeout().max(REPEATED_ROUND_MIN);
            self.timers.set(Timer::Join, ctx.now.after(timeout));
            return;
        }
        self.timers.cancel(&Timer::Join);
        self.join_phase = JoinPhase::Complete;
        self.generation = self.generation.next();
        if self.members.is_empty() {
            self.become_empty(ctx);
        } else {
            self.start_generation(ctx);
        }
    }

    /// Removes the dynamic members that have not joined.
    fn drop_absent_members(&mut self, ctx: &mut Context<'_>) {
        let absent =
            self.members.iter().filter(|member| member.join.is_none() && member.instance_id.is_none());
        let absent: Vec<MemberId> = absent.map(|member| member.id.clone()).collect();
        for member_id in absent {
            self.drop_member(ctx, &member_id);
        }
    }

    fn become_empty(&mut self, ctx: &mut Context<'_>) {
        self.protocol = None;
        self.enter(ctx, State::Empty);
        self.note_subscriptions();
        self.append_membership(ctx, BTreeMap::new(), Purpose::Emptied);
        let (group, generation) = (self.id.clone(), self.generation);
        ctx.report(Report::GenerationStarted { group, generation, members: 0 });
    }

    fn start_generation(&mut self, ctx: &mut Context<'_>) {
        self.protocol = self.members.preferred_protocol();
        self.enter(ctx, State::CompletingRebalance);
        self.note_subscriptions();
        let (group, generation) = (self.id.clone(), self.generation);
        ctx.report(Report::GenerationStarted { group, generation, members: self.members.len() });
        self.pending_syncs = self.members.ids().into_iter().collect();
        self.timers.set(Timer::Sync, ctx.now.after(self.members.rebalance_timeout()));
        for member_id in self.members.ids() {
            if let Some(request) = self.members.take_join(&member_id) {
                self.answer_joined(ctx, request, &member_id);
            }
            self.members.settle(&member_id);
            self.restart_session(ctx, &member_id);
        }
    }

    /// Answers a join with the current generation.
    pub(super) fn answer_joined(&self, ctx: &mut Context<'_>, request: RequestId, member_id: &MemberId) {
        ctx.reply(request, Reply::Join(self.joined(member_id)));
    }

    /// Returns the current generation as `member_id` gets to know it: the leader learns of all members.
    pub(super) fn joined(&self, member_id: &MemberId) -> JoinReply {
        let members = if self.members.is_leader(member_id) { self.joined_members() } else { Vec::new() };
        JoinReply {
            error: ErrorCode::None,
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: self.members.leader().cloned(),
            skip_assignment: false,
            member_id: member_id.clone(),
            members,
        }
    }

    fn joined_members(&self) -> Vec<JoinedMember> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let members = self.members.iter().map(|member| JoinedMember {
            member_id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            metadata: member.metadata(protocol),
        });
        members.collect()
    }

    /// Refuses every parked sync; nobody keeps an assignment.
    pub(super) fn refuse_syncs(&mut self, ctx: &mut Context<'_>, error: ErrorCode) {
        for member_id in self.members.ids() {
            self.members.assign(&member_id, bytes::Bytes::new());
            if let Some(request) = self.members.take_sync(&member_id) {
                ctx.reply(request, Reply::Sync(SyncReply::error(error)));
                self.restart_session(ctx, &member_id);
            }
        }
    }
}
