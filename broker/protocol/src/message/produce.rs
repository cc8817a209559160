//! Produce: writes record batches to partitions.

use bytes::Bytes;

use super::declare::declare;

declare! {
    ProduceRequest: request Produce -> ProduceResponse, versions 0..=11, flexible 9;
    struct ProduceRequest {
        transactional_id: Option<String> [3..=11 null 3],
        acks: i16 [0..=11],
        timeout_ms: i32 [0..=11],
        topic_data: Vec<TopicProduceData> [0..=11],
    }
    struct TopicProduceData {
        name: String [0..=11],
        partition_data: Vec<PartitionProduceData> [0..=11],
    }
    struct PartitionProduceData {
        index: i32 [0..=11],
        records: Option<Bytes> [0..=11 null 0],
    }
}

declare! {
    ProduceResponse: response, versions 0..=11, flexible 9;
    struct ProduceResponse {
        responses: Vec<TopicProduceResponse> [0..=11],
        throttle_time_ms: i32 [1..=11 ignorable],
        node_endpoints: Vec<NodeEndpoint> [10..=11 tag 0],
    }
    struct TopicProduceResponse {
        name: String [0..=11],
        partition_responses: Vec<PartitionProduceResponse> [0..=11],
    }
    struct NodeEndpoint {
        node_id: i32 [10..=11],
        host: String [10..=11],
        port: i32 [10..=11],
        rack: Option<String> [10..=11 null 10],
    }
    struct PartitionProduceResponse {
        index: i32 [0..=11],
        error_code: i16 [0..=11],
        base_offset: i64 [0..=11],
        log_append_time_ms: i64 [2..=11 ignorable] = -1,
        log_start_offset: i64 [5..=11 ignorable] = -1,
        record_errors: Vec<BatchIndexAndErrorMessage> [8..=11 ignorable],
        error_message: Option<String> [8..=11 null 8 ignorable],
        current_leader: LeaderIdAndEpoch [10..=11 tag 0],
    }
    struct BatchIndexAndErrorMessage {
        batch_index: i32 [8..=11],
        batch_index_error_message: Option<String> [8..=11 null 8],
    }
    struct LeaderIdAndEpoch {
        leader_id: i32 [10..=11] = -1,
        leader_epoch: i32 [10..=11] = -1,
    }
}
