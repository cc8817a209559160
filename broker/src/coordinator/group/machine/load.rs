//! Taking over a group that was loaded from the log, and giving one up.

use ottla_protocol::message::ErrorCode;

use super::context::Context;
use super::effect::Reason;
use super::group::Group;
use super::member::Member;
use super::reply::{JoinReply, Reply, SyncReply};
use super::state::State;

impl Group {
    /// Goes on where the former coordinator stopped: members get a fresh session, for nobody knows when they were last
    /// heard.
    pub(super) fn resume(&mut self, ctx: &mut Context<'_>) {
        let Some(stored) = self.durable.metadata() else { return };
        self.generation = stored.generation;
        self.protocol_type =
            Some(stored.protocol_type.clone()).filter(|protocol_type| !protocol_type.is_empty());
        self.protocol.clone_from(&stored.protocol);
        self.state_since = stored.state_since;
        self.state = if stored.members.is_empty() { State::Empty } else { State::Stable };
        for member in &stored.members {
            // A record with the same id twice is not one of ours; the first counts.
            if !self.members.contains(&member.member_id) {
                self.members.add(Member::remembered(member, stored.protocol.as_ref()));
            }
        }
        if let Some(leader) = &stored.leader {
            self.members.set_leader(leader);
        }
        self.note_subscriptions();
        for member_id in self.members.ids() {
            self.restart_session(ctx, &member_id);
        }
        if self.members.len() > ctx.config.max_size {
            self.prepare_rebalance(ctx, Reason::OverCapacity);
        }
    }

    /// Sends everybody who waits to the new coordinator.
    pub(super) fn resign(&mut self, ctx: &mut Context<'_>) {
        let error = ErrorCode::NotCoordinator;
        for member_id in self.members.ids() {
            if let Some(join) = self.members.take_join(&member_id) {
                ctx.reply(join, Reply::Join(JoinReply::error(member_id.clone(), error)));
            }
            if let Some(sync) = self.members.take_sync(&member_id) {
                ctx.reply(sync, Reply::Sync(SyncReply::error(error)));
            }
        }
        self.timers.clear();
    }
}
