//! SyncGroup: hands the leader's assignment to the members.

use bytes::Bytes;

use super::declare::declare;

declare! {
    SyncGroupRequest: request SyncGroup -> SyncGroupResponse, versions 0..=5, flexible 4;
    struct SyncGroupRequest {
        group_id: String [0..=5],
        generation_id: i32 [0..=5],
        member_id: String [0..=5],
        group_instance_id: Option<String> [3..=5 null 3],
        protocol_type: Option<String> [5..=5 null 5 ignorable],
        protocol_name: Option<String> [5..=5 null 5 ignorable],
        assignments: Vec<SyncGroupRequestAssignment> [0..=5],
    }
    struct SyncGroupRequestAssignment {
        member_id: String [0..=5],
        assignment: Bytes [0..=5],
    }
}

declare! {
    SyncGroupResponse: response, versions 0..=5, flexible 4;
    struct SyncGroupResponse {
        throttle_time_ms: i32 [1..=5 ignorable],
        error_code: i16 [0..=5],
        protocol_type: Option<String> [5..=5 null 5 ignorable],
        protocol_name: Option<String> [5..=5 null 5 ignorable],
        assignment: Bytes [0..=5],
    }
}
