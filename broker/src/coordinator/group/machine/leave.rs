//! `LeaveGroup`: members that go, or are sent away by name.

use ottla_protocol::message::ErrorCode;

use super::context::Context;
use super::effect::Reason;
use super::group::Group;
use super::reply::LeaveReply;
use super::request::LeavingMember;
use super::state::State;

impl Group {
    /// Removes members; each has an outcome of its own.
    pub(super) fn leave(&mut self, ctx: &mut Context<'_>, leaving: Vec<LeavingMember>) -> LeaveReply {
        if self.state == State::Dead {
            return LeaveReply { error: ErrorCode::CoordinatorNotAvailable, members: Vec::new() };
        }
        let outcomes = leaving.into_iter().map(|member| {
            let error = self.leave_one(ctx, &member);
            (member, error)
        });
        LeaveReply { error: ErrorCode::None, members: outcomes.collect() }
    }

    fn leave_one(&mut self, ctx: &mut Context<'_>, leaving: &LeavingMember) -> ErrorCode {
        let instance_id = leaving.instance_id.as_ref();
        let member_id = if leaving.member_id.is_unknown() {
            let named = instance_id.and_then(|instance_id| self.members.static_member(instance_id));
            let Some(member_id) = named else { return ErrorCode::UnknownMemberId };
            member_id.clone()
        } else if self.drop_pending_member(&leaving.member_id) {
            self.complete_join_if_all_are_here(ctx);
            return ErrorCode::None;
        } else if let Err(error) = self.check_member(&leaving.member_id, instance_id) {
            return error;
        } else {
            leaving.member_id.clone()
        };
        self.remove_member(ctx, &member_id, Reason::MemberLeft);
        ErrorCode::None
    }
}
