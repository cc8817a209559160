//! LeaveGroup: takes members out of a group.

use super::declare::declare;

declare! {
    LeaveGroupRequest: request LeaveGroup -> LeaveGroupResponse, versions 0..=5, flexible 4;
    struct LeaveGroupRequest {
        group_id: String [0..=5],
        member_id: String [0..=2],
        members: Vec<MemberIdentity> [3..=5],
    }
    struct MemberIdentity {
        member_id: String [3..=5],
        group_instance_id: Option<String> [3..=5 null 3],
        reason: Option<String> [5..=5 null 5 ignorable],
    }
}

declare! {
    LeaveGroupResponse: response, versions 0..=5, flexible 4;
    struct LeaveGroupResponse {
        throttle_time_ms: i32 [1..=5 ignorable],
        error_code: i16 [0..=5],
        members: Vec<MemberResponse> [3..=5],
    }
    struct MemberResponse {
        member_id: String [3..=5],
        group_instance_id: Option<String> [3..=5 null 3] = Some(String::new()),
        error_code: i16 [3..=5],
    }
}
