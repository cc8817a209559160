//! OffsetFetch: tells how far a group has read.

use super::declare::declare;

declare! {
    OffsetFetchRequest: request OffsetFetch -> OffsetFetchResponse, versions 0..=9, flexible 6;
    struct OffsetFetchRequest {
        group_id: String [0..=7],
        topics: Option<Vec<OffsetFetchRequestTopic>> [0..=7 null 2] = Some(Vec::new()),
        groups: Vec<OffsetFetchRequestGroup> [8..=9],
        require_stable: bool [7..=9],
    }
    struct OffsetFetchRequestTopic {
        name: String [0..=7],
        partition_indexes: Vec<i32> [0..=7],
    }
    struct OffsetFetchRequestGroup {
        group_id: String [8..=9],
        member_id: Option<String> [9..=9 null 9 ignorable],
        member_epoch: i32 [9..=9 ignorable] = -1,
        topics: Option<Vec<OffsetFetchRequestTopics>> [8..=9 null 8] = Some(Vec::new()),
    }
    struct OffsetFetchRequestTopics {
        name: String [8..=9],
        partition_indexes: Vec<i32> [8..=9],
    }
}

declare! {
    OffsetFetchResponse: response, versions 0..=9, flexible 6;
    struct OffsetFetchResponse {
        throttle_time_ms: i32 [3..=9 ignorable],
        topics: Vec<OffsetFetchResponseTopic> [0..=7],
        error_code: i16 [2..=7 ignorable],
        groups: Vec<OffsetFetchResponseGroup> [8..=9],
    }
    struct OffsetFetchResponseTopic {
        name: String [0..=7],
        partitions: Vec<OffsetFetchResponsePartition> [0..=7],
    }
    struct OffsetFetchResponseGroup {
        group_id: String [8..=9],
        topics: Vec<OffsetFetchResponseTopics> [8..=9],
        error_code: i16 [8..=9],
    }
    struct OffsetFetchResponsePartition {
        partition_index: i32 [0..=7],
        committed_offset: i64 [0..=7],
        committed_leader_epoch: i32 [5..=7 ignorable] = -1,
        metadata: Option<String> [0..=7 null 0] = Some(String::new()),
        error_code: i16 [0..=7],
    }
    struct OffsetFetchResponseTopics {
        name: String [8..=9],
        partitions: Vec<OffsetFetchResponsePartitions> [8..=9],
    }
    struct OffsetFetchResponsePartitions {
        partition_index: i32 [8..=9],
        committed_offset: i64 [8..=9],
        committed_leader_epoch: i32 [8..=9 ignorable] = -1,
        metadata: Option<String> [8..=9 null 8] = Some(String::new()),
        error_code: i16 [8..=9],
    }
}
