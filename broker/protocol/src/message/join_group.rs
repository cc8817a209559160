//! JoinGroup: makes a client a member of a group's next generation.

use bytes::Bytes;

use super::declare::declare;

declare! {
    JoinGroupRequest: request JoinGroup -> JoinGroupResponse, versions 0..=9, flexible 6;
    struct JoinGroupRequest {
        group_id: String [0..=9],
        session_timeout_ms: i32 [0..=9],
        rebalance_timeout_ms: i32 [1..=9 ignorable] = -1,
        member_id: String [0..=9],
        group_instance_id: Option<String> [5..=9 null 5],
        protocol_type: String [0..=9],
        protocols: Vec<JoinGroupRequestProtocol> [0..=9],
        reason: Option<String> [8..=9 null 8 ignorable],
    }
    struct JoinGroupRequestProtocol {
        name: String [0..=9],
        metadata: Bytes [0..=9],
    }
}

declare! {
    JoinGroupResponse: response, versions 0..=9, flexible 6;
    struct JoinGroupResponse {
        throttle_time_ms: i32 [2..=9 ignorable],
        error_code: i16 [0..=9],
        generation_id: i32 [0..=9] = -1,
        protocol_type: Option<String> [7..=9 null 7 ignorable],
        protocol_name: Option<String> [0..=9 null 7] = Some(String::new()),
        leader: String [0..=9],
        skip_assignment: bool [9..=9],
        member_id: String [0..=9],
        members: Vec<JoinGroupResponseMember> [0..=9],
    }
    struct JoinGroupResponseMember {
        member_id: String [0..=9],
        group_instance_id: Option<String> [5..=9 null 5 ignorable],
        metadata: Bytes [0..=9],
    }
}
