//! The machine itself, and what can be asked of it between steps.

use std::collections::BTreeSet;

use ottla_protocol::message::ErrorCode;
use uuid::Uuid;

use super::assignment::Assignment;
use super::epochs;
use super::event::{FetchPosition, LeaderRecovery};
use super::follower::Follower;
use super::leader::Leader;
use super::local::{Local, LogView, ReplicaSettings};
use super::produce::{Acks, ProduceProgress};
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch};

/// One replica of one partition. See the module's documentation.
#[derive(Debug, Clone)]
pub struct Partition {
    pub(super) local: Local,
    pub(super) role: Role,
}

#[derive(Debug, Clone)]
pub(super) enum Role {
    /// The controller has not said anything yet.
    Undecided,
    Leader(Leader),
    Follower(Follower),
}

/// Which role a replica has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKind {
    /// None that the controller told it.
    Undecided,
    /// It leads.
    Leader,
    /// It follows this broker.
    Follower(BrokerId),
}

/// What a partition looks like from outside, for status and metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionView {
    /// The topic's id.
    pub topic_id: Option<Uuid>,
    /// Leader, follower or neither.
    pub role: RoleKind,
    /// The last election this replica heard of; −1 for none.
    pub leader_epoch: LeaderEpoch,
    /// The stored version it knows.
    pub partition_epoch: PartitionEpoch,
    /// The controller that decided last.
    pub controller_epoch: ControllerEpoch,
    /// Who holds replicas.
    pub assignment: Assignment,
    /// The in-sync replicas, known to the leader only.
    pub isr: BTreeSet<BrokerId>,
    /// Whether the in-sync replicas are too few for acks=all, known to the leader only.
    pub is_under_min_isr: bool,
    /// Whether the leader was elected uncleanly and has not recovered, known to the leader only.
    pub recovery: LeaderRecovery,
    /// Where the log begins and ends.
    pub log: LogView,
    /// How far records are committed.
    pub high_watermark: Offset,
    /// What the leader knows of its followers.
    pub followers: Vec<FollowerView>,
}

/// What a leader knows of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowerView {
    /// The follower.
    pub replica: BrokerId,
    /// Its log start offset; −1 when it has not fetched yet.
    pub log_start: Offset,
    /// Its log end offset; −1 when it has not fetched yet.
    pub log_end: Offset,
    /// When it last had all that the leader had.
    pub last_caught_up: Option<Millis>,
}

impl Partition {
    /// Returns a replica that has heard nothing from a controller yet, with the log it has and the high watermark that
    /// was last checkpointed, as far as the log reaches.
    #[must_use]
    pub fn new(
        broker: BrokerId,
        settings: ReplicaSettings,
        topic_id: Option<Uuid>,
        log: LogView,
        high_watermark: Offset,
    ) -> Self {
        let local = Local {
            broker,
            settings,
            topic_id,
            log,
            high_watermark: high_watermark.max(log.start).min(log.end),
            assignment: Assignment::default(),
            controller_epoch: ControllerEpoch(-1),
            leader_epoch: LeaderEpoch::UNKNOWN,
            partition_epoch: PartitionEpoch(-1),
        };
        Self { local, role: Role::Undecided }
    }

