//! UpdateMetadata: the controller tells a broker about the whole cluster.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    UpdateMetadataRequest: request UpdateMetadata -> UpdateMetadataResponse, versions 0..=8, flexible 6;
    struct UpdateMetadataRequest {
        controller_id: i32 [0..=8],
        is_k_raft_controller: bool [8..=8],
        r#type: i8 [8..=8 tag 0],
        controller_epoch: i32 [0..=8],
        broker_epoch: i64 [5..=8 ignorable] = -1,
        ungrouped_partition_states: Vec<UpdateMetadataPartitionState> [0..=4],
        topic_states: Vec<UpdateMetadataTopicState> [5..=8],
        live_brokers: Vec<UpdateMetadataBroker> [0..=8],
    }
    struct UpdateMetadataPartitionState {
        topic_name: String [0..=4 ignorable],
        partition_index: i32 [0..=8],
        controller_epoch: i32 [0..=8],
        leader: i32 [0..=8],
        leader_epoch: i32 [0..=8],
        isr: Vec<i32> [0..=8],
        zk_version: i32 [0..=8],
        replicas: Vec<i32> [0..=8],
        offline_replicas: Vec<i32> [4..=8 ignorable],
    }
    struct UpdateMetadataTopicState {
        topic_name: String [5..=8],
        topic_id: Uuid [7..=8 ignorable],
        partition_states: Vec<UpdateMetadataPartitionState> [5..=8],
    }
    struct UpdateMetadataBroker {
        id: i32 [0..=8],
        v0_host: String [0..=0 ignorable],
        v0_port: i32 [0..=0 ignorable],
        endpoints: Vec<UpdateMetadataEndpoint> [1..=8 ignorable],
        rack: Option<String> [2..=8 null 0 ignorable] = Some(String::new()),
    }
    struct UpdateMetadataEndpoint {
        port: i32 [1..=8],
        host: String [1..=8],
        listener: String [3..=8 ignorable],
        security_protocol: i16 [1..=8],
    }
}

declare! {
    UpdateMetadataResponse: response, versions 0..=8, flexible 6;
    struct UpdateMetadataResponse {
        error_code: i16 [0..=8],
    }
}
