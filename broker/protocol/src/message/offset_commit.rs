//! OffsetCommit: keeps how far a group has read.

use super::declare::declare;

declare! {
    OffsetCommitRequest: request OffsetCommit -> OffsetCommitResponse, versions 0..=9, flexible 8;
    struct OffsetCommitRequest {
        group_id: String [0..=9],
        generation_id_or_member_epoch: i32 [1..=9 ignorable] = -1,
        member_id: String [1..=9 ignorable],
        group_instance_id: Option<String> [7..=9 null 7],
        retention_time_ms: i64 [2..=4 ignorable] = -1,
        topics: Vec<OffsetCommitRequestTopic> [0..=9],
    }
    struct OffsetCommitRequestTopic {
        name: String [0..=9],
        partitions: Vec<OffsetCommitRequestPartition> [0..=9],
    }
    struct OffsetCommitRequestPartition {
        partition_index: i32 [0..=9],
        committed_offset: i64 [0..=9],
        committed_leader_epoch: i32 [6..=9 ignorable] = -1,
        commit_timestamp: i64 [1..=1] = -1,
        committed_metadata: Option<String> [0..=9 null 0] = Some(String::new()),
    }
}

declare! {
    OffsetCommitResponse: response, versions 0..=9, flexible 8;
    struct OffsetCommitResponse {
        throttle_time_ms: i32 [3..=9 ignorable],
        topics: Vec<OffsetCommitResponseTopic> [0..=9],
    }
    struct OffsetCommitResponseTopic {
        name: String [0..=9],
        partitions: Vec<OffsetCommitResponsePartition> [0..=9],
    }
    struct OffsetCommitResponsePartition {
        partition_index: i32 [0..=9],
        error_code: i16 [0..=9],
    }
}
