//! One event after another: which group it is for, and which duty.

use ottla_protocol::message::ErrorCode;

use super::append_error::store_error;
use super::appends::{Finished, InFlight, Marker, Purpose};
use super::commit;
use super::context::Context;
use super::describe::describe_absent;
use super::effect::{Effect, Report};
use super::event::Event;
use super::fetch::fetch_from_absent;
use super::group::Group;
use super::names::{AppendId, RequestId};
use super::removal;
use super::reply::{
    DeleteGroupReply, DeleteOffsetsReply, HeartbeatReply, JoinReply, LeaveReply, ListReply, Reply, SyncReply,
};
use super::request::{CommitRequest, JoinRequest, LeaveRequest, ListRequest, Request};
use super::shard::Shard;
use super::time::Now;
use super::timers::Timer;
use crate::types::Millis;

impl Shard {
    /// Takes one event; what it wants done is added to `out`.
    pub fn step(&mut self, now: Now, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::Request { id, request } => self.on_request(now, id, request, out),
            Event::AppendFinished { append, outcome } => {
                self.appends.finish(append, outcome);
                self.take_outcomes(now, out);
            }
            Event::TransactionEnded { producer_id, committed } => {
                self.appends.push_marker(Marker { producer: producer_id, committed });
                self.take_outcomes(now, out);
            }
            Event::TopicsDeleted { topics } => {
                let topics = topics.into_iter().collect();
                self.for_each_group(now, out, |group, ctx| group.forget_topics(ctx, &topics));
            }
            Event::Loaded => {
                self.for_each_group(now, out, Group::resume);
                self.next_expiry = Some(now.after(self.config.offsets_retention_check_interval));
            }
            Event::Resigned => self.resign(now, out),
            Event::Tick => self.tick(now, out),
        }
    }

    fn on_request(&mut self, now: Now, to: RequestId, request: Request, out: &mut Vec<Effect>) {
        match request {
            Request::Join(request) => self.join(now, to, &request, out),
            Request::Commit(request) => self.commit(now, to, request, out),
            Request::Sync(request) => {
                let group = request.group.clone();
                let acted = self.with_group(now, &group, out, |group, ctx| group.sync(ctx, to, request));
                if acted.is_none() {
                    answer(out, to, Reply::Sync(SyncReply::error(ErrorCode::UnknownMemberId)));
                }
            }
            Request::Heartbeat(request) => {
                let error =
                    self.with_group(now, &request.group, out, |group, ctx| group.heartbeat(ctx, &request));
                let error = error.unwrap_or(ErrorCode::UnknownMemberId);
                answer(out, to, Reply::Heartbeat(HeartbeatReply { error }));
            }
            Request::Leave(request) => {
                let reply = self.leave(now, request, out);
                answer(out, to, Reply::Leave(reply));
            }
            Request::Fetch(request) => {
                let group = self.groups.get(&request.group);
                let reply = group.map_or_else(|| fetch_from_absent(&request), |group| group.fetch(&request));
                answer(out, to, Reply::Fetch(reply));
            }
            Request::Describe(request) => {
                let reply = self.groups.get(&request.group).map_or_else(describe_absent, Group::describe);
                answer(out, to, Reply::Describe(reply));
            }
            Request::List(request) => answer(out, to, Reply::List(self.list(&request))),
            Request::DeleteGroup(request) => {
                let acted = self.with_group(now, &request.group, out, |group, ctx| group.delete(ctx, to));
                if acted.is_none() {
                    let error = ErrorCode::GroupIdNotFound;
                    answer(out, to, Reply::DeleteGroup(DeleteGroupReply { error }));
                }
            }
            Request::DeleteOffsets(request) => {
                let id = &request.group;
                let acted =
                    self.with_group(now, id, out, |group, ctx| group.delete_offsets(ctx, to, &request));
                if acted.is_none() {
                    let error = ErrorCode::GroupIdNotFound;
                    answer(
                        out,
                        to,
                        Reply::DeleteOffsets(DeleteOffsetsReply { error, partitions: Vec::new() }),
                    );
                }
            }
        }
    }

    fn join(&mut self, now: Now, to: RequestId, request: &JoinRequest, out: &mut Vec<Effect>) {
        let session_timeout = Millis(i64::from(request.session_timeout_ms));
        let allowed = self.config.min_session_timeout..=self.config.max_session_timeout;
        let error = if !allowed.contains(&session_timeout) {
            Some(ErrorCode::InvalidSessionTimeout)
        } else if !self.groups.contains_key(&request.group) && !request.member_id.is_unknown() {
            Some(ErrorCode::UnknownMemberId)
        } else {
            None
        };
        if let Some(error) = error {
            answer(out, to, Reply::Join(JoinReply::error(request.member_id.clone(), error)));
            return;
        }
        self.ensure(&request.group);
        self.with_group(now, &request.group, out, |group, ctx| group.join(ctx, to, request));
    }

    fn commit(&mut self, now: Now, to: RequestId, request: CommitRequest, out: &mut Vec<Effect>) {
        if request.generation.is_some() && !self.groups.contains_key(&request.group) {
            answer(out, to, Reply::Commit(commit::refused(&request, ErrorCode::IllegalGeneration)));
            return;
        }
        // Consumers that are no members make a group by committing to it.
        let id = request.group.clone();
        self.ensure(&id);
        self.with_group(now, &id, out, |group, ctx| group.commit(ctx, to, request));
    }

    fn leave(&mut self, now: Now, request: LeaveRequest, out: &mut Vec<Effect>) -> LeaveReply {
        if !self.groups.contains_key(&request.group) {
            let members = request.members.into_iter().map(|member| (member, ErrorCode::UnknownMemberId));
            return LeaveReply { error: ErrorCode::None, members: members.collect() };
        }
        let LeaveRequest { group, members } = request;
        let reply = self.with_group(now, &group, out, |group, ctx| group.leave(ctx, members));
        reply.unwrap_or(LeaveReply { error: ErrorCode::None, members: Vec::new() })
    }

    fn list(&self, request: &ListRequest) -> ListReply {
        let groups = self.groups.values().filter_map(|group| group.list(request)).collect();
        ListReply { error: ErrorCode::None, groups }
    }

    /// Acts on appends whose outcome is known, in the order of the log.
    fn take_outcomes(&mut self, now: Now, out: &mut Vec<Effect>) {
        while let Some(finished) = self.appends.take_finished() {
            match finished {
                Finished::Append { append, in_flight, outcome } => {
                    let error = outcome.err();
                    let id = in_flight.group.clone();
                    self.with_group(now, &id, out, |group, ctx| {
                        if error.is_none() {
                            for (position, record) in in_flight.positioned() {
                                group.durable.replay(position, record, in_flight.producer);
                            }
                        }
                        on_stored(group, ctx, append, &in_flight, error);
                    });
                    if matches!(in_flight.purpose, Purpose::Removal { .. }) && error.is_none() {
                        self.forget(&id);
                        out.push(Effect::Report(Report::Removed { group: id }));
                    }
                }
                Finished::Marker(Marker { producer, committed }) => {
                    self.for_each_group(now, out, |group, _| {
                        group.durable.end_transaction(producer, committed)
                    });
                }
            }
        }
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Effect>) {
        while let Some(id) = self.due_group(now) {
            self.with_group(now, &id, out, |group, ctx| {
                if let Some(timer) = group.timers.take_due(now.steady) {
                    on_timer(group, ctx, &timer);
                }
            });
        }
        if self.next_expiry.is_some_and(|at| at <= now.steady) {
            self.for_each_group(now, out, Group::expire);
            self.next_expiry = Some(now.after(self.config.offsets_retention_check_interval));
        }
    }

    fn resign(&mut self, now: Now, out: &mut Vec<Effect>) {
        for in_flight in self.appends.abandon() {
            // Joins and syncs that wait for an append are parked with their member.
            if let Some((to, reply)) = abandoned(in_flight) {
                answer(out, to, reply);
            }
        }
        self.for_each_group(now, out, Group::resign);
        self.clear();
    }

    fn for_each_group(
        &mut self,
        now: Now,
        out: &mut Vec<Effect>,
        mut act: impl FnMut(&mut Group, &mut Context<'_>),
    ) {
        for id in self.group_ids() {
            self.with_group(now, &id, out, &mut act);
        }
    }
}

