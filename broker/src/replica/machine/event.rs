//! What a partition machine is told.

use std::collections::BTreeSet;

use ottla_protocol::message::ErrorCode;
use uuid::Uuid;

use super::assignment::Assignment;
use super::epochs::EpochEnd;
use super::isr::IsrProposal;
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, Offset, PartitionEpoch};

/// Something that happened to a replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The controller decided about this partition.
    LeaderAndIsr {
        /// What it decided.
        command: PartitionCommand,
        /// Whether the named leader is a broker this one knows how to reach. A follower of an unknown leader cannot
        /// fetch, so the command is set aside and a later one with the same epoch is welcome.
        leader_is_known: bool,
    },
    /// The controller wants this replica to stop, `StopReplica`.
    Stop {
        /// The epoch of the command; −1 means any, −2 that the topic is being deleted.
        leader_epoch: LeaderEpoch,
    },
    /// Records were appended here as leader; the log now ends at `log_end`.
    Appended {
        /// The offset after the last record.
        log_end: Offset,
    },
    /// The log begins later than before: records were deleted, by request or by retention.
    LogStartAdvanced {
        /// The first offset that is left.
        log_start: Offset,
    },
    /// A follower asked for records from an offset that this leader found valid: it has everything before.
    FollowerFetched {
        /// The follower.
        replica: BrokerId,
        /// Its log end offset.
        fetch_offset: Offset,
        /// Its log start offset.
        log_start: Offset,
        /// Whether it is registered as alive; only such a follower may enter the in-sync replicas.
        is_live: bool,
    },
    /// The set of brokers that are registered as alive changed.
    LiveBrokers(BTreeSet<BrokerId>),
    /// The controller answered a proposal to change the in-sync replicas.
    IsrAnswered {
        /// What had been proposed.
        proposal: IsrProposal,
        /// The state now stored, or why it was refused.
        answer: Result<IsrAnswer, ErrorCode>,
    },
    /// The leader answered a fetch of this follower.
    FetchAnswered {
        /// What had been asked for.
        position: FetchPosition,
        /// What came back.
        answer: FetchAnswer,
    },
    /// The records of a fetch were appended here as follower.
    Replicated {
        /// The offset after the last record.
        log_end: Offset,
        /// The newest leader epoch the log has records of.
        latest_epoch: Option<LeaderEpoch>,
        /// The leader's high watermark as it came with the records.
        leader_high_watermark: Offset,
        /// The leader's log start offset as it came with the records.
        leader_log_start: Offset,
    },
    /// The records of a fetch could not be appended.
    ReplicationFailed {
        /// Whether to try again: damaged bytes may come whole next time, a failed disk will not heal.
        is_transient: bool,
    },
    /// A truncation was carried out.
    Truncated {
        /// Where the log begins now.
        log_start: Offset,
        /// Where it ends now.
        log_end: Offset,
        /// The newest leader epoch that is left.
        latest_epoch: Option<LeaderEpoch>,
    },
    /// The leader told where its log begins and ends.
    LeaderOffsets {
        /// The epoch for which it was asked.
        leader_epoch: LeaderEpoch,
        /// Both ends, or why they could not be had.
        offsets: Result<(Offset, Offset), ErrorCode>,
    },
    /// The topic's configuration changed.
    MinInsyncReplicas(usize),
    /// A moment named by `next_deadline` has come.
    Tick,
}

/// What the controller decided about one partition: its part of a LeaderAndIsr request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionCommand {
    /// The topic's id, when the cluster has one for it.
    pub topic_id: Option<Uuid>,
    /// The controller that decided.
    pub controller_epoch: ControllerEpoch,
    /// The leader; −1 for none.
    pub leader: BrokerId,
    /// Counts the elections.
    pub leader_epoch: LeaderEpoch,
    /// The in-sync replicas.
    pub isr: BTreeSet<BrokerId>,
    /// The version of the stored state.
    pub partition_epoch: PartitionEpoch,
    /// The replicas.
    pub assignment: Assignment,
    /// Whether the leader was elected uncleanly and has not yet recovered.
    pub recovery: LeaderRecovery,
}

/// Whether a leader still has to recover from an unclean election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeaderRecovery {
    /// Nothing to recover from, or done.
    #[default]
    Recovered,
    /// Elected outside the in-sync replicas.
    Recovering,
}

/// The state the controller has stored, as it answers a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsrAnswer {
    /// Counts the elections.
    pub leader_epoch: LeaderEpoch,
    /// The version of the stored state.
    pub partition_epoch: PartitionEpoch,
    /// The in-sync replicas.
    pub isr: BTreeSet<BrokerId>,
    /// Whether the leader still has to recover.
    pub recovery: LeaderRecovery,
}

/// Where a follower continues: what one partition of a fetch request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchPosition {
    /// The leader epoch the follower knows.
    pub leader_epoch: LeaderEpoch,
    /// Its log end offset.
    pub fetch_offset: Offset,
    /// The epoch of its last record, by which the leader sees a divergence.
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// Its log start offset.
    pub log_start: Offset,
}

/// What the leader sent for one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchAnswer {
    /// Records, or none when there is nothing new.
    Records {
        /// Whether there are any.
        any: bool,
        /// The leader's high watermark.
        high_watermark: Offset,
        /// The leader's log start offset.
        log_start: Offset,
    },
    /// The logs differ before the fetch offset.
    Diverging {
        /// The largest epoch the leader knows that is not above the follower's last, and where it ends at the leader.
        leader: EpochEnd,
        /// Where the follower's own log says that epoch ends, asked as OffsetsForLeaderEpoch is.
        local: Option<EpochEnd>,
    },
    /// An error for this partition, or for the whole request.
    Refused(ErrorCode),
}
