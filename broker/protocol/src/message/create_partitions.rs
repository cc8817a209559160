//! CreatePartitions: adds partitions to topics.

use super::declare::declare;

declare! {
    CreatePartitionsRequest: request CreatePartitions -> CreatePartitionsResponse, versions 0..=3, flexible 2;
    struct CreatePartitionsRequest {
        topics: Vec<CreatePartitionsTopic> [0..=3],
        timeout_ms: i32 [0..=3],
        validate_only: bool [0..=3],
    }
    struct CreatePartitionsTopic {
        name: String [0..=3],
        count: i32 [0..=3],
        assignments: Option<Vec<CreatePartitionsAssignment>> [0..=3 null 0] = Some(Vec::new()),
    }
    struct CreatePartitionsAssignment {
        broker_ids: Vec<i32> [0..=3],
    }
}

declare! {
    CreatePartitionsResponse: response, versions 0..=3, flexible 2;
    struct CreatePartitionsResponse {
        throttle_time_ms: i32 [0..=3],
        results: Vec<CreatePartitionsTopicResult> [0..=3],
    }
    struct CreatePartitionsTopicResult {
        name: String [0..=3],
        error_code: i16 [0..=3],
        error_message: Option<String> [0..=3 null 0],
    }
}