fn on_stored(
    group: &mut Group,
    ctx: &mut Context<'_>,
    append: AppendId,
    in_flight: &InFlight,
    error: Option<ErrorCode>,
) {
    match &in_flight.purpose {
        Purpose::Assignment { generation } => group.on_assignment_stored(ctx, append, *generation, error),
        // If it is lost, the generation before it comes back after a failover, and its members expire.
        Purpose::Emptied => {}
        Purpose::StaticMember(replacement) => {
            group.on_static_member_stored(ctx, append, replacement, error.map(store_error));
        }
        Purpose::Commit { .. } => group.on_commit_stored(ctx, append, in_flight, error),
        // The parts of a removal stand before its end in the log: if the end is in sync, they are.
        Purpose::PartOfRemoval => {}
        Purpose::Removal { request } => group.on_group_removed(ctx, append, *request, error),
        Purpose::OffsetRemoval { request } => {
            removal::on_offsets_removed(ctx, append, request.as_ref(), error)
        }
    }
}

fn on_timer(group: &mut Group, ctx: &mut Context<'_>, timer: &Timer) {
    match timer {
        Timer::Join => group.on_join_deadline(ctx),
        Timer::Sync => group.on_sync_deadline(ctx),
        Timer::Session(member_id) => group.on_session_deadline(ctx, member_id),
        Timer::PendingMember(member_id) => group.on_pending_member_deadline(ctx, member_id),
    }
}

/// Returns the answer to whoever waits for an append that nobody will hear of again.
fn abandoned(in_flight: InFlight) -> Option<(RequestId, Reply)> {
    let error = ErrorCode::NotCoordinator;
    match in_flight.purpose {
        Purpose::Commit { request, partitions } => {
            let partitions = commit::with_error(&partitions, error);
            Some((request, Reply::Commit(super::reply::CommitReply { partitions })))
        }
        Purpose::Removal { request } => Some((request?, Reply::DeleteGroup(DeleteGroupReply { error }))),
        Purpose::OffsetRemoval { request } => {
            let (request, _) = request?;
            Some((request, Reply::DeleteOffsets(DeleteOffsetsReply { error, partitions: Vec::new() })))
        }
        Purpose::Assignment { .. } | Purpose::Emptied | Purpose::StaticMember(_) | Purpose::PartOfRemoval => {
            None
        }
    }
}

/// Answers a request that changed nothing durable.
fn answer(out: &mut Vec<Effect>, to: RequestId, reply: Reply) {
    out.push(Effect::Reply { to, reply, after: super::effect::After::Nothing });
}
