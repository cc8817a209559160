//! JoinGroup: becoming a member of a group, and waiting for its next generation.

use std::sync::Arc;

use ottla_protocol::message::join_group::JoinGroupResponseMember;
use ottla_protocol::message::{JoinGroupRequest, JoinGroupResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::machine::{JoinReply, JoinRequest, Protocol};

pub(super) fn handle(api: &Arc<Api>, call: Call<JoinGroupRequest>) {
    let Call { body, version, client_id, connection, reply } = call;
    let protocols = body
        .protocols
        .into_iter()
        .map(|protocol| Protocol { name: protocol.name.into(), metadata: protocol.metadata });
    let request = JoinRequest {
        group: body.group_id.into(),
        member_id: body.member_id.into(),
        instance_id: body.group_instance_id.map(Into::into),
        client_id,
        client_host: connection.client_host().into(),
        rebalance_timeout_ms: if version == 0 { body.session_timeout_ms } else { body.rebalance_timeout_ms },
        session_timeout_ms: body.session_timeout_ms,
        protocol_type: body.protocol_type.into(),
        protocols: protocols.collect(),
        require_known_member_id: version >= 4,
        supports_skipping_assignment: version >= 9,
    };
    api.groups.call(request, move |joined| reply.send(&response(joined, version)));
}

fn response(joined: JoinReply, version: i16) -> JoinGroupResponse {
    let members = joined.members.into_iter().map(|member| JoinGroupResponseMember {
        member_id: member.member_id.to_string(),
        group_instance_id: member.instance_id.map(|instance_id| instance_id.to_string()),
        metadata: member.metadata,
        ..JoinGroupResponseMember::default()
    });
    let protocol = joined.protocol.map(|protocol| protocol.to_string());
    JoinGroupResponse {
        error_code: joined.error.code(),
        generation_id: joined.generation.0,
        protocol_type: joined.protocol_type.map(|protocol_type| protocol_type.to_string()),
        // Null means none from version 7 on, an empty name before.
        protocol_name: if version >= 7 { protocol } else { Some(protocol.unwrap_or_default()) },
        leader: joined.leader.map(|leader| leader.to_string()).unwrap_or_default(),
        skip_assignment: joined.skip_assignment,
        member_id: joined.member_id.to_string(),
        members: members.collect(),
        ..JoinGroupResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::{ErrorCode, Message};
    use ottla_protocol::wire::Writer;

    use super::*;
    use crate::coordinator::group::machine::{Generation, JoinedMember, MemberId};

    #[test]
    fn every_answer_has_a_form_in_every_version() {
        let refused = JoinReply::error(MemberId::from("m"), ErrorCode::MemberIdRequired);
        let joined = JoinReply {
            error: ErrorCode::None,
            generation: Generation(1),
            protocol_type: Some("consumer".into()),
            protocol: Some("range".into()),
            leader: Some("m".into()),
            skip_assignment: false,
            member_id: "m".into(),
            members: vec![JoinedMember {
                member_id: "m".into(),
                instance_id: Some("i".into()),
                metadata: bytes::Bytes::from_static(b"x"),
            }],
        };
        for version in JoinGroupResponse::VERSIONS {
            for reply in [&refused, &joined] {
                let response = response(reply.clone(), version);
                assert!(response.encode(&mut Writer::new(), version).is_ok(), "{version} {reply:?}");
            }
        }
        assert_eq!(response(refused.clone(), 6).protocol_name.as_deref(), Some(""));
        assert_eq!(response(refused, 7).protocol_name, None);
    }
}
