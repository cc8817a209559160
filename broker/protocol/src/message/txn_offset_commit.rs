//! TxnOffsetCommit: keeps how far a group has read, as part of a transaction.

use super::declare::declare;

declare! {
    TxnOffsetCommitRequest: request TxnOffsetCommit -> TxnOffsetCommitResponse, versions 0..=4, flexible 3;
    struct TxnOffsetCommitRequest {
        transactional_id: String [0..=4],
        group_id: String [0..=4],
        producer_id: i64 [0..=4],
        producer_epoch: i16 [0..=4],
        generation_id: i32 [3..=4] = -1,
        member_id: String [3..=4],
        group_instance_id: Option<String> [3..=4 null 3],
        topics: Vec<TxnOffsetCommitRequestTopic> [0..=4],
    }
    struct TxnOffsetCommitRequestTopic {
        name: String [0..=4],
        partitions: Vec<TxnOffsetCommitRequestPartition> [0..=4],
    }
    struct TxnOffsetCommitRequestPartition {
        partition_index: i32 [0..=4],
        committed_offset: i64 [0..=4],
        committed_leader_epoch: i32 [2..=4 ignorable] = -1,
        committed_metadata: Option<String> [0..=4 null 0] = Some(String::new()),
    }
}

declare! {
    TxnOffsetCommitResponse: response, versions 0..=4, flexible 3;
    struct TxnOffsetCommitResponse {
        throttle_time_ms: i32 [0..=4],
        topics: Vec<TxnOffsetCommitResponseTopic> [0..=4],
    }
    struct TxnOffsetCommitResponseTopic {
        name: String [0..=4],
        partitions: Vec<TxnOffsetCommitResponsePartition> [0..=4],
    }
    struct TxnOffsetCommitResponsePartition {
        partition_index: i32 [0..=4],
        error_code: i16 [0..=4],
    }
}
