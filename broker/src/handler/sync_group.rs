//! SyncGroup: the leader's assignment on its way to the members.

use std::sync::Arc;

use ottla_protocol::message::{ErrorCode, SyncGroupRequest, SyncGroupResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::machine::{Generation, SyncReply, SyncRequest};

pub(super) fn handle(api: &Arc<Api>, call: Call<SyncGroupRequest>) {
    let Call { body, version, reply, .. } = call;
    // From version 5 on a member says what it believes was agreed on (KIP-559).
    if version >= 5 && (body.protocol_type.is_none() || body.protocol_name.is_none()) {
        reply.send(&response(SyncReply::error(ErrorCode::InconsistentGroupProtocol)));
        return;
    }
    let assignments = body.assignments.into_iter().map(|one| (one.member_id.into(), one.assignment));
    let request = SyncRequest {
        group: body.group_id.into(),
        generation: Generation(body.generation_id),
        member_id: body.member_id.into(),
        instance_id: body.group_instance_id.map(Into::into),
        protocol_type: body.protocol_type.map(Into::into),
        protocol: body.protocol_name.map(Into::into),
        assignments: assignments.collect(),
    };
    api.groups.call(request, move |synced| reply.send(&response(synced)));
}

fn response(synced: SyncReply) -> SyncGroupResponse {
    SyncGroupResponse {
        error_code: synced.error.code(),
        protocol_type: synced.protocol_type.map(|protocol_type| protocol_type.to_string()),
        protocol_name: synced.protocol.map(|protocol| protocol.to_string()),
        assignment: synced.assignment,
        ..SyncGroupResponse::default()
    }
}
