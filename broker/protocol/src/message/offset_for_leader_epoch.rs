//! OffsetForLeaderEpoch: tells where a leader epoch ends.

use super::declare::declare;

declare! {
    OffsetForLeaderEpochRequest: request OffsetForLeaderEpoch -> OffsetForLeaderEpochResponse, versions 0..=4, flexible 4;
    struct OffsetForLeaderEpochRequest {
        replica_id: i32 [3..=4 ignorable] = -2,
        topics: Vec<OffsetForLeaderTopic> [0..=4],
    }
    struct OffsetForLeaderTopic {
        topic: String [0..=4],
        partitions: Vec<OffsetForLeaderPartition> [0..=4],
    }
    struct OffsetForLeaderPartition {
        partition: i32 [0..=4],
        current_leader_epoch: i32 [2..=4 ignorable] = -1,
        leader_epoch: i32 [0..=4],
    }
}

declare! {
    OffsetForLeaderEpochResponse: response, versions 0..=4, flexible 4;
    struct OffsetForLeaderEpochResponse {
        throttle_time_ms: i32 [2..=4 ignorable],
        topics: Vec<OffsetForLeaderTopicResult> [0..=4],
    }
    struct OffsetForLeaderTopicResult {
        topic: String [0..=4],
        partitions: Vec<EpochEndOffset> [0..=4],
    }
    struct EpochEndOffset {
        error_code: i16 [0..=4],
        partition: i32 [0..=4],
        leader_epoch: i32 [1..=4 ignorable] = -1,
        end_offset: i64 [0..=4] = -1,
    }
}
