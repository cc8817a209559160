//! DeleteRecords: raises where logs begin.

use super::declare::declare;

declare! {
    DeleteRecordsRequest: request DeleteRecords -> DeleteRecordsResponse, versions 0..=2, flexible 2;
    struct DeleteRecordsRequest {
        topics: Vec<DeleteRecordsTopic> [0..=2],
        timeout_ms: i32 [0..=2],
    }
    struct DeleteRecordsTopic {
        name: String [0..=2],
        partitions: Vec<DeleteRecordsPartition> [0..=2],
    }
    struct DeleteRecordsPartition {
        partition_index: i32 [0..=2],
        offset: i64 [0..=2],
    }
}

declare! {
    DeleteRecordsResponse: response, versions 0..=2, flexible 2;
    struct DeleteRecordsResponse {
        throttle_time_ms: i32 [0..=2],
        topics: Vec<DeleteRecordsTopicResult> [0..=2],
    }
    struct DeleteRecordsTopicResult {
        name: String [0..=2],
        partitions: Vec<DeleteRecordsPartitionResult> [0..=2],
    }
    struct DeleteRecordsPartitionResult {
        partition_index: i32 [0..=2],
        low_watermark: i64 [0..=2],
        error_code: i16 [0..=2],
    }
}
