//! Metadata: tells which brokers and topics there are and who leads what.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    MetadataRequest: request Metadata -> MetadataResponse, versions 0..=12, flexible 9;
    struct MetadataRequest {
        topics: Option<Vec<MetadataRequestTopic>> [0..=12 null 1] = Some(Vec::new()),
        allow_auto_topic_creation: bool [4..=12] = true,
        include_cluster_authorized_operations: bool [8..=10],
        include_topic_authorized_operations: bool [8..=12],
    }
    struct MetadataRequestTopic {
        topic_id: Uuid [10..=12 ignorable],
        name: Option<String> [0..=12 null 10] = Some(String::new()),
    }
}

declare! {
    MetadataResponse: response, versions 0..=12, flexible 9;
    struct MetadataResponse {
        throttle_time_ms: i32 [3..=12 ignorable],
        brokers: Vec<MetadataResponseBroker> [0..=12],
        cluster_id: Option<String> [2..=12 null 2 ignorable],
        controller_id: i32 [1..=12 ignorable] = -1,
        topics: Vec<MetadataResponseTopic> [0..=12],
        cluster_authorized_operations: i32 [8..=10] = -2_147_483_648,
    }
    struct MetadataResponseBroker {
        node_id: i32 [0..=12],
        host: String [0..=12],
        port: i32 [0..=12],
        rack: Option<String> [1..=12 null 1 ignorable],
    }
    struct MetadataResponseTopic {
        error_code: i16 [0..=12],
        name: Option<String> [0..=12 null 12] = Some(String::new()),
        topic_id: Uuid [10..=12 ignorable],
        is_internal: bool [1..=12 ignorable],
        partitions: Vec<MetadataResponsePartition> [0..=12],
        topic_authorized_operations: i32 [8..=12] = -2_147_483_648,
    }
    struct MetadataResponsePartition {
        error_code: i16 [0..=12],
        partition_index: i32 [0..=12],
        leader_id: i32 [0..=12],
        leader_epoch: i32 [7..=12 ignorable] = -1,
        replica_nodes: Vec<i32> [0..=12],
        isr_nodes: Vec<i32> [0..=12],
        offline_replicas: Vec<i32> [5..=12 ignorable],
    }
}
