//! AlterPartition: a leader asks the controller for another set of in-sync replicas.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    AlterPartitionRequest: request AlterPartition -> AlterPartitionResponse, versions 0..=3, flexible 0;
    struct AlterPartitionRequest {
        broker_id: i32 [0..=3],
        broker_epoch: i64 [0..=3] = -1,
        topics: Vec<TopicData> [0..=3],
    }
    struct TopicData {
        topic_name: String [0..=1 ignorable],
        topic_id: Uuid [2..=3 ignorable],
        partitions: Vec<PartitionData> [0..=3],
    }
    struct PartitionData {
        partition_index: i32 [0..=3],
        leader_epoch: i32 [0..=3],
        new_isr: Vec<i32> [0..=2],
        new_isr_with_epochs: Vec<BrokerState> [3..=3],
        leader_recovery_state: i8 [1..=3],
        partition_epoch: i32 [0..=3],
    }
    struct BrokerState {
        broker_id: i32 [3..=3],
        broker_epoch: i64 [3..=3] = -1,
    }
}

declare! {
    AlterPartitionResponse: response, versions 0..=3, flexible 0;
    struct AlterPartitionResponse {
        throttle_time_ms: i32 [0..=3],
        error_code: i16 [0..=3],
        topics: Vec<TopicDataResponse> [0..=3],
    }
    struct TopicDataResponse {
        topic_name: String [0..=1 ignorable],
        topic_id: Uuid [2..=3 ignorable],
        partitions: Vec<PartitionDataResponse> [0..=3],
    }
    struct PartitionDataResponse {
        partition_index: i32 [0..=3],
        error_code: i16 [0..=3],
        leader_id: i32 [0..=3],
        leader_epoch: i32 [0..=3],
        isr: Vec<i32> [0..=3],
        leader_recovery_state: i8 [1..=3 ignorable],
        partition_epoch: i32 [0..=3],
    }
}
