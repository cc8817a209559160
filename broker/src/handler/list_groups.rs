//! ListGroups: the groups that this broker coordinates.

use std::sync::Arc;

use ottla_protocol::message::list_groups::ListedGroup;
use ottla_protocol::message::{ListGroupsRequest, ListGroupsResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::machine::ListRequest;

pub(super) fn handle(api: &Arc<Api>, call: Call<ListGroupsRequest>) {
    let Call { body, reply, .. } = call;
    let request = ListRequest { states: body.states_filter, types: body.types_filter };
    api.groups.list(&request, move |list| {
        let groups = list.groups.into_iter().map(|group| ListedGroup {
            group_id: group.group.to_string(),
            protocol_type: group.protocol_type.to_string(),
            group_state: group.state.name().to_owned(),
            group_type: "classic".to_owned(),
            ..ListedGroup::default()
        });
        reply.send(&ListGroupsResponse {
            error_code: list.error.code(),
            groups: groups.collect(),
            ..ListGroupsResponse::default()
        });
    });
}
