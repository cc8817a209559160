//! LeaderAndIsr: the controller tells a broker what it leads and follows.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    LeaderAndIsrRequest: request LeaderAndIsr -> LeaderAndIsrResponse, versions 0..=7, flexible 4;
    struct LeaderAndIsrRequest {
        controller_id: i32 [0..=7],
        is_k_raft_controller: bool [7..=7],
        controller_epoch: i32 [0..=7],
        broker_epoch: i64 [2..=7 ignorable] = -1,
        r#type: i8 [5..=7],
        ungrouped_partition_states: Vec<LeaderAndIsrPartitionState> [0..=1],
        topic_states: Vec<LeaderAndIsrTopicState> [2..=7],
        live_leaders: Vec<LeaderAndIsrLiveLeader> [0..=7],
    }
    struct LeaderAndIsrPartitionState {
        topic_name: String [0..=1 ignorable],
        partition_index: i32 [0..=7],
        controller_epoch: i32 [0..=7],
        leader: i32 [0..=7],
        leader_epoch: i32 [0..=7],
        isr: Vec<i32> [0..=7],
        partition_epoch: i32 [0..=7],
        replicas: Vec<i32> [0..=7],
        adding_replicas: Vec<i32> [3..=7 ignorable],
        removing_replicas: Vec<i32> [3..=7 ignorable],
        is_new: bool [1..=7 ignorable],
        leader_recovery_state: i8 [6..=7],
    }
    struct LeaderAndIsrTopicState {
        topic_name: String [2..=7],
        topic_id: Uuid [5..=7 ignorable],
        partition_states: Vec<LeaderAndIsrPartitionState> [2..=7],
    }
    struct LeaderAndIsrLiveLeader {
        broker_id: i32 [0..=7],
        host_name: String [0..=7],
        port: i32 [0..=7],
    }
}

declare! {
    LeaderAndIsrResponse: response, versions 0..=7, flexible 4;
    struct LeaderAndIsrResponse {
        error_code: i16 [0..=7],
        partition_errors: Vec<LeaderAndIsrPartitionError> [0..=4],
        topics: Vec<LeaderAndIsrTopicError> [5..=7],
    }
    struct LeaderAndIsrPartitionError {
        topic_name: String [0..=4 ignorable],
        partition_index: i32 [0..=7],
        error_code: i16 [0..=7],
    }
    struct LeaderAndIsrTopicError {
        topic_id: Uuid [5..=7],
        partition_errors: Vec<LeaderAndIsrPartitionError> [5..=7],
    }
}
