//! ListPartitionReassignments: tells which partitions are being moved.

use super::declare::declare;

declare! {
    ListPartitionReassignmentsRequest: request ListPartitionReassignments -> ListPartitionReassignmentsResponse, versions 0..=0, flexible 0;
    struct ListPartitionReassignmentsRequest {
        timeout_ms: i32 [0..=0] = 60000,
        topics: Option<Vec<ListPartitionReassignmentsTopics>> [0..=0 null 0],
    }
    struct ListPartitionReassignmentsTopics {
        name: String [0..=0],
        partition_indexes: Vec<i32> [0..=0],
    }
}

declare! {
    ListPartitionReassignmentsResponse: response, versions 0..=0, flexible 0;
    struct ListPartitionReassignmentsResponse {
        throttle_time_ms: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
        topics: Vec<OngoingTopicReassignment> [0..=0],
    }
    struct OngoingTopicReassignment {
        name: String [0..=0],
        partitions: Vec<OngoingPartitionReassignment> [0..=0],
    }
    struct OngoingPartitionReassignment {
        partition_index: i32 [0..=0],
        replicas: Vec<i32> [0..=0],
        adding_replicas: Vec<i32> [0..=0],
        removing_replicas: Vec<i32> [0..=0],
    }
}
