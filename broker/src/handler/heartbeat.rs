//! Heartbeat: a member's sign of life.

use std::sync::Arc;

use ottla_protocol::message::{HeartbeatRequest, HeartbeatResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::machine::{self, Generation};

pub(super) fn handle(api: &Arc<Api>, call: Call<HeartbeatRequest>) {
    let Call { body, reply, .. } = call;
    let request = machine::HeartbeatRequest {
        group: body.group_id.into(),
        generation: Generation(body.generation_id),
        member_id: body.member_id.into(),
        instance_id: body.group_instance_id.map(Into::into),
    };
    api.groups.call(request, move |heard| {
        reply.send(&HeartbeatResponse { error_code: heard.error.code(), ..HeartbeatResponse::default() });
    });
}
