//! LeaveGroup: members that go, one at a time before version 3.

use std::sync::Arc;

use ottla_protocol::message::leave_group::MemberResponse;
use ottla_protocol::message::{LeaveGroupRequest, LeaveGroupResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::machine::{LeaveReply, LeaveRequest, LeavingMember};

/// The first version with a list of members, each with an error of its own (KIP-345).
const LIST_FROM: i16 = 3;

pub(super) fn handle(api: &Arc<Api>, call: Call<LeaveGroupRequest>) {
    let Call { body, version, reply, .. } = call;
    let members = if version < LIST_FROM {
        vec![LeavingMember { member_id: body.member_id.into(), instance_id: None }]
    } else {
        let listed = body.members.into_iter().map(|member| LeavingMember {
            member_id: member.member_id.into(),
            instance_id: member.group_instance_id.map(Into::into),
        });
        listed.collect()
    };
    let request = LeaveRequest { group: body.group_id.into(), members };
    api.groups.call(request, move |left| reply.send(&response(left, version)));
}

fn response(left: LeaveReply, version: i16) -> LeaveGroupResponse {
    if version < LIST_FROM {
        let own = left.members.first().map(|(_, error)| *error);
        let error = if left.error.is_none() { own.unwrap_or(left.error) } else { left.error };
        return LeaveGroupResponse { error_code: error.code(), ..LeaveGroupResponse::default() };
    }
    let members = left.members.into_iter().map(|(member, error)| MemberResponse {
        member_id: member.member_id.to_string(),
        group_instance_id: member.instance_id.map(|instance_id| instance_id.to_string()),
        error_code: error.code(),
        ..MemberResponse::default()
    });
    LeaveGroupResponse {
        error_code: left.error.code(),
        members: members.collect(),
        ..LeaveGroupResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::{ErrorCode, Message};
    use ottla_protocol::wire::Writer;

    use super::*;

    #[test]
    fn before_the_list_the_only_members_error_is_the_answers() {
        let member = LeavingMember { member_id: "m".into(), instance_id: None };
        let left = |error, own| LeaveReply { error, members: vec![(member.clone(), own)] };
        let cases = [
            (ErrorCode::None, ErrorCode::None, 0),
            (ErrorCode::None, ErrorCode::UnknownMemberId, 25),
            (ErrorCode::NotCoordinator, ErrorCode::None, 16),
        ];
        for (error, own, expected) in cases {
            for version in LeaveGroupResponse::VERSIONS {
                let response = response(left(error, own), version);
                assert!(response.encode(&mut Writer::new(), version).is_ok(), "{version}");
                if version < LIST_FROM {
                    assert_eq!(response.error_code, expected);
                } else {
                    assert_eq!(
                        (response.error_code, response.members[0].error_code),
                        (error.code(), own.code())
                    );
                }
            }
        }
    }
}
