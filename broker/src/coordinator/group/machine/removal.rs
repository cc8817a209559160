//! `DeleteGroups`, `OffsetDelete`, and removal without being asked: tombstones.

use std::collections::BTreeSet;
use std::sync::Arc;

use ottla_protocol::message::ErrorCode;

use super::append_error::commit_error;
use super::appends::{Append, Purpose};
use super::commit::with_error;
use super::config::TOMBSTONES_PER_APPEND_MAX;
use super::context::Context;
use super::effect::After;
use super::group::Group;
use super::names::{AppendId, Generation, RequestId};
use super::record::Record;
use super::reply::{DeleteGroupReply, DeleteOffsetsReply, Reply};
use super::request::DeleteOffsetsRequest;
use super::state::State;
use crate::types::TopicPartition;

impl Group {
    /// Removes the group if nobody is in it.
    pub(super) fn delete(&mut self, ctx: &mut Context<'_>, to: RequestId) {
        let error = match self.state {
            State::Empty => {
                self.remove_group(ctx, Some(to));
                return;
            }
            State::Dead => ErrorCode::GroupIdNotFound,
            State::PreparingRebalance | State::CompletingRebalance | State::Stable => {
                ErrorCode::NonEmptyGroup
            }
        };
        ctx.reply(to, Reply::DeleteGroup(DeleteGroupReply { error }));
    }

    /// Removes offsets, except those of topics that the group reads now.
    pub(super) fn delete_offsets(
        &mut self,
        ctx: &mut Context<'_>,
        to: RequestId,
        request: &DeleteOffsetsRequest,
    ) {
        let is_empty = self.state == State::Empty;
        let error = match self.state {
            State::Dead => ErrorCode::GroupIdNotFound,
            _ if !is_empty && !self.is_consumer_group() => ErrorCode::NonEmptyGroup,
            _ => ErrorCode::None,
        };
        if error != ErrorCode::None {
            ctx.reply(to, Reply::DeleteOffsets(DeleteOffsetsReply { error, partitions: Vec::new() }));
            return;
        }
        let outcomes = request.topic_partitions.iter().map(|one| {
            let is_in_use = !is_empty && self.may_read(&one.topic);
            (one.clone(), if is_in_use { ErrorCode::GroupSubscribedToTopic } else { ErrorCode::None })
        });
        let partitions: Vec<(TopicPartition, ErrorCode)> = outcomes.collect();
        let free =
            partitions.iter().filter(|(_, error)| *error == ErrorCode::None).map(|(one, _)| one.clone());
        let known: Vec<TopicPartition> = free.filter(|one| self.remembers(one)).collect();
        if known.is_empty() {
            ctx.reply(to, Reply::DeleteOffsets(DeleteOffsetsReply { error: ErrorCode::None, partitions }));
        } else {
            self.remove_offsets(ctx, &known, Some((to, partitions)));
        }
    }

    /// Removes the offsets of topics that are gone.
    pub(super) fn forget_topics(&mut self, ctx: &mut Context<'_>, topics: &BTreeSet<Arc<str>>) {
        let orphans = self.durable.offsets().filter(|(one, _)| topics.contains(&one.topic));
        let orphans: Vec<TopicPartition> = orphans.map(|(one, _)| one.clone()).collect();
        if self.state != State::Dead && !orphans.is_empty() {
            self.remove_offsets(ctx, &orphans, None);
        }
    }

    fn remembers(&self, topic_partition: &TopicPartition) -> bool {
        self.durable.offset(topic_partition).is_some() || self.pending_commits.contains(topic_partition)
    }

    /// Removes everything; until that is stored, the group is dead to everybody.
    pub(super) fn remove_group(&mut self, ctx: &mut Context<'_>, request: Option<RequestId>) {
        // Commits under way stand before the tombstones in the log, and must not outlive them.
        let mut all: BTreeSet<TopicPartition> = self.durable.offsets().map(|(one, _)| one.clone()).collect();
        all.extend(self.pending_commits.topic_partitions().cloned());
        all.extend(self.durable.transactional_partitions().into_iter().cloned());
        let mut records: Vec<Record> = all.iter().map(|one| self.tombstone(one)).collect();
        if self.generation > Generation::ZERO || self.durable.metadata().is_some() {
            records.push(Record::Group { group: self.id.clone(), value: None });
        }
        for member_id in std::mem::take(&mut self.pending_members) {
            self.drop_pending_member(&member_id);
        }
        self.state = State::Dead;
        self.append_tombstones(ctx, records, Purpose::Removal { request });
    }

    /// Removes offsets of a group that stays.
    pub(super) fn remove_offsets(
        &self,
        ctx: &mut Context<'_>,
        topic_partitions: &[TopicPartition],
        request: Option<(RequestId, Vec<(TopicPartition, ErrorCode)>)>,
    ) {
        let records = topic_partitions.iter().map(|one| self.tombstone(one)).collect();
        self.append_tombstones(ctx, records, Purpose::OffsetRemoval { request });
    }

    fn tombstone(&self, topic_partition: &TopicPartition) -> Record {
        Record::Offset { group: self.id.clone(), topic_partition: topic_partition.clone(), value: None }
    }

    fn append_tombstones(&self, ctx: &mut Context<'_>, mut records: Vec<Record>, purpose: Purpose) {
        while records.len() > TOMBSTONES_PER_APPEND_MAX {
            let rest = records.split_off(TOMBSTONES_PER_APPEND_MAX);
            self.append_part(ctx, records, Purpose::PartOfRemoval);
            records = rest;
        }
        self.append_part(ctx, records, purpose);
    }

    fn append_part(&self, ctx: &mut Context<'_>, records: Vec<Record>, purpose: Purpose) {
        ctx.appends.start(ctx.out, Append { group: self.id.clone(), records, transaction: None, purpose });
    }

    /// The tombstones of the group are stored, or could not be; then it is what it was.
    pub(super) fn on_group_removed(
        &mut self,
        ctx: &mut Context<'_>,
        append: AppendId,
        request: Option<RequestId>,
        error: Option<ErrorCode>,
    ) {
        if error.is_some() {
            self.state = State::Empty;
        }
        if let Some(request) = request {
            let (error, after) = outcome(append, error);
            ctx.reply_after(request, Reply::DeleteGroup(DeleteGroupReply { error }), after);
        }
    }
}

/// Answers a deletion of offsets whose tombstones are stored, or could not be.
pub(super) fn on_offsets_removed(
    ctx: &mut Context<'_>,
    append: AppendId,
    request: Option<&(RequestId, Vec<(TopicPartition, ErrorCode)>)>,
    error: Option<ErrorCode>,
) {
    let Some((request, partitions)) = request else { return };
    let (error, after) = outcome(append, error);
    let partitions = with_error(partitions, error);
    let reply = DeleteOffsetsReply { error: ErrorCode::None, partitions };
    ctx.reply_after(*request, Reply::DeleteOffsets(reply), after);
}

fn outcome(append: AppendId, error: Option<ErrorCode>) -> (ErrorCode, After) {
    match error {
        None => (ErrorCode::None, After::Durable(append)),
        Some(error) => (commit_error(error), After::Nothing),
    }
}
