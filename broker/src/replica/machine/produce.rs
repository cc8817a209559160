//! When a produce may begin, and when it is acknowledged.

use ottla_protocol::message::ErrorCode;

use super::leader::Leader;
use super::local::Local;
use crate::types::{LeaderEpoch, Offset};

/// How many replicas must have the records before the producer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// `acks=0`: it is never told.
    None,
    /// `acks=1`: the leader.
    Leader,
    /// `acks=-1`: all that are in sync.
    All,
}

impl Acks {
    /// Reads the field of a Produce request.
    ///
    /// # Errors
    /// `InvalidRequiredAcks` for anything but −1, 0 and 1.
    pub fn from_wire(acks: i16) -> Result<Self, ErrorCode> {
        match acks {
            -1 => Ok(Self::All),
            0 => Ok(Self::None),
            1 => Ok(Self::Leader),
            _ => Err(ErrorCode::InvalidRequiredAcks),
        }
    }
}

/// Where a produce with acks=all stands on one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProduceProgress {
    /// Not all in-sync replicas have the records yet.
    Waiting,
    /// It is over: acknowledged with `None`, or failed.
    Done(ErrorCode),
}

impl Leader {
    /// Whether records may be appended: with acks=all only while enough replicas are in sync to make it safe.
    pub(super) fn check_append(&self, local: &Local, acks: Acks) -> Result<(), ErrorCode> {
        if acks == Acks::All && self.is_under_min_isr(local) {
            return Err(ErrorCode::NotEnoughReplicas);
        }
        Ok(())
    }

    /// Where records stand that were appended in `epoch` and end before `required`.
    ///
    /// An unbroken leadership may have gone through several epochs since; a broken one may have truncated the records,
    /// whatever the high watermark says now.
    pub(super) fn produce_progress(
        &self,
        local: &Local,
        epoch: LeaderEpoch,
        required: Offset,
    ) -> ProduceProgress {
        if epoch < self.since {
            return ProduceProgress::Done(ErrorCode::NotLeaderOrFollower);
        }
        if local.high_watermark < required {
            return ProduceProgress::Waiting;
        }
        if self.isr.maximal_len() < local.effective_min_isr() {
            return ProduceProgress::Done(ErrorCode::NotEnoughReplicasAfterAppend);
        }
        ProduceProgress::Done(ErrorCode::None)
    }
}
