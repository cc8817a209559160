//! What clients ask of a group, free of protocol versions.

use std::sync::Arc;

use bytes::Bytes;

use super::names::{Generation, GroupId, InstanceId, MemberId, ProducerId};
use super::reply::{
    CommitReply, DeleteGroupReply, DeleteOffsetsReply, DescribeReply, FetchReply, HeartbeatReply, JoinReply,
    LeaveReply, ListReply, Reply, SyncReply,
};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// One request to one group; only [`Request::List`] is about all groups of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Become a member, or take part in a rebalance.
    Join(JoinRequest),
    /// Give (leader) and get assignments.
    Sync(SyncRequest),
    /// Stay a member.
    Heartbeat(HeartbeatRequest),
    /// Stop being members.
    Leave(LeaveRequest),
    /// Remember offsets.
    Commit(CommitRequest),
    /// Return remembered offsets.
    Fetch(FetchRequest),
    /// Return state and members.
    Describe(DescribeRequest),
    /// Return the groups.
    List(ListRequest),
    /// Forget a group.
    DeleteGroup(DeleteGroupRequest),
    /// Forget offsets of a group.
    DeleteOffsets(DeleteOffsetsRequest),
}

/// A typed request and the reply it gets.
pub trait GroupRequest {
    /// What answers it.
    type Reply: Send + 'static;

    /// Wraps the request.
    fn into_request(self) -> Request;

    /// Unwraps the reply; `None` if it answers another kind of request.
    fn reply(reply: Reply) -> Option<Self::Reply>;
}

macro_rules! group_request {
    ($request:ident, $variant:ident, $reply:ident) => {
        impl GroupRequest for $request {
            type Reply = $reply;

            fn into_request(self) -> Request {
                Request::$variant(self)
            }

            fn reply(reply: Reply) -> Option<$reply> {
                if let Reply::$variant(reply) = reply { Some(reply) } else { None }
            }
        }
    };
}

group_request!(JoinRequest, Join, JoinReply);
group_request!(SyncRequest, Sync, SyncReply);
group_request!(HeartbeatRequest, Heartbeat, HeartbeatReply);
group_request!(LeaveRequest, Leave, LeaveReply);
group_request!(CommitRequest, Commit, CommitReply);
group_request!(FetchRequest, Fetch, FetchReply);
group_request!(DescribeRequest, Describe, DescribeReply);
group_request!(ListRequest, List, ListReply);
group_request!(DeleteGroupRequest, DeleteGroup, DeleteGroupReply);
group_request!(DeleteOffsetsRequest, DeleteOffsets, DeleteOffsetsReply);

impl Request {
    /// Returns the group that is asked; none for a list of all.
    #[must_use]
    pub fn group(&self) -> Option<&GroupId> {
        match self {
            Self::Join(request) => Some(&request.group),
            Self::Sync(request) => Some(&request.group),
            Self::Heartbeat(request) => Some(&request.group),
            Self::Leave(request) => Some(&request.group),
            Self::Commit(request) => Some(&request.group),
            Self::Fetch(request) => Some(&request.group),
            Self::Describe(request) => Some(&request.group),
            Self::DeleteGroup(request) => Some(&request.group),
            Self::DeleteOffsets(request) => Some(&request.group),
            Self::List(_) => None,
        }
    }
}

/// A protocol that a member supports, such as the assignor `range`, with what it tells the leader under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    /// Its name.
    pub name: Arc<str>,
    /// The member's metadata, a subscription for consumers.
    pub metadata: Bytes,
}