    /// Returns the epoch of the last election this replica heard of.
    #[must_use]
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.local.leader_epoch
    }

    /// Returns the topic's id.
    #[must_use]
    pub fn topic_id(&self) -> Option<Uuid> {
        self.local.topic_id
    }

    /// Returns how far records are committed.
    #[must_use]
    pub fn high_watermark(&self) -> Offset {
        self.local.high_watermark
    }

    /// Returns where the log begins and ends.
    #[must_use]
    pub fn log(&self) -> LogView {
        self.local.log
    }

    /// Returns which role the replica has.
    #[must_use]
    pub fn role(&self) -> RoleKind {
        match &self.role {
            Role::Undecided => RoleKind::Undecided,
            Role::Leader(_) => RoleKind::Leader,
            Role::Follower(follower) => RoleKind::Follower(follower.leader),
        }
    }

    /// Returns whether the replica leads.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// Checks whether a request may read here: by epoch first, then by role.
    ///
    /// # Errors
    /// FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH or NOT_LEADER_OR_FOLLOWER.
    pub fn check_readable(
        &self,
        leader_epoch: Option<LeaderEpoch>,
        leader_only: bool,
    ) -> Result<(), ErrorCode> {
        epochs::check(self.local.leader_epoch, leader_epoch)?;
        match &self.role {
            Role::Leader(_) => Ok(()),
            Role::Follower(_) if !leader_only => Ok(()),
            Role::Follower(_) | Role::Undecided => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    /// Checks whether `replica` may fetch here as a follower.
    ///
    /// # Errors
    /// As [`check_readable`](Self::check_readable); a broker outside the assignment gets UNKNOWN_LEADER_EPOCH when it
    /// sent an epoch, since it may know of a newer assignment, else NOT_LEADER_OR_FOLLOWER.
    pub fn check_follower(
        &self,
        replica: BrokerId,
        leader_epoch: Option<LeaderEpoch>,
    ) -> Result<(), ErrorCode> {
        self.check_readable(leader_epoch, true)?;
        let is_follower =
            matches!(&self.role, Role::Leader(leader) if leader.followers.contains_key(&replica));
        match (is_follower, leader_epoch) {
            (true, _) => Ok(()),
            (false, Some(_)) => Err(ErrorCode::UnknownLeaderEpoch),
            (false, None) => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    /// Checks whether records may be appended now, and returns the epoch in which to append them. The driver keeps the
    /// role from changing until it has appended and reported `Appended`.
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER, or NOT_ENOUGH_REPLICAS with acks=all.
    pub fn check_append(&self, acks: Acks) -> Result<LeaderEpoch, ErrorCode> {
        match &self.role {
            Role::Leader(leader) => leader.check_append(&self.local, acks).map(|()| self.local.leader_epoch),
            Role::Follower(_) | Role::Undecided => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    /// Returns where records stand that were appended in `epoch` with acks=all and end before `required`.
    #[must_use]
    pub fn produce_progress(&self, epoch: LeaderEpoch, required: Offset) -> ProduceProgress {
        match &self.role {
            Role::Leader(leader) => leader.produce_progress(&self.local, epoch, required),
            Role::Follower(_) | Role::Undecided => ProduceProgress::Done(ErrorCode::NotLeaderOrFollower),
        }
    }

    /// Checks whether the committed end can be told to a client: right after an election the high watermark may still
    /// be below where the epoch began, and a client would see offsets go back (KIP-207).
    ///
    /// # Errors
    /// OFFSET_NOT_AVAILABLE.
    pub fn check_end_known(&self) -> Result<(), ErrorCode> {
        match &self.role {
            Role::Leader(leader) if leader.epoch_start > self.local.high_watermark => {
                Err(ErrorCode::OffsetNotAvailable)
            }
            Role::Leader(_) | Role::Follower(_) | Role::Undecided => Ok(()),
        }
    }

    /// Returns the least log start offset of the live replicas: deletion is complete up to there.
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER.
    pub fn low_watermark(&self) -> Result<Offset, ErrorCode> {
        match &self.role {
            Role::Leader(leader) => Ok(leader.low_watermark(&self.local)),
            Role::Follower(_) | Role::Undecided => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    /// Returns what a follower asks its leader for next; `None` for other roles and while it rests.
    #[must_use]
    pub fn fetch_position(&self, now: Millis) -> Option<FetchPosition> {
        match &self.role {
            Role::Follower(follower) => follower.fetch_position(&self.local, now),
            Role::Leader(_) | Role::Undecided => None,
        }
    }

    /// Returns when the driver owes an `Event::Tick`, or, for a follower that rests, may fetch again.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        match &self.role {
            Role::Leader(leader) => leader.next_deadline(),
            Role::Follower(follower) => follower.next_deadline(),
            Role::Undecided => None,
        }
    }

    /// Returns what the partition looks like from outside.
    #[must_use]
    pub fn view(&self) -> PartitionView {
        let leader = match &self.role {
            Role::Leader(leader) => Some(leader),
            Role::Follower(_) | Role::Undecided => None,
        };
        let local = &self.local;
        PartitionView {
            topic_id: local.topic_id,
            role: self.role(),
            leader_epoch: local.leader_epoch,
            partition_epoch: local.partition_epoch,
            controller_epoch: local.controller_epoch,
            assignment: local.assignment.clone(),
            isr: leader.map(|leader| leader.isr.committed().clone()).unwrap_or_default(),
            is_under_min_isr: leader.is_some_and(|leader| leader.is_under_min_isr(local)),
            recovery: leader.map(|leader| leader.isr.recovery()).unwrap_or_default(),
            log: local.log,
            high_watermark: local.high_watermark,
            followers: leader.map(follower_views).unwrap_or_default(),
        }
    }
}

fn follower_views(leader: &Leader) -> Vec<FollowerView> {
    let views = leader.followers.iter().map(|(id, state)| FollowerView {
        replica: *id,
        log_start: state.log_start,
        log_end: state.log_end,
        last_caught_up: state.last_caught_up,
    });
    views.collect()
}
