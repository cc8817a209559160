//! DeleteGroups: groups without members, with all that they committed.

use std::collections::BTreeSet;
use std::sync::Arc;

use ottla_protocol::message::delete_groups::DeletableGroupResult;
use ottla_protocol::message::{DeleteGroupsRequest, DeleteGroupsResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::Gather;
use crate::coordinator::group::machine::DeleteGroupRequest;

pub(super) fn handle(api: &Arc<Api>, call: Call<DeleteGroupsRequest>) {
    let Call { body, reply, .. } = call;
    // A group that is named twice is deleted once.
    let groups: BTreeSet<String> = body.groups_names.into_iter().collect();
    let gather = Gather::new(groups.len(), move |results| {
        reply.send(&DeleteGroupsResponse { results, ..DeleteGroupsResponse::default() });
    });
    for (index, group_id) in groups.into_iter().enumerate() {
        let gather = Arc::clone(&gather);
        let request = DeleteGroupRequest { group: group_id.as_str().into() };
        api.groups.call(request, move |deleted| {
            let error_code = deleted.error.code();
            gather.answer(
                index,
                DeletableGroupResult { group_id, error_code, ..DeletableGroupResult::default() },
            );
        });
    }
}
