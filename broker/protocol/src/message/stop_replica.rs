//! StopReplica: the controller tells a broker to stop or delete replicas.

use super::declare::declare;

declare! {
    StopReplicaRequest: request StopReplica -> StopReplicaResponse, versions 0..=4, flexible 2;
    struct StopReplicaRequest {
        controller_id: i32 [0..=4],
        is_k_raft_controller: bool [4..=4],
        controller_epoch: i32 [0..=4],
        broker_epoch: i64 [1..=4 ignorable] = -1,
        delete_partitions: bool [0..=2],
        ungrouped_partitions: Vec<StopReplicaPartitionV0> [0..=0],
        topics: Vec<StopReplicaTopicV1> [1..=2],
        topic_states: Vec<StopReplicaTopicState> [3..=4],
    }
    struct StopReplicaPartitionV0 {
        topic_name: String [0..=0],
        partition_index: i32 [0..=0],
    }
    struct StopReplicaTopicV1 {
        name: String [1..=2],
        partition_indexes: Vec<i32> [1..=2],
    }
    struct StopReplicaTopicState {
        topic_name: String [3..=4],
        partition_states: Vec<StopReplicaPartitionState> [3..=4],
    }
    struct StopReplicaPartitionState {
        partition_index: i32 [3..=4],
        leader_epoch: i32 [3..=4] = -1,
        delete_partition: bool [3..=4],
    }
}

declare! {
    StopReplicaResponse: response, versions 0..=4, flexible 2;
    struct StopReplicaResponse {
        error_code: i16 [0..=4],
        partition_errors: Vec<StopReplicaPartitionError> [0..=4],
    }
    struct StopReplicaPartitionError {
        topic_name: String [0..=4],
        partition_index: i32 [0..=4],
        error_code: i16 [0..=4],
    }
}
