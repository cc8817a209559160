//! DescribeGroups: state and members of groups.

use std::sync::Arc;

use ottla_protocol::message::describe_groups::{DescribedGroup, DescribedGroupMember};
use ottla_protocol::message::{DescribeGroupsRequest, DescribeGroupsResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::Gather;
use crate::coordinator::group::machine::{DescribeReply, DescribeRequest, DescribedMember};

/// What may be done with a group when nobody is refused anything: read, delete, describe, describe and alter configs,
/// as bits (Kafka: `AclEntry.supportedOperations`).
const ALL_OPERATIONS: i32 = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11;

/// Not asked for, or not known.
const NO_OPERATIONS: i32 = i32::MIN;

pub(super) fn handle(api: &Arc<Api>, call: Call<DescribeGroupsRequest>) {
    let Call { body, reply, .. } = call;
    let with_operations = body.include_authorized_operations;
    let gather = Gather::new(body.groups.len(), move |groups| {
        reply.send(&DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() });
    });
    for (index, group_id) in body.groups.into_iter().enumerate() {
        let gather = Arc::clone(&gather);
        let request = DescribeRequest { group: group_id.as_str().into() };
        api.groups.call(request, move |described| {
            gather.answer(index, group(group_id, described, with_operations))
        });
    }
}

fn group(group_id: String, described: DescribeReply, with_operations: bool) -> DescribedGroup {
    let is_known = described.error == ErrorCode::None;
    DescribedGroup {
        error_code: described.error.code(),
        group_id,
        group_state: described.state.map_or("", |state| state.name()).to_owned(),
        protocol_type: described.protocol_type.to_string(),
        protocol_data: described.protocol.to_string(),
        members: described.members.into_iter().map(member).collect(),
        authorized_operations: if with_operations && is_known { ALL_OPERATIONS } else { NO_OPERATIONS },
        ..DescribedGroup::default()
    }
}

fn member(member: DescribedMember) -> DescribedGroupMember {
    DescribedGroupMember {
        member_id: member.member_id.to_string(),
        group_instance_id: member.instance_id.map(|instance_id| instance_id.to_string()),
        client_id: member.client_id.to_string(),
        client_host: member.client_host.to_string(),
        member_metadata: member.metadata,
        member_assignment: member.assignment,
        ..DescribedGroupMember::default()
    }
}
