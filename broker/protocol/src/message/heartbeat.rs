//! Heartbeat: says that a member lives and asks whether the group rebalances.

use super::declare::declare;

declare! {
    HeartbeatRequest: request Heartbeat -> HeartbeatResponse, versions 0..=4, flexible 4;
    struct HeartbeatRequest {
        group_id: String [0..=4],
        generation_id: i32 [0..=4],
        member_id: String [0..=4],
        group_instance_id: Option<String> [3..=4 null 3],
    }
}

declare! {
    HeartbeatResponse: response, versions 0..=4, flexible 4;
    struct HeartbeatResponse {
        throttle_time_ms: i32 [1..=4 ignorable],
        error_code: i16 [0..=4],
    }
}
