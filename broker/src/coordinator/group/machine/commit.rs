//! `OffsetCommit` and `TxnOffsetCommit`: who may commit, and what is remembered.

use ottla_protocol::message::ErrorCode;

use super::append_error::commit_error;
use super::appends::{Append, InFlight, Purpose};
use super::context::Context;
use super::effect::After;
use super::group::Group;
use super::names::{AppendId, RequestId};
use super::record::{CommittedOffset, Record};
use super::reply::{CommitReply, Reply};
use super::request::{CommitRequest, OffsetToCommit};
use super::state::State;
use crate::types::{Millis, TopicPartition};

impl Group {
    /// Appends offsets; the answer waits until they are in sync.
    pub(super) fn commit(&mut self, ctx: &mut Context<'_>, to: RequestId, request: CommitRequest) {
        if let Err(error) = self.check_commit(&request) {
            ctx.reply(to, Reply::Commit(refused(&request, error)));
            return;
        }
        self.restart_session(ctx, &request.member_id);
        let (records, partitions) = self.records_of_commit(ctx, &request);
        if records.is_empty() {
            ctx.reply(to, Reply::Commit(CommitReply { partitions }));
            return;
        }
        let wanted = Append {
            group: self.id.clone(),
            records,
            transaction: request.transaction,
            purpose: Purpose::Commit { request: to, partitions },
        };
        ctx.appends.start(ctx.out, wanted);
    }

    fn check_commit(&self, request: &CommitRequest) -> Result<(), ErrorCode> {
        let is_transactional = request.transaction.is_some();
        let claims_membership =
            request.generation.is_some() || !request.member_id.is_unknown() || request.instance_id.is_some();
        if self.state == State::Dead {
            return Err(ErrorCode::CoordinatorNotAvailable);
        }
        if claims_membership {
            self.check_member_of(request.generation, &request.member_id, request.instance_id.as_ref())?;
        } else if !is_transactional && self.state != State::Empty {
            return Err(ErrorCode::UnknownMemberId);
        }
        // In the join phase members still commit what they have done: heartbeats tell them of the rebalance. Between
        // join and sync they have no assignment that they could commit for.
        if self.state == State::CompletingRebalance && !is_transactional {
            return Err(ErrorCode::RebalanceInProgress);
        }
        Ok(())
    }

    fn records_of_commit(
        &mut self,
        ctx: &Context<'_>,
        request: &CommitRequest,
    ) -> (Vec<Record>, Vec<(TopicPartition, ErrorCode)>) {
        let mut records = Vec::with_capacity(request.offsets.len());
        let mut partitions = Vec::with_capacity(request.offsets.len());
        for offset in &request.offsets {
            let topic_partition = offset.topic_partition.clone();
            if offset.metadata.len() > ctx.config.offset_metadata_max_bytes {
                partitions.push((topic_partition, ErrorCode::OffsetMetadataTooLarge));
                continue;
            }
            self.pending_commits.add(&topic_partition, request.transaction.is_some());
            partitions.push((topic_partition.clone(), ErrorCode::None));
            let value = Some(committed(offset, request.retention, ctx.now.wall));
            records.push(Record::Offset { group: self.id.clone(), topic_partition, value });
        }
        (records, partitions)
    }

    /// The offsets are in sync, or could not be appended.
    pub(super) fn on_commit_stored(
        &mut self,
        ctx: &mut Context<'_>,
        append: AppendId,
        in_flight: &InFlight,
        error: Option<ErrorCode>,
    ) {
        for record in in_flight.records.iter() {
            if let Record::Offset { topic_partition, .. } = record {
                self.pending_commits.remove(topic_partition, in_flight.producer.is_some());
            }
        }
        let Purpose::Commit { request, partitions } = &in_flight.purpose else { return };
        let (partitions, after) = match error {
            None => (partitions.clone(), After::Durable(append)),
            Some(error) => (with_error(partitions, commit_error(error)), After::Nothing),
        };
        ctx.reply_after(*request, Reply::Commit(CommitReply { partitions }), after);
    }
}

/// Refuses a whole commit.
pub(super) fn refused(request: &CommitRequest, error: ErrorCode) -> CommitReply {
    let partitions = request.offsets.iter().map(|offset| (offset.topic_partition.clone(), error));
    CommitReply { partitions: partitions.collect() }
}

/// Puts an error on every partition that had none.
pub(super) fn with_error(
    partitions: &[(TopicPartition, ErrorCode)],
    error: ErrorCode,
) -> Vec<(TopicPartition, ErrorCode)> {
    let partitions = partitions.iter().cloned();
    partitions.map(|(partition, own)| (partition, if own == ErrorCode::None { error } else { own })).collect()
}

fn committed(offset: &OffsetToCommit, retention: Option<Millis>, wall: Millis) -> CommittedOffset {
    CommittedOffset {
        offset: offset.offset,
        leader_epoch: offset.leader_epoch,
        metadata: offset.metadata.clone(),
        commit_timestamp: offset.commit_timestamp.unwrap_or(wall),
        expire_timestamp: retention.map(|retention| wall.plus(retention)),
    }
}
