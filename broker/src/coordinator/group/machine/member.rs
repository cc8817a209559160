//! One member of a group.

use std::sync::Arc;

use bytes::Bytes;

use super::config::NEW_MEMBER_JOIN_TIMEOUT;
use super::names::{InstanceId, MemberId, RequestId};
use super::record::MemberMetadata;
use super::request::{JoinRequest, Protocol};
use crate::types::Millis;

/// One member: who it is, what it supports, what it was given, what it waits for.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) id: MemberId,
    pub(super) instance_id: Option<InstanceId>,
    pub(super) client_id: Arc<str>,
    pub(super) client_host: Arc<str>,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) session_timeout_ms: i32,
    pub(super) protocols: Vec<Protocol>,
    pub(super) assignment: Bytes,
    /// It has not been in a generation yet: the client does not know the id, and silence says nothing about it.
    pub(super) is_new: bool,
    /// The join that waits for the rebalance. [`Members`](super::members::Members) counts these: set it there.
    pub(super) join: Option<RequestId>,
    /// The sync that waits for the assignment.
    pub(super) sync: Option<RequestId>,
}

impl Member {
    /// Makes the member that a join request asks for; the request is not parked yet.
    pub(super) fn joining(id: MemberId, request: &JoinRequest) -> Self {
        Self {
            id,
            instance_id: request.instance_id.clone(),
            client_id: Arc::clone(&request.client_id),
            client_host: Arc::clone(&request.client_host),
            rebalance_timeout_ms: request.rebalance_timeout_ms,
            session_timeout_ms: request.session_timeout_ms,
            protocols: request.protocols.clone(),
            assignment: Bytes::new(),
            is_new: true,
            join: None,
            sync: None,
        }
    }

    /// Makes the member that a record remembers, under the protocol that the record's group chose.
    pub(super) fn remembered(record: &MemberMetadata, protocol: Option<&Arc<str>>) -> Self {
        let metadata = record.subscription.clone();
        let protocols = protocol.map(|name| Protocol { name: Arc::clone(name), metadata });
        Self {
            id: record.member_id.clone(),
            instance_id: record.instance_id.clone(),
            client_id: Arc::clone(&record.client_id),
            client_host: Arc::clone(&record.client_host),
            rebalance_timeout_ms: record.rebalance_timeout_ms,
            session_timeout_ms: record.session_timeout_ms,
            protocols: protocols.into_iter().collect(),
            assignment: record.assignment.clone(),
            is_new: false,
            join: None,
            sync: None,
        }
    }

    /// Returns what is remembered of the member when `protocol` is the chosen one.
    pub(super) fn to_record(&self, protocol: Option<&str>, assignment: Bytes) -> MemberMetadata {
        MemberMetadata {
            member_id: self.id.clone(),
            instance_id: self.instance_id.clone(),
            client_id: Arc::clone(&self.client_id),
            client_host: Arc::clone(&self.client_host),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            session_timeout_ms: self.session_timeout_ms,
            subscription: protocol.map(|protocol| self.metadata(protocol)).unwrap_or_default(),
            assignment,
        }
    }

    /// Returns what the member tells under a protocol; empty if it does not support it.
    pub(super) fn metadata(&self, protocol: &str) -> Bytes {
        let known = self.protocols.iter().find(|known| *known.name == *protocol);
        known.map(|known| known.metadata.clone()).unwrap_or_default()
    }

    /// Returns how long the member may be silent now.
    pub(super) fn patience(&self) -> Millis {
        if self.is_new { NEW_MEMBER_JOIN_TIMEOUT } else { Millis(i64::from(self.session_timeout_ms)) }
    }

    /// Returns whether silence is excused, because the member waits for an answer of ours.
    pub(super) fn is_excused(&self) -> bool {
        !self.is_new && (self.join.is_some() || self.sync.is_some())
    }
}
