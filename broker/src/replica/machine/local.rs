//! What a replica knows whatever its role.

use uuid::Uuid;

use super::assignment::Assignment;
use super::effect::Effect;
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch};

/// The rules of a partition that come from configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaSettings {
    /// `replica.lag.time.max.ms`: a follower that was not caught up for longer leaves the in-sync replicas.
    pub lag_time_max: Millis,
    /// `min.insync.replicas` of the topic.
    pub min_insync_replicas: usize,
    /// `replica.fetch.backoff.ms`: the rest after a refused fetch.
    pub fetch_backoff: Millis,
}

/// Where a log begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogView {
    /// The first offset that is there.
    pub start: Offset,
    /// The offset after the last record.
    pub end: Offset,
    /// The newest leader epoch with records, or assigned by becoming leader; `None` while no epoch is known.
    pub latest_epoch: Option<LeaderEpoch>,
}

/// What a replica knows whatever its role.
#[derive(Debug, Clone)]
pub(super) struct Local {
    pub(super) broker: BrokerId,
    pub(super) settings: ReplicaSettings,
    pub(super) topic_id: Option<Uuid>,
    pub(super) log: LogView,
    pub(super) high_watermark: Offset,
    pub(super) assignment: Assignment,
    pub(super) controller_epoch: ControllerEpoch,
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) partition_epoch: PartitionEpoch,
}

impl Local {
    /// Moves the high watermark forward; it never goes back but by truncation.
    pub(super) fn raise_high_watermark(&mut self, to: Offset, out: &mut Vec<Effect>) {
        debug_assert!(to <= self.log.end, "the high watermark is never past the log end");
        if to > self.high_watermark {
            self.high_watermark = to;
            out.push(Effect::HighWatermark(to));
        }
    }

    /// Returns how many replicas must be in sync for an append with acks=all: more than there are replicas can never
    /// be, so it is capped by the replication factor.
    pub(super) fn effective_min_isr(&self) -> usize {
        self.settings.min_insync_replicas.min(self.assignment.replicas.len())
    }

    /// Has the log cut at `offset`. Also when it ends there already: an epoch that was assigned on becoming leader and
    /// never got a record may have to go.
    pub(super) fn truncate_to(&self, offset: Offset, out: &mut Vec<Effect>) {
        let offset = offset.min(self.log.end);
        let lost = (offset < self.high_watermark).then_some(self.high_watermark);
        out.push(Effect::TruncateTo { offset, loses_committed_below: lost });
    }

    /// Takes over where the log begins and ends after records were replicated or cut.
    pub(super) fn log_changed(&mut self, log: LogView, out: &mut Vec<Effect>) {
        self.log = log;
        let high_watermark = self.high_watermark.max(log.start).min(log.end);
        if high_watermark != self.high_watermark {
            self.high_watermark = high_watermark;
            out.push(Effect::HighWatermark(high_watermark));
        }
    }
}
