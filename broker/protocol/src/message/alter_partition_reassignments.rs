//! AlterPartitionReassignments: moves partitions to other brokers.

use super::declare::declare;

declare! {
    AlterPartitionReassignmentsRequest: request AlterPartitionReassignments -> AlterPartitionReassignmentsResponse, versions 0..=0, flexible 0;
    struct AlterPartitionReassignmentsRequest {
        timeout_ms: i32 [0..=0] = 60000,
        topics: Vec<ReassignableTopic> [0..=0],
    }
    struct ReassignableTopic {
        name: String [0..=0],
        partitions: Vec<ReassignablePartition> [0..=0],
    }
    struct ReassignablePartition {
        partition_index: i32 [0..=0],
        replicas: Option<Vec<i32>> [0..=0 null 0],
    }
}

declare! {
    AlterPartitionReassignmentsResponse: response, versions 0..=0, flexible 0;
    struct AlterPartitionReassignmentsResponse {
        throttle_time_ms: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
        responses: Vec<ReassignableTopicResponse> [0..=0],
    }
    struct ReassignableTopicResponse {
        name: String [0..=0],
        partitions: Vec<ReassignablePartitionResponse> [0..=0],
    }
    struct ReassignablePartitionResponse {
        partition_index: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
    }
}
