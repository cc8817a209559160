//! What `__consumer_offsets` remembers, as plain values.

use std::sync::Arc;

use bytes::Bytes;

use super::names::{Generation, GroupId, InstanceId, MemberId};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// One record of `__consumer_offsets`: what a key is set to, or that it is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A group's membership; `None` is a tombstone.
    Group {
        /// Whose membership.
        group: GroupId,
        /// What it is now.
        value: Option<GroupMetadata>,
    },
    /// A committed offset; `None` is a tombstone.
    Offset {
        /// The group that committed it.
        group: GroupId,
        /// The partition it belongs to.
        topic_partition: TopicPartition,
        /// What it is now.
        value: Option<CommittedOffset>,
    },
}

impl Record {
    /// Returns the group that the record is about.
    #[must_use]
    pub fn group(&self) -> &GroupId {
        match self {
            Self::Group { group, .. } | Self::Offset { group, .. } => group,
        }
    }
}

/// A group's membership in one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMetadata {
    /// `consumer` for consumer groups; empty for groups that only store offsets.
    pub protocol_type: Arc<str>,
    /// The generation.
    pub generation: Generation,
    /// The protocol that was chosen, such as `range`; none while the group is empty.
    pub protocol: Option<Arc<str>>,
    /// The member that assigns.
    pub leader: Option<MemberId>,
    /// Since when the group has been in its state; unknown in records of old brokers.
    pub state_since: Option<Millis>,
    /// The members, with their assignments.
    pub members: Vec<MemberMetadata>,
}

/// One member as remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberMetadata {
    /// The member's id.
    pub member_id: MemberId,
    /// Its group instance id, if it is static.
    pub instance_id: Option<InstanceId>,
    /// The client id of its join request.
    pub client_id: Arc<str>,
    /// The address it joined from, with a leading slash.
    pub client_host: Arc<str>,
    /// How long it may take to rejoin, in milliseconds.
    pub rebalance_timeout_ms: i32,
    /// How long it may be silent, in milliseconds.
    pub session_timeout_ms: i32,
    /// What it told the leader under the chosen protocol.
    pub subscription: Bytes,
    /// What the leader gave it.
    pub assignment: Bytes,
}

/// A committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedOffset {
    /// The next offset that the group will read.
    pub offset: Offset,
    /// The leader epoch of the record before it, if the client sent one.
    pub leader_epoch: LeaderEpoch,
    /// Free text of the client.
    pub metadata: Arc<str>,
    /// When it was committed.
    pub commit_timestamp: Millis,
    /// When it expires, if the client chose a retention of its own.
    pub expire_timestamp: Option<Millis>,
}
