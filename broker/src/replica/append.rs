//! Appending as leader, and the produces that wait for their replicas.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ottla_protocol::message::ErrorCode;

use super::error_code;
use super::hosted::HostedPartition;
use super::machine::{Acks, Event, ProduceProgress};
use super::manager::{ReplicaManager, Wake};
use crate::log::{AppendOptions, Origin};
use crate::purgatory::{Completion, DelayedOperation};
use crate::types::{LeaderEpoch, Offset, TopicPartition};

/// Called with the outcome of every partition, in the order of the request.
pub type ProduceComplete = Box<dyn FnOnce(Vec<(TopicPartition, ProduceOutcome)>) + Send>;

/// What became of the records for one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProduceOutcome {
    /// `None` when they are as safe as was asked for.
    pub error: ErrorCode,
    /// Why not, in words.
    pub message: Option<String>,
    /// The offset of the first record; −1 when nothing was appended.
    pub base_offset: Offset,
    /// The broker's time when the topic stamps records by it; −1 otherwise.
    pub log_append_time_ms: i64,
    /// The log start offset of the partition; −1 when not known.
    pub log_start_offset: Offset,
}

impl ProduceOutcome {
    /// Returns the outcome of records that were not appended.
    #[must_use]
    pub fn failed(error: ErrorCode, message: Option<String>) -> Self {
        Self {
            error,
            message,
            base_offset: Offset::UNKNOWN,
            log_append_time_ms: -1,
            log_start_offset: Offset::UNKNOWN,
        }
    }
}

/// A produce with acks=all that waits for its replicas.
pub(super) struct DelayedProduce {
    partitions: Vec<(TopicPartition, ProduceOutcome)>,
    pending: Vec<Pending>,
    complete: ProduceComplete,
}

struct Pending {
    /// Which of the outcomes.
    index: usize,
    partition: Arc<HostedPartition>,
    epoch: LeaderEpoch,
    required: Offset,
}

/// Records that the local log has.
struct Appended {
    outcome: ProduceOutcome,
    partition: Arc<HostedPartition>,
    epoch: LeaderEpoch,
    required: Offset,
}

impl ReplicaManager {
    /// Appends records to partitions that this broker leads, and calls `complete` once: at once, or with acks=all when
    /// the in-sync replicas have them or `timeout` has passed.
    pub fn append(
        &self,
        acks: Acks,
        timeout: Duration,
        batches: Vec<(TopicPartition, Bytes)>,
        origin: Origin,
        complete: ProduceComplete,
    ) {
        let mut partitions = Vec::with_capacity(batches.len());
        let mut pending = Vec::new();
        let mut wake = Wake::default();
        for (id, records) in batches {
            self.metrics.produce_requests.increment();
            let size = records.len();
            let outcome = match self.append_one(&id, acks, records, origin, &mut wake) {
                Ok(Appended { outcome, partition, epoch, required }) => {
                    pending.push(Pending { index: partitions.len(), partition, epoch, required });
                    self.metrics.bytes_in.add(size as u64);
                    outcome
                }
                Err(outcome) => {
                    self.metrics.failed_produce_requests.increment();
                    outcome
                }
            };
            partitions.push((id, outcome));
        }
        if acks == Acks::All && !pending.is_empty() {
            let keys = pending.iter().map(|pending| pending.partition.id().clone()).collect();
            let operation = DelayedProduce { partitions, pending, complete };
            // Followers that wait are let go first: they bring what the produce waits for.
            self.wake(wake);
            self.produce_purgatory.submit(operation, keys, timeout);
        } else {
            self.wake(wake);
            complete(partitions);
        }
    }

    fn append_one(
        &self,
        id: &TopicPartition,
        acks: Acks,
        records: Bytes,
        origin: Origin,
        wake: &mut Wake,
    ) -> Result<Appended, ProduceOutcome> {
        let partition = self.hosted(id).map_err(|error| ProduceOutcome::failed(error, None))?;
        let _role = partition.keep_role();
        let epoch = partition
            .ask(|machine| machine.check_append(acks))
            .map_err(|error| ProduceOutcome::failed(error, None))?;
        let options = AppendOptions { origin };
        let info = partition.log().append_as_leader(&records, epoch, options).map_err(|error| {
            self.note_log_error(&partition, &error);
            ProduceOutcome::failed(error_code::of_append(&error), Some(error.to_string()))
        })?;
        let required = info.last_offset.plus(1);
        self.step(&partition, Event::Appended { log_end: required }, wake);
        wake.appended(id);
        let outcome = ProduceOutcome {
            error: ErrorCode::None,
            message: None,
            base_offset: info.first_offset,
            log_append_time_ms: info.log_append_time.map_or(-1, |time| time.0),
            log_start_offset: info.log_start_offset,
        };
        Ok(Appended { outcome, partition: Arc::clone(&partition), epoch, required })
    }
}

impl DelayedOperation for DelayedProduce {
    fn is_satisfied(&mut self) -> bool {
        let partitions = &mut self.partitions;
        self.pending.retain(|pending| {
            let progress =
                pending.partition.ask(|machine| machine.produce_progress(pending.epoch, pending.required));
            let ProduceProgress::Done(error) = progress else { return true };
            settle(partitions, pending.index, error);
            false
        });
        self.pending.is_empty()
    }

    fn complete(mut self, completion: Completion) {
        if completion != Completion::Satisfied {
            for pending in &self.pending {
                settle(&mut self.partitions, pending.index, ErrorCode::RequestTimedOut);
            }
        }
        (self.complete)(self.partitions);
    }
}

fn settle(partitions: &mut [(TopicPartition, ProduceOutcome)], index: usize, error: ErrorCode) {
    if let Some((_, outcome)) = partitions.get_mut(index) {
        outcome.error = error;
    }
}
