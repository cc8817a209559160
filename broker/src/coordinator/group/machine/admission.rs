//! What is checked before a group is looked at: the group id, and whether this broker coordinates it (Kafka:
//! `GroupCoordinator.validateGroupStatus`).

use ottla_protocol::message::ErrorCode;

use super::commit;
use super::reply::{
    DeleteGroupReply, DeleteOffsetsReply, DescribeReply, FetchReply, HeartbeatReply, JoinReply, LeaveReply,
    ListReply, Reply, SyncReply,
};
use super::request::Request;

/// Whether the coordinator can serve a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The coordinator has not started, or is shutting down.
    NotStarted,
    /// The group's partition is being read.
    Loading,
    /// Another broker leads the group's partition.
    NotCoordinator,
    /// The group's partition is ours and loaded.
    Ready,
}

/// Returns the refusal of a request, if it is to be refused.
#[must_use]
pub fn refusal(request: &Request, standing: Standing) -> Option<Reply> {
    if request.group().is_some_and(super::names::GroupId::is_empty) && !allows_empty_group_id(request) {
        return Some(refuse(request, ErrorCode::InvalidGroupId));
    }
    let error = match (standing, request) {
        (Standing::Ready, _) => return None,
        (Standing::NotStarted, _) => ErrorCode::CoordinatorNotAvailable,
        // The rebalance that was under way is lost with the former coordinator; clients know what to do about that,
        // while old ones do not know the error for loading.
        (Standing::Loading, Request::Sync(_)) => ErrorCode::RebalanceInProgress,
        (Standing::Loading, Request::Heartbeat(_)) => ErrorCode::None,
        (Standing::Loading, _) => ErrorCode::CoordinatorLoadInProgress,
        (Standing::NotCoordinator, _) => ErrorCode::NotCoordinator,
    };
    Some(refuse(request, error))
}

/// Old simple consumers commit under the empty group id, and their offsets can be looked at and deleted.
fn allows_empty_group_id(request: &Request) -> bool {
    match request {
        Request::Commit(request) => request.transaction.is_none(),
        Request::Fetch(_) | Request::Describe(_) | Request::DeleteGroup(_) | Request::List(_) => true,
        Request::Join(_)
        | Request::Sync(_)
        | Request::Heartbeat(_)
        | Request::Leave(_)
        | Request::DeleteOffsets(_) => false,
    }
}

/// Answers a request with an error.
#[must_use]
pub fn refuse(request: &Request, error: ErrorCode) -> Reply {
    match request {
        Request::Join(request) => Reply::Join(JoinReply::error(request.member_id.clone(), error)),
        Request::Sync(_) => Reply::Sync(SyncReply::error(error)),
        Request::Heartbeat(_) => Reply::Heartbeat(HeartbeatReply { error }),
        Request::Leave(_) => Reply::Leave(LeaveReply { error, members: Vec::new() }),
        Request::Commit(request) => Reply::Commit(commit::refused(request, error)),
        Request::Fetch(_) => Reply::Fetch(FetchReply { error, partitions: Vec::new() }),
        Request::Describe(_) => Reply::Describe(DescribeReply {
            error,
            state: None,
            protocol_type: "".into(),
            protocol: "".into(),
            members: Vec::new(),
        }),
        Request::List(_) => Reply::List(ListReply { error, groups: Vec::new() }),
        Request::DeleteGroup(_) => Reply::DeleteGroup(DeleteGroupReply { error }),
        Request::DeleteOffsets(_) => {
            Reply::DeleteOffsets(DeleteOffsetsReply { error, partitions: Vec::new() })
        }
    }
}
