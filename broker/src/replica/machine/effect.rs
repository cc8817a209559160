//! What a partition machine wants done.

use ottla_protocol::message::ErrorCode;

use super::isr::IsrProposal;
use crate::types::{BrokerId, LeaderEpoch, Offset};

/// Something the driver is to do, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Answer the controller's command for this partition.
    Answer(ErrorCode),
    /// Note in the log that `epoch` begins at `start`, before anything is appended in it.
    AssignEpochStart {
        /// The new leader's epoch.
        epoch: LeaderEpoch,
        /// Its first offset.
        start: Offset,
    },
    /// Take the partition away from its fetcher; an answer still under way no longer counts.
    StopFetching,
    /// Give the partition to the fetcher of `leader`.
    StartFetching {
        /// Whom to fetch from.
        leader: BrokerId,
        /// The epoch to fetch in.
        leader_epoch: LeaderEpoch,
    },
    /// Append the records that came with the fetch answer as follower, then tell `Replicated` or `ReplicationFailed`.
    AppendRecords,
    /// Drop everything from `offset` on, then tell `Truncated`.
    TruncateTo {
        /// The new log end offset.
        offset: Offset,
        /// The high watermark, when this drops committed records: only an unclean election can ask for that.
        loses_committed_below: Option<Offset>,
    },
    /// Drop everything and begin anew at this offset, then tell `Truncated`.
    TruncateFullyAndStartAt(Offset),
    /// Forget the records before this offset.
    AdvanceLogStart(Offset),
    /// Ask the leader where its log begins and ends, then tell `LeaderOffsets`.
    QueryLeaderOffsets {
        /// The epoch to ask in.
        leader_epoch: LeaderEpoch,
    },
    /// Tell the log its high watermark; fetches and produces that wait for it may be complete.
    HighWatermark(Offset),
    /// The least log start offset of the live replicas rose: deletions that wait for it may be complete.
    LowWatermark(Offset),
    /// Ask the controller for a change of the in-sync replicas.
    ProposeIsr(IsrProposal),
    /// Whoever waits for this partition must look again: it changed its role, its epoch or its in-sync replicas.
    Recheck,
    /// Tell those who depend on who leads.
    RoleChanged(RoleChange),
    /// The partition can no longer be replicated here until the controller says something new.
    ReplicationHalted,
}

/// What became of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleChange {
    /// It leads, in this epoch. Also when it led already in an earlier one.
    Leader(LeaderEpoch),
    /// It follows, in this epoch.
    Follower(LeaderEpoch),
    /// It was stopped.
    Stopped,
}
