//! `Heartbeat`, and what happens when it stays out.

use ottla_protocol::message::ErrorCode;

use super::context::Context;
use super::effect::{Reason, Report};
use super::group::Group;
use super::member::Member;
use super::names::MemberId;
use super::request::HeartbeatRequest;
use super::state::State;

impl Group {
    /// Takes a sign of life; returns what the member should know.
    pub(super) fn heartbeat(&mut self, ctx: &mut Context<'_>, request: &HeartbeatRequest) -> ErrorCode {
        let checked =
            self.check_member_of(request.generation, &request.member_id, request.instance_id.as_ref());
        if let Err(error) = checked {
            return error;
        }
        match self.state {
            State::Empty | State::Dead => ErrorCode::UnknownMemberId,
            State::PreparingRebalance => {
                self.restart_session(ctx, &request.member_id);
                ErrorCode::RebalanceInProgress
            }
            State::CompletingRebalance | State::Stable => {
                self.restart_session(ctx, &request.member_id);
                ErrorCode::None
            }
        }
    }

    /// A member was silent for too long.
    pub(super) fn on_session_deadline(&mut self, ctx: &mut Context<'_>, member_id: &MemberId) {
        if self.members.get(member_id).is_none_or(Member::is_excused) {
            return;
        }
        ctx.report(Report::MemberExpired { group: self.id.clone(), member: member_id.clone() });
        self.remove_member(ctx, member_id, Reason::MemberExpired);
    }

    /// A client never joined with the id it was given.
    pub(super) fn on_pending_member_deadline(&mut self, ctx: &mut Context<'_>, member_id: &MemberId) {
        self.pending_members.remove(member_id);
        self.complete_join_if_all_are_here(ctx);
    }

    /// Removes a member; those who remain share its work.
    pub(super) fn remove_member(&mut self, ctx: &mut Context<'_>, member_id: &MemberId, reason: Reason) {
        if self.drop_member(ctx, member_id).is_none() {
            return;
        }
        match self.state {
            State::Empty | State::Dead => {}
            State::Stable | State::CompletingRebalance => self.prepare_rebalance(ctx, reason),
            State::PreparingRebalance => self.complete_join_if_all_are_here(ctx),
        }
    }
}
