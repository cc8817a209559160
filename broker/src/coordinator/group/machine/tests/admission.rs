//! What is refused before a group is looked at.

use super::world::{commit, group, heartbeat, join, kind, stranger, sync};
use crate::coordinator::group::machine::{
    CommitRequest, DeleteGroupRequest, DeleteOffsetsRequest, DescribeRequest, ErrorCode, FetchRequest,
    GroupId, GroupRequest, HeartbeatRequest, JoinRequest, LeaveRequest, ListRequest, ProducerId, Reply,
    Request, Standing, SyncRequest, Transaction, refusal,
};
use crate::types::TopicPartition;

fn requests(group: &GroupId) -> Vec<Request> {
    let transaction = Some(Transaction { producer_id: ProducerId(1), producer_epoch: 0 });
    let commit = CommitRequest { group: group.clone(), ..commit(&stranger(), 1, &[("t", 0, 1)]) };
    vec![
        JoinRequest { group: group.clone(), ..join("c") }.into_request(),
        SyncRequest { group: group.clone(), ..sync(&stranger(), 1) }.into_request(),
        HeartbeatRequest { group: group.clone(), ..heartbeat(&stranger(), 1) }.into_request(),
        LeaveRequest { group: group.clone(), members: vec![] }.into_request(),
        commit.clone().into_request(),
        CommitRequest { transaction, ..commit }.into_request(),
        FetchRequest { group: group.clone(), topic_partitions: None, require_stable: false }.into_request(),
        DescribeRequest { group: group.clone() }.into_request(),
        DeleteGroupRequest { group: group.clone() }.into_request(),
        DeleteOffsetsRequest { group: group.clone(), topic_partitions: vec![TopicPartition::new("t", 0)] }
            .into_request(),
    ]
}

/// Returns the one error that a refusal carries.
fn error(reply: &Reply) -> ErrorCode {
    match reply {
        Reply::Join(reply) => reply.error,
        Reply::Sync(reply) => reply.error,
        Reply::Heartbeat(reply) => reply.error,
        Reply::Leave(reply) => reply.error,
        Reply::Commit(reply) => reply.partitions[0].1,
        Reply::Fetch(reply) => reply.error,
        Reply::Describe(reply) => reply.error,
        Reply::List(reply) => reply.error,
        Reply::DeleteGroup(reply) => reply.error,
        Reply::DeleteOffsets(reply) => reply.error,
    }
}

#[test]
fn the_empty_group_id_is_for_simple_consumers_only() {
    for (index, request) in requests(&"".into()).into_iter().enumerate() {
        let is_plain_commit = index == 4;
        let is_allowed = is_plain_commit || matches!(kind(&request), "fetch" | "describe" | "delete group");
        let refused = refusal(&request, Standing::Ready).as_ref().map(error);
        let expected = if is_allowed { None } else { Some(ErrorCode::InvalidGroupId) };
        assert_eq!(refused, expected, "{index}: {}", kind(&request));
    }
}

#[test]
fn every_standing_has_its_error() {
    for request in requests(&group()) {
        let kind = kind(&request);
        let refused = |standing| refusal(&request, standing).as_ref().map(error);
        let loading = match kind {
            "sync" => ErrorCode::RebalanceInProgress,
            "heartbeat" => ErrorCode::None,
            _ => ErrorCode::CoordinatorLoadInProgress,
        };
        assert_eq!(refused(Standing::Ready), None, "{kind}");
        assert_eq!(refused(Standing::Loading), Some(loading), "{kind}");
        assert_eq!(refused(Standing::NotCoordinator), Some(ErrorCode::NotCoordinator), "{kind}");
        assert_eq!(refused(Standing::NotStarted), Some(ErrorCode::CoordinatorNotAvailable), "{kind}");
    }
    let list = Request::List(ListRequest { states: vec![], types: vec![] });
    assert_eq!(
        refusal(&list, Standing::NotStarted).as_ref().map(error),
        Some(ErrorCode::CoordinatorNotAvailable)
    );
    assert_eq!(refusal(&list, Standing::Ready), None);
}
