//! A static member that comes back without its member id: the same place under a new id (KIP-345).

use ottla_protocol::message::ErrorCode;

use super::appends::{Purpose, StaticReplacement};
use super::context::Context;
use super::effect::{After, Reason};
use super::group::Group;
use super::members::Terms;
use super::names::{AppendId, MemberId, RequestId};
use super::reply::{JoinReply, Reply, SyncReply};
use super::request::JoinRequest;
use super::state::State;
use super::timers::Timer;

impl Group {
    /// Gives the place of `old_id` to `new_id`. Stable groups stay so if what was agreed still holds.
    pub(super) fn replace_static_member(
        &mut self,
        ctx: &mut Context<'_>,
        to: RequestId,
        request: &JoinRequest,
        old_id: &MemberId,
        new_id: &MemberId,
    ) {
        let Some(old) = self.members.get(old_id) else { return };
        let replacement = StaticReplacement {
            request: to,
            old_id: old_id.clone(),
            new_id: new_id.clone(),
            old_terms: Terms::of_member(old),
            old_leader: self.members.leader().cloned(),
            generation: self.generation,
            supports_skipping_assignment: request.supports_skipping_assignment,
        };
        self.fence(ctx, old_id);
        self.rename_member(ctx, old_id, new_id);
        self.members.update(new_id, Terms::of_request(request));
        self.park_join(ctx, to, new_id);
        self.restart_session(ctx, new_id);
        match self.state {
            State::Stable if self.members.preferred_protocol() == self.protocol => {
                let assignments =
                    self.members.iter().map(|member| (member.id.clone(), member.assignment.clone()));
                let assignments = assignments.collect();
                self.note_subscriptions();
                self.append_membership(ctx, assignments, Purpose::StaticMember(replacement));
            }
            // The leader may have been told of the old id already, and would assign to it.
            State::Stable | State::CompletingRebalance => {
                self.prepare_rebalance(ctx, Reason::StaticMemberReplaced);
            }
            State::PreparingRebalance | State::Empty | State::Dead => {}
        }
    }

    /// Refuses what a twin of the static member waits for.
    fn fence(&mut self, ctx: &mut Context<'_>, member_id: &MemberId) {
        let error = ErrorCode::FencedInstanceId;
        if let Some(join) = self.members.take_join(member_id) {
            ctx.reply(join, Reply::Join(JoinReply::error(member_id.clone(), error)));
        }
        if let Some(sync) = self.members.take_sync(member_id) {
            ctx.reply(sync, Reply::Sync(SyncReply::error(error)));
        }
    }

    fn rename_member(&mut self, ctx: &Context<'_>, old_id: &MemberId, new_id: &MemberId) {
        self.timers.cancel(&Timer::Session(old_id.clone()));
        self.members.rename(old_id, new_id);
        if self.pending_syncs.remove(old_id) {
            self.pending_syncs.insert(new_id.clone());
        }
        self.restart_session(ctx, new_id);
    }

    /// The new id is stored, or could not be.
    pub(super) fn on_static_member_stored(
        &mut self,
        ctx: &mut Context<'_>,
        append: AppendId,
        replacement: &StaticReplacement,
        error: Option<ErrorCode>,
    ) {
        let member = self.members.get(&replacement.new_id);
        let still_waits = member.is_some_and(|member| member.join == Some(replacement.request));
        let is_same_generation = self.state == State::Stable && self.generation == replacement.generation;
        if !still_waits || !is_same_generation {
            // The join was answered otherwise, or the rebalance that has begun will answer it.
            return;
        }
        self.members.take_join(&replacement.new_id);
        let (reply, after) = match error {
            None => (self.replaced(replacement), After::Durable(append)),
            Some(error) => (self.restore_static_member(ctx, replacement, error), After::Nothing),
        };
        ctx.reply_after(replacement.request, Reply::Join(reply), after);
        self.restart_session(ctx, &replacement.new_id);
    }

    fn replaced(&self, replacement: &StaticReplacement) -> JoinReply {
        let mut reply = self.joined(&replacement.new_id);
        if replacement.supports_skipping_assignment {
            reply.skip_assignment = self.members.is_leader(&replacement.new_id);
        } else {
            // With the old leader's id nobody takes itself for the leader, and so nobody makes an assignment that a
            // stable group would not take.
            reply.leader.clone_from(&replacement.old_leader);
            reply.members.clear();
        }
        reply
    }

    fn restore_static_member(
        &mut self,
        ctx: &Context<'_>,
        replacement: &StaticReplacement,
        error: ErrorCode,
    ) -> JoinReply {
        self.members.update(&replacement.new_id, replacement.old_terms.clone());
        self.rename_member(ctx, &replacement.new_id, &replacement.old_id);
        self.note_subscriptions();
        JoinReply {
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: replacement.old_leader.clone(),
            ..JoinReply::error(MemberId::unknown(), error)
        }
    }
}
