//! DescribeProducers: tells which producers write to partitions.

use super::declare::declare;

declare! {
    DescribeProducersRequest: request DescribeProducers -> DescribeProducersResponse, versions 0..=0, flexible 0;
    struct DescribeProducersRequest {
        topics: Vec<TopicRequest> [0..=0],
    }
    struct TopicRequest {
        name: String [0..=0],
        partition_indexes: Vec<i32> [0..=0],
    }
}

declare! {
    DescribeProducersResponse: response, versions 0..=0, flexible 0;
    struct DescribeProducersResponse {
        throttle_time_ms: i32 [0..=0],
        topics: Vec<TopicResponse> [0..=0],
    }
    struct TopicResponse {
        name: String [0..=0],
        partitions: Vec<PartitionResponse> [0..=0],
    }
    struct PartitionResponse {
        partition_index: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0],
        active_producers: Vec<ProducerState> [0..=0],
    }
    struct ProducerState {
        producer_id: i64 [0..=0],
        producer_epoch: i32 [0..=0],
        last_sequence: i32 [0..=0] = -1,
        last_timestamp: i64 [0..=0] = -1,
        coordinator_epoch: i32 [0..=0],
        current_txn_start_offset: i64 [0..=0] = -1,
    }
}
