//! Deleting records, and the deletions that wait until every live replica has done so.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::ErrorCode;

use super::error_code;
use super::hosted::HostedPartition;
use super::machine::{Event, Partition};
use super::manager::{ReplicaManager, Wake};
use crate::purgatory::{Completion, DelayedOperation};
use crate::types::{Offset, TopicPartition};

/// Called with the outcome of every partition, in the order of the request.
pub type DeleteComplete = Box<dyn FnOnce(Vec<(TopicPartition, DeleteOutcome)>) + Send>;

/// What became of the deletion in one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteOutcome {
    /// `None` when every live replica has deleted.
    pub error: ErrorCode,
    /// The least log start offset of the live replicas; −1 when not known.
    pub low_watermark: Offset,
}

/// Means the high watermark: everything that is committed.
const UP_TO_HIGH_WATERMARK: Offset = Offset(-1);

/// A deletion that waits for followers.
pub(super) struct DelayedDelete {
    partitions: Vec<(TopicPartition, DeleteOutcome)>,
    pending: Vec<Pending>,
    complete: DeleteComplete,
}

struct Pending {
    index: usize,
    partition: Arc<HostedPartition>,
    required: Offset,
}

impl ReplicaManager {
    /// Deletes the records before the given offsets from partitions that this broker leads; −1 means all that are
    /// committed. Calls `complete` once: when all live replicas have deleted them, or after `timeout`.
    pub fn delete_records(
        &self,
        timeout: Duration,
        offsets: Vec<(TopicPartition, Offset)>,
        complete: DeleteComplete,
    ) {
        let mut wake = Wake::default();
        let mut partitions = Vec::with_capacity(offsets.len());
        let mut pending = Vec::new();
        for (id, before) in offsets {
            let outcome = match self.delete_one(&id, before, &mut wake) {
                Ok((partition, required)) => {
                    pending.push(Pending { index: partitions.len(), partition, required });
                    DeleteOutcome { error: ErrorCode::RequestTimedOut, low_watermark: Offset::UNKNOWN }
                }
                Err(error) => DeleteOutcome { error, low_watermark: Offset::UNKNOWN },
            };
            partitions.push((id, outcome));
        }
        self.wake(wake);
        let keys = pending.iter().map(|pending| pending.partition.id().clone()).collect();
        self.delete_purgatory.submit(DelayedDelete { partitions, pending, complete }, keys, timeout);
    }

    fn delete_one(
        &self,
        id: &TopicPartition,
        before: Offset,
        wake: &mut Wake,
    ) -> Result<(Arc<HostedPartition>, Offset), ErrorCode> {
        let partition = self.hosted(id)?;
        let role = partition.keep_role();
        partition.ask(|machine| machine.check_readable(None, true))?;
        if !partition.log().config().delete {
            return Err(ErrorCode::PolicyViolation);
        }
        let high_watermark = partition.ask(Partition::high_watermark);
        let required = if before == UP_TO_HIGH_WATERMARK { high_watermark } else { before };
        if required < Offset::ZERO || required > high_watermark {
            return Err(ErrorCode::OffsetOutOfRange);
        }
        partition.log().advance_log_start(required).map_err(|error| {
            self.note_log_error(&partition, &error);
            error_code::of_append(&error)
        })?;
        self.step(&partition, Event::LogStartAdvanced { log_start: required }, wake);
        drop(role);
        Ok((partition, required))
    }
}

impl DelayedOperation for DelayedDelete {
    fn is_satisfied(&mut self) -> bool {
        let partitions = &mut self.partitions;
        self.pending.retain(|pending| {
            let outcome = match pending.partition.ask(Partition::low_watermark) {
                Ok(low_watermark) if low_watermark < pending.required => return true,
                Ok(low_watermark) => DeleteOutcome { error: ErrorCode::None, low_watermark },
                Err(error) => DeleteOutcome { error, low_watermark: Offset::UNKNOWN },
            };
            if let Some((_, settled)) = partitions.get_mut(pending.index) {
                *settled = outcome;
            }
            false
        });
        self.pending.is_empty()
    }

    /// What is still pending keeps the error it was born with: its time ran out.
    fn complete(self, _completion: Completion) {
        (self.complete)(self.partitions);
    }
}
