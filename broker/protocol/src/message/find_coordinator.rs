//! FindCoordinator: tells which broker coordinates a group or a transactional id.

use super::declare::declare;

declare! {
    FindCoordinatorRequest: request FindCoordinator -> FindCoordinatorResponse, versions 0..=6, flexible 3;
    struct FindCoordinatorRequest {
        key: String [0..=3],
        key_type: i8 [1..=6],
        coordinator_keys: Vec<String> [4..=6],
    }
}

declare! {
    FindCoordinatorResponse: response, versions 0..=6, flexible 3;
    struct FindCoordinatorResponse {
        throttle_time_ms: i32 [1..=6 ignorable],
        error_code: i16 [0..=3],
        error_message: Option<String> [1..=3 null 1 ignorable] = Some(String::new()),
        node_id: i32 [0..=3],
        host: String [0..=3],
        port: i32 [0..=3],
        coordinators: Vec<Coordinator> [4..=6],
    }
    struct Coordinator {
        key: String [4..=6],
        node_id: i32 [4..=6],
        host: String [4..=6],
        port: i32 [4..=6],
        error_code: i16 [4..=6],
        error_message: Option<String> [4..=6 null 4 ignorable] = Some(String::new()),
    }
}
