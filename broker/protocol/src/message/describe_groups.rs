//! DescribeGroups: tells state, members and assignments of groups.

use bytes::Bytes;

use super::declare::declare;

declare! {
    DescribeGroupsRequest: request DescribeGroups -> DescribeGroupsResponse, versions 0..=5, flexible 5;
    struct DescribeGroupsRequest {
        groups: Vec<String> [0..=5],
        include_authorized_operations: bool [3..=5],
    }
}

declare! {
    DescribeGroupsResponse: response, versions 0..=5, flexible 5;
    struct DescribeGroupsResponse {
        throttle_time_ms: i32 [1..=5 ignorable],
        groups: Vec<DescribedGroup> [0..=5],
    }
    struct DescribedGroup {
        error_code: i16 [0..=5],
        group_id: String [0..=5],
        group_state: String [0..=5],
        protocol_type: String [0..=5],
        protocol_data: String [0..=5],
        members: Vec<DescribedGroupMember> [0..=5],
        authorized_operations: i32 [3..=5] = -2_147_483_648,
    }
    struct DescribedGroupMember {
        member_id: String [0..=5],
        group_instance_id: Option<String> [4..=5 null 4 ignorable],
        client_id: String [0..=5],
        client_host: String [0..=5],
        member_metadata: Bytes [0..=5],
        member_assignment: Bytes [0..=5],
    }
}
