//! ListGroups: tells which groups a broker coordinates.

use super::declare::declare;

declare! {
    ListGroupsRequest: request ListGroups -> ListGroupsResponse, versions 0..=5, flexible 3;
    struct ListGroupsRequest {
        states_filter: Vec<String> [4..=5],
        types_filter: Vec<String> [5..=5],
    }
}

declare! {
    ListGroupsResponse: response, versions 0..=5, flexible 3;
    struct ListGroupsResponse {
        throttle_time_ms: i32 [1..=5 ignorable],
        error_code: i16 [0..=5],
        groups: Vec<ListedGroup> [0..=5],
    }
    struct ListedGroup {
        group_id: String [0..=5],
        protocol_type: String [0..=5],
        group_state: String [4..=5 ignorable],
        group_type: String [5..=5 ignorable],
    }
}