/// `JoinGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinRequest {
    /// Which group.
    pub group: GroupId,
    /// The member's id; empty for a new member or a static member that restarts.
    pub member_id: MemberId,
    /// The static member's name.
    pub instance_id: Option<InstanceId>,
    /// The client id in the request's header.
    pub client_id: Arc<str>,
    /// Where the request came from, with a leading slash.
    pub client_host: Arc<str>,
    /// How long a rebalance may wait for this member; the session timeout in version 0.
    pub rebalance_timeout_ms: i32,
    /// How long the member may be silent.
    pub session_timeout_ms: i32,
    /// `consumer` or whatever the members agree on.
    pub protocol_type: Arc<str>,
    /// What the member supports, what it likes best first.
    pub protocols: Vec<Protocol>,
    /// Version 4 and later: a dynamic member must come back with the id it is given (KIP-394).
    pub require_known_member_id: bool,
    /// Version 9 and later: a returning static leader can be told not to assign (KIP-814).
    pub supports_skipping_assignment: bool,
}

/// `SyncGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncRequest {
    /// Which group.
    pub group: GroupId,
    /// The generation that the join answered.
    pub generation: Generation,
    /// The member's id.
    pub member_id: MemberId,
    /// The static member's name.
    pub instance_id: Option<InstanceId>,
    /// Version 5 and later: what the member believes the group's protocol type to be.
    pub protocol_type: Option<Arc<str>>,
    /// Version 5 and later: what the member believes the chosen protocol to be.
    pub protocol: Option<Arc<str>>,
    /// From the leader: who gets what.
    pub assignments: Vec<(MemberId, Bytes)>,
}

/// `Heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatRequest {
    /// Which group.
    pub group: GroupId,
    /// The member's generation.
    pub generation: Generation,
    /// The member's id.
    pub member_id: MemberId,
    /// The static member's name.
    pub instance_id: Option<InstanceId>,
}

/// `LeaveGroup`: one member before version 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaveRequest {
    /// Which group.
    pub group: GroupId,
    /// Who leaves.
    pub members: Vec<LeavingMember>,
}

/// Who leaves: a member id, or an empty one and a static member's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeavingMember {
    /// The member's id.
    pub member_id: MemberId,
    /// The static member's name.
    pub instance_id: Option<InstanceId>,
}

/// `OffsetCommit` and `TxnOffsetCommit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRequest {
    /// Which group.
    pub group: GroupId,
    /// The member's generation; negative from consumers that are no members.
    pub generation: Generation,
    /// The member's id.
    pub member_id: MemberId,
    /// The static member's name.
    pub instance_id: Option<InstanceId>,
    /// Versions 2 to 4: how long to keep the offsets, instead of what the broker is set to.
    pub retention: Option<Millis>,
    /// The transaction that the offsets belong to.
    pub transaction: Option<Transaction>,
    /// What to remember.
    pub offsets: Vec<OffsetToCommit>,
}

/// The producer in whose transaction offsets are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Its id.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: i16,
}

/// One offset to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetToCommit {
    /// The partition it belongs to.
    pub topic_partition: TopicPartition,
    /// The next offset to read.
    pub offset: Offset,
    /// The leader epoch of the record before it, or unknown.
    pub leader_epoch: LeaderEpoch,
    /// Free text.
    pub metadata: Arc<str>,
    /// Version 1: the client's own time of the commit.
    pub commit_timestamp: Option<Millis>,
}

/// `OffsetFetch` for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// Which group.
    pub group: GroupId,
    /// Which partitions; all when absent.
    pub topic_partitions: Option<Vec<TopicPartition>>,
    /// Whether an offset with a transaction under way is refused (KIP-447).
    pub require_stable: bool,
}

/// `DescribeGroups` for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribeRequest {
    /// Which group.
    pub group: GroupId,
}

/// `ListGroups`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// Only groups in these states, whatever their case; all when empty.
    pub states: Vec<String>,
    /// Only groups of these types, whatever their case; all when empty. Every group here is `classic`.
    pub types: Vec<String>,
}

/// `DeleteGroups` for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteGroupRequest {
    /// Which group.
    pub group: GroupId,
}

/// `OffsetDelete`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteOffsetsRequest {
    /// Which group.
    pub group: GroupId,
    /// Which partitions.
    pub topic_partitions: Vec<TopicPartition>,
}
