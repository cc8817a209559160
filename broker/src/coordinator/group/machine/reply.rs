//! What groups answer, free of protocol versions.

use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::ErrorCode;

use super::names::{Generation, GroupId, InstanceId, MemberId};
use super::request::LeavingMember;
use super::state::State;
use crate::types::{LeaderEpoch, Offset, TopicPartition};

/// The answer to one request, of the same kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant answers the request of its name")]
pub enum Reply {
    Join(JoinReply),
    Sync(SyncReply),
    Heartbeat(HeartbeatReply),
    Leave(LeaveReply),
    Commit(CommitReply),
    Fetch(FetchReply),
    Describe(DescribeReply),
    List(ListReply),
    DeleteGroup(DeleteGroupReply),
    DeleteOffsets(DeleteOffsetsReply),
}

/// Answers `JoinGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinReply {
    /// What went wrong, if anything.
    pub error: ErrorCode,
    /// The generation that was completed.
    pub generation: Generation,
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The chosen protocol.
    pub protocol: Option<Arc<str>>,
    /// Who assigns.
    pub leader: Option<MemberId>,
    /// The leader shall not assign: the assignment stands.
    pub skip_assignment: bool,
    /// The member's id.
    pub member_id: MemberId,
    /// For the leader: all members.
    pub members: Vec<JoinedMember>,
}

/// A member as the leader gets to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedMember {
    /// The member's id.
    pub member_id: MemberId,
    /// Its group instance id.
    pub instance_id: Option<InstanceId>,
    /// Its metadata under the chosen protocol.
    pub metadata: Bytes,
}

impl JoinReply {
    /// Refuses a join.
    #[must_use]
    pub fn error(member_id: MemberId, error: ErrorCode) -> Self {
        Self {
            error,
            generation: Generation::NONE,
            protocol_type: None,
            protocol: None,
            leader: None,
            skip_assignment: false,
            member_id,
            members: Vec::new(),
        }
    }
}

/// Answers `SyncGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncReply {
    /// What went wrong, if anything.
    pub error: ErrorCode,
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The chosen protocol.
    pub protocol: Option<Arc<str>>,
    /// What the member gets.
    pub assignment: Bytes,
}

impl SyncReply {
    /// Refuses a sync.
    #[must_use]
    pub fn error(error: ErrorCode) -> Self {
        Self { error, protocol_type: None, protocol: None, assignment: Bytes::new() }
    }
}

/// Answers `Heartbeat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// What went wrong, or that a rebalance is under way.
    pub error: ErrorCode,
}

/// Answers `LeaveGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaveReply {
    /// What went wrong for all.
    pub error: ErrorCode,
    /// What went wrong for each.
    pub members: Vec<(LeavingMember, ErrorCode)>,
}

/// Answers `OffsetCommit` and `TxnOffsetCommit`, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitReply {
    /// What went wrong with each partition.
    pub partitions: Vec<(TopicPartition, ErrorCode)>,
}

/// Answers `OffsetFetch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchReply {
    /// What went wrong for all.
    pub error: ErrorCode,
    /// Each partition's offset.
    pub partitions: Vec<FetchedOffset>,
}

/// One remembered offset, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedOffset {
    /// The partition it belongs to.
    pub topic_partition: TopicPartition,
    /// What went wrong, if anything.
    pub error: ErrorCode,
    /// The next offset to read; -1 for none.
    pub offset: Offset,
    /// The leader epoch that was committed with it; -1 for none.
    pub leader_epoch: LeaderEpoch,
    /// The text that was committed with it.
    pub metadata: Arc<str>,
}

/// Answers `DescribeGroups`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribeReply {
    /// What went wrong, if anything.
    pub error: ErrorCode,
    /// The state; none when the group could not be looked at.
    pub state: Option<State>,
    /// The group's protocol type.
    pub protocol_type: Arc<str>,
    /// The chosen protocol; empty unless stable.
    pub protocol: Arc<str>,
    /// The members.
    pub members: Vec<DescribedMember>,
}

/// A member as it is shown. Metadata and assignment are empty unless the group is stable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedMember {
    /// The member's id.
    pub member_id: MemberId,
    /// Its group instance id.
    pub instance_id: Option<InstanceId>,
    /// The client id of its join request.
    pub client_id: Arc<str>,
    /// Where it joined from.
    pub client_host: Arc<str>,
    /// What it told the leader.
    pub metadata: Bytes,
    /// What it got.
    pub assignment: Bytes,
}

/// Answers `ListGroups`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListReply {
    /// What went wrong; a list that is not complete yet says so here.
    pub error: ErrorCode,
    /// The groups.
    pub groups: Vec<ListedGroup>,
}

/// A group in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGroup {
    /// Its id.
    pub group: GroupId,
    /// Its protocol type; empty for groups that only store offsets.
    pub protocol_type: Arc<str>,
    /// Its state.
    pub state: State,
}

/// Answers `DeleteGroups`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteGroupReply {
    /// What went wrong, if anything.
    pub error: ErrorCode,
}

/// Answers `OffsetDelete`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteOffsetsReply {
    /// What went wrong for all.
    pub error: ErrorCode,
    /// What went wrong with each partition.
    pub partitions: Vec<(TopicPartition, ErrorCode)>,
}
