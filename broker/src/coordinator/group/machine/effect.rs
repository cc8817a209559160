//! What a shard wants done.

use std::sync::Arc;

use super::names::{AppendId, Generation, GroupId, MemberId, RequestId};
use super::record::Record;
use super::reply::Reply;
use super::request::Transaction;
use super::state::State;

/// What a shard wants done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Append records, and tell the outcome once all in-sync replicas have them or it failed.
    Append {
        /// Names the append.
        append: AppendId,
        /// What to append, as one batch.
        records: Arc<[Record]>,
        /// The transaction that the batch belongs to.
        transaction: Option<Transaction>,
    },
    /// Answer a request.
    Reply {
        /// Which request.
        to: RequestId,
        /// With what.
        reply: Reply,
        /// What must be true first.
        after: After,
    },
    /// Something worth a log line.
    Report(Report),
}

/// What must be true before an answer may leave. The shard itself waits for it; the driver and the tests check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing.
    Nothing,
    /// The append is in sync.
    Durable(AppendId),
}

/// Something that happened to a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Members are asked to join again.
    RebalanceStarted {
        /// Which group.
        group: GroupId,
        /// What it was before.
        from: State,
        /// The generation that ends.
        generation: Generation,
        /// Why.
        reason: Reason,
    },
    /// The join phase is over.
    GenerationStarted {
        /// Which group.
        group: GroupId,
        /// The generation that begins.
        generation: Generation,
        /// How many members it has.
        members: usize,
    },
    /// Every member can get its assignment.
    Stabilized {
        /// Which group.
        group: GroupId,
        /// In which generation.
        generation: Generation,
    },
    /// A member was silent for its session timeout.
    MemberExpired {
        /// Which group.
        group: GroupId,
        /// Which member.
        member: MemberId,
    },
    /// Offsets were not committed for so long that they are removed.
    OffsetsExpired {
        /// Which group.
        group: GroupId,
        /// How many.
        count: usize,
    },
    /// The group is no more.
    Removed {
        /// Which group.
        group: GroupId,
    },
}

/// Why a rebalance starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A new member joined.
    MemberJoined,
    /// A member joined again with other metadata, or the leader asked for it.
    MemberRejoined,
    /// A static member came back in a way that changes what was agreed.
    StaticMemberReplaced,
    /// A member left by itself or was removed.
    MemberLeft,
    /// A member was silent for too long.
    MemberExpired,
    /// Members did not sync in time.
    SyncExpired,
    /// The assignment could not be stored.
    AssignmentNotStored,
    /// The group was loaded with more members than are allowed now.
    OverCapacity,
}

impl Reason {
    /// Returns the reason in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::MemberJoined => "a member joined",
            Self::MemberRejoined => "a member joined again",
            Self::StaticMemberReplaced => "a static member was replaced",
            Self::MemberLeft => "a member left",
            Self::MemberExpired => "a member's session expired",
            Self::SyncExpired => "members did not sync in time",
            Self::AssignmentNotStored => "the assignment could not be stored",
            Self::OverCapacity => "the group is larger than group.max.size",
        }
    }
}
