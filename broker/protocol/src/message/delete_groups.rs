//! DeleteGroups: deletes groups.

use super::declare::declare;

declare! {
    DeleteGroupsRequest: request DeleteGroups -> DeleteGroupsResponse, versions 0..=2, flexible 2;
    struct DeleteGroupsRequest {
        groups_names: Vec<String> [0..=2],
    }
}

declare! {
    DeleteGroupsResponse: response, versions 0..=2, flexible 2;
    struct DeleteGroupsResponse {
        throttle_time_ms: i32 [0..=2],
        results: Vec<DeletableGroupResult> [0..=2],
    }
    struct DeletableGroupResult {
        group_id: String [0..=2],
        error_code: i16 [0..=2],
    }
}
