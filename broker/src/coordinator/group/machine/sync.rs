//! `SyncGroup`: the leader's assignment on its way to everybody.

use std::collections::BTreeMap;

use bytes::Bytes;
use ottla_protocol::message::ErrorCode;

use super::append_error::store_error;
use super::appends::Purpose;
use super::context::Context;
use super::effect::{After, Reason, Report};
use super::group::Group;
use super::names::{AppendId, Generation, MemberId, RequestId};
use super::reply::{Reply, SyncReply};
use super::request::SyncRequest;
use super::state::State;
use super::timers::Timer;

impl Group {
    /// Answers a sync, or parks it until the leader's assignment is stored.
    pub(super) fn sync(&mut self, ctx: &mut Context<'_>, to: RequestId, request: SyncRequest) {
        let checked = self.check_sync(&request);
        let error = match (checked, self.state) {
            (Err(error), _) => error,
            (Ok(()), State::Empty | State::Dead) => ErrorCode::UnknownMemberId,
            (Ok(()), State::PreparingRebalance) => ErrorCode::RebalanceInProgress,
            (Ok(()), State::CompletingRebalance) => {
                self.take_part(ctx, to, request);
                return;
            }
            (Ok(()), State::Stable) => {
                self.note_sync(&request.member_id);
                self.restart_session(ctx, &request.member_id);
                ctx.reply(to, Reply::Sync(self.assigned(&request.member_id)));
                return;
            }
        };
        ctx.reply(to, Reply::Sync(SyncReply::error(error)));
    }

    fn check_sync(&self, request: &SyncRequest) -> Result<(), ErrorCode> {
        self.check_member_of(request.generation, &request.member_id, request.instance_id.as_ref())?;
        let differs = |told: &Option<_>, known: &Option<_>| told.is_some() && told != known;
        if differs(&request.protocol_type, &self.protocol_type) || differs(&request.protocol, &self.protocol)
        {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        Ok(())
    }

    fn take_part(&mut self, ctx: &mut Context<'_>, to: RequestId, request: SyncRequest) {
        let member_id = request.member_id;
        if let Some(displaced) = self.members.park_sync(&member_id, to) {
            // The client gave it up, for it can have only one under way.
            ctx.reply(displaced, Reply::Sync(SyncReply::error(ErrorCode::RebalanceInProgress)));
        }
        self.excuse(&member_id);
        self.note_sync(&member_id);
        if self.members.is_leader(&member_id) && self.storing_assignment != Some(self.generation) {
            self.storing_assignment = Some(self.generation);
            let given: BTreeMap<MemberId, Bytes> = request.assignments.into_iter().collect();
            self.append_membership(ctx, given, Purpose::Assignment { generation: self.generation });
        }
    }

    fn note_sync(&mut self, member_id: &MemberId) {
        self.pending_syncs.remove(member_id);
        if self.pending_syncs.is_empty() {
            self.timers.cancel(&Timer::Sync);
        }
    }

    fn assigned(&self, member_id: &MemberId) -> SyncReply {
        SyncReply {
            error: ErrorCode::None,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            assignment: self
                .members
                .get(member_id)
                .map(|member| member.assignment.clone())
                .unwrap_or_default(),
        }
    }

    /// The assignment is stored, or could not be. If the group has moved on meanwhile, it is of no use.
    pub(super) fn on_assignment_stored(
        &mut self,
        ctx: &mut Context<'_>,
        append: AppendId,
        generation: Generation,
        error: Option<ErrorCode>,
    ) {
        if self.storing_assignment == Some(generation) {
            self.storing_assignment = None;
        }
        if self.state != State::CompletingRebalance || self.generation != generation {
            return;
        }
        if let Some(error) = error {
            self.refuse_syncs(ctx, store_error(error));
            self.prepare_rebalance(ctx, Reason::AssignmentNotStored);
            return;
        }
        self.adopt_assignments();
        self.enter(ctx, State::Stable);
        ctx.report(Report::Stabilized { group: self.id.clone(), generation });
        for member_id in self.members.ids() {
            if let Some(request) = self.members.take_sync(&member_id) {
                let reply = Reply::Sync(self.assigned(&member_id));
                ctx.reply_after(request, reply, After::Durable(append));
                self.restart_session(ctx, &member_id);
            }
        }
    }

    /// Takes the assignments from what is stored.
    fn adopt_assignments(&mut self) {
        let Some(stored) = self.durable.metadata() else { return };
        for member in &stored.members {
            self.members.assign(&member.member_id, member.assignment.clone());
        }
    }

    /// The time to sync is over: who has not is gone.
    pub(super) fn on_sync_deadline(&mut self, ctx: &mut Context<'_>) {
        let missing = std::mem::take(&mut self.pending_syncs);
        for member_id in &missing {
            self.drop_member(ctx, member_id);
        }
        if !missing.is_empty() {
            self.prepare_rebalance(ctx, Reason::SyncExpired);
        }
    }
}
