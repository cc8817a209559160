//! ListOffsets: finds offsets by time, and where logs begin and end.

use super::declare::declare;

declare! {
    ListOffsetsRequest: request ListOffsets -> ListOffsetsResponse, versions 0..=9, flexible 6;
    struct ListOffsetsRequest {
        replica_id: i32 [0..=9],
        isolation_level: i8 [2..=9],
        topics: Vec<ListOffsetsTopic> [0..=9],
    }
    struct ListOffsetsTopic {
        name: String [0..=9],
        partitions: Vec<ListOffsetsPartition> [0..=9],
    }
    struct ListOffsetsPartition {
        partition_index: i32 [0..=9],
        current_leader_epoch: i32 [4..=9 ignorable] = -1,
        timestamp: i64 [0..=9],
        max_num_offsets: i32 [0..=0] = 1,
    }
}

declare! {
    ListOffsetsResponse: response, versions 0..=9, flexible 6;
    struct ListOffsetsResponse {
        throttle_time_ms: i32 [2..=9 ignorable],
        topics: Vec<ListOffsetsTopicResponse> [0..=9],
    }
    struct ListOffsetsTopicResponse {
        name: String [0..=9],
        partitions: Vec<ListOffsetsPartitionResponse> [0..=9],
    }
    struct ListOffsetsPartitionResponse {
        partition_index: i32 [0..=9],
        error_code: i16 [0..=9],
        old_style_offsets: Vec<i64> [0..=0],
        timestamp: i64 [1..=9] = -1,
        offset: i64 [1..=9] = -1,
        leader_epoch: i32 [4..=9] = -1,
    }
}
