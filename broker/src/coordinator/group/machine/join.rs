//! `JoinGroup`: becoming a member, and joining again.

use ottla_protocol::message::ErrorCode;

use super::config::PENDING_MEMBERS_MAX;
use super::context::Context;
use super::effect::Reason;
use super::group::Group;
use super::member::Member;
use super::members::Terms;
use super::names::{MemberId, RequestId};
use super::rebalance::JoinPhase;
use super::reply::{JoinReply, Reply};
use super::request::JoinRequest;
use super::state::State;
use super::timers::Timer;
use crate::types::Millis;

impl Group {
    /// Answers a join, or parks it until the rebalance is complete.
    pub(super) fn join(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest) {
        if let Err(error) = self.admit(ctx, request) {
            // Without an id: a full group has no place for the old one either.
            let member_id = if error == ErrorCode::GroupMaxSizeReached {
                MemberId::unknown()
            } else {
                request.member_id.clone()
            };
            ctx.reply(to, Reply::Join(JoinReply::error(member_id, error)));
        } else if request.member_id.is_unknown() {
            self.join_as_new(ctx, to, request);
        } else {
            self.join_by_id(ctx, to, request);
        }
        self.complete_join_if_all_are_here(ctx);
    }

    /// Checks size and protocols; a member that finds no place any more is removed.
    fn admit(&mut self, ctx: &mut Context<'_>, request: &JoinRequest) -> Result<(), ErrorCode> {
        if !self.has_place_for(ctx, &request.member_id) {
            self.drop_pending_member(&request.member_id);
            self.drop_member(ctx, &request.member_id);
            return Err(ErrorCode::GroupMaxSizeReached);
        }
        if self.state == State::Dead {
            return Err(ErrorCode::CoordinatorNotAvailable);
        }
        if self.accepts_protocols(request) { Ok(()) } else { Err(ErrorCode::InconsistentGroupProtocol) }
    }

    /// In the join phase those who have joined count: after `group.max.size` was lowered, the last to come are left out
    /// (KIP-389).
    fn has_place_for(&self, ctx: &Context<'_>, member_id: &MemberId) -> bool {
        let member = self.members.get(member_id);
        match self.state {
            State::Empty | State::Dead => true,
            State::PreparingRebalance => {
                member.is_some_and(|member| member.join.is_some())
                    || self.members.joined() < ctx.config.max_size
            }
            State::CompletingRebalance | State::Stable => {
                member.is_some() || self.members.len() < ctx.config.max_size
            }
        }
    }

    fn accepts_protocols(&self, request: &JoinRequest) -> bool {
        if request.protocol_type.is_empty() || request.protocols.is_empty() {
            return false;
        }
        if self.state == State::Empty || self.members.is_empty() {
            return true;
        }
        self.protocol_type.as_ref() == Some(&request.protocol_type)
            && self.members.support_any_of(&request.protocols)
    }

    fn join_as_new(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest) {
        let new_id = ctx.member_ids.next(&request.client_id, request.instance_id.as_ref());
        match &request.instance_id {
            Some(instance_id) => match self.members.static_member(instance_id).cloned() {
                Some(old_id) => self.replace_static_member(ctx, to, request, &old_id, &new_id),
                None => self.add_member(ctx, to, request, new_id),
            },
            None if request.require_known_member_id => self.hand_out(ctx, to, request, new_id),
            None => self.add_member(ctx, to, request, new_id),
        }
    }

    /// Hands out an id and expects the client to join with it: a client that gives up in between leaves no ghost
    /// member behind (KIP-394).
    fn hand_out(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest, new_id: MemberId) {
        if self.pending_members.len() >= PENDING_MEMBERS_MAX {
            let error = ErrorCode::CoordinatorNotAvailable;
            ctx.reply(to, Reply::Join(JoinReply::error(MemberId::unknown(), error)));
            return;
        }
        self.pending_members.insert(new_id.clone());
        let deadline = ctx.now.after(Millis(i64::from(request.session_timeout_ms)));
        self.timers.set(Timer::PendingMember(new_id.clone()), deadline);
        ctx.reply(to, Reply::Join(JoinReply::error(new_id, ErrorCode::MemberIdRequired)));
    }

    fn join_by_id(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest) {
        let member_id = &request.member_id;
        if request.instance_id.is_none() && self.drop_pending_member(member_id) {
            self.add_member(ctx, to, request, member_id.clone());
            return;
        }
        if let Err(error) = self.check_member(member_id, request.instance_id.as_ref()) {
            ctx.reply(to, Reply::Join(JoinReply::error(member_id.clone(), error)));
            return;
        }
        match self.state {
            State::PreparingRebalance => self.rejoin(ctx, to, request),
            // The answer got lost, perhaps: the same again.
            State::CompletingRebalance if self.is_unchanged(request) => {
                self.answer_joined(ctx, to, member_id)
            }
            // The leader may ask for a rebalance for reasons that its own metadata does not show.
            State::Stable if self.is_unchanged(request) && !self.members.is_leader(member_id) => {
                self.answer_joined(ctx, to, member_id);
            }
            State::CompletingRebalance | State::Stable => self.rejoin(ctx, to, request),
            State::Empty | State::Dead => {
                let error = ErrorCode::UnknownMemberId;
                ctx.reply(to, Reply::Join(JoinReply::error(member_id.clone(), error)));
            }
        }
    }

    fn is_unchanged(&self, request: &JoinRequest) -> bool {
        self.members.get(&request.member_id).is_some_and(|member| member.protocols == request.protocols)
    }

    /// Adds a member and starts or extends a rebalance.
    fn add_member(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest, new_id: MemberId) {
        if self.members.is_empty() {
            self.protocol_type = Some(request.protocol_type.clone());
        }
        if self.state == State::PreparingRebalance
            && self.generation == super::names::Generation::ZERO
            && let JoinPhase::Initial { has_newcomer, .. } = &mut self.join_phase
        {
            *has_newcomer = true;
        }
        self.members.add(Member::joining(new_id.clone(), request));
        self.park_join(ctx, to, &new_id);
        self.restart_session(ctx, &new_id);
        self.prepare_rebalance(ctx, Reason::MemberJoined);
    }

    /// Takes what a member brings now and lets it wait for the rebalance.
    fn rejoin(&mut self, ctx: &mut Context<'_>, to: RequestId, request: &JoinRequest) {
        let member_id = &request.member_id;
        self.members.update(member_id, Terms::of_request(request));
        self.park_join(ctx, to, member_id);
        self.excuse(member_id);
        self.prepare_rebalance(ctx, Reason::MemberRejoined);
    }

    /// Parks a join. The client has given up an earlier one of the same member, for it can have only one under way.
    pub(super) fn park_join(&mut self, ctx: &mut Context<'_>, to: RequestId, member_id: &MemberId) {
        if let Some(displaced) = self.members.park_join(member_id, to) {
            let error = ErrorCode::RebalanceInProgress;
            ctx.reply(displaced, Reply::Join(JoinReply::error(member_id.clone(), error)));
        }
    }

    /// Stops counting a member's silence while it waits for us.
    pub(super) fn excuse(&mut self, member_id: &MemberId) {
        if self.members.get(member_id).is_some_and(Member::is_excused) {
            self.timers.cancel(&Timer::Session(member_id.clone()));
        }
    }
}
