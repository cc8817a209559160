//! ConsumerGroupHeartbeat: the heartbeat of the newer group protocol.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    ConsumerGroupHeartbeatRequest: request ConsumerGroupHeartbeat -> ConsumerGroupHeartbeatResponse, versions 0..=0, flexible 0;
    struct ConsumerGroupHeartbeatRequest {
        group_id: String [0..=0],
        member_id: String [0..=0],
        member_epoch: i32 [0..=0],
        instance_id: Option<String> [0..=0 null 0],
        rack_id: Option<String> [0..=0 null 0],
        rebalance_timeout_ms: i32 [0..=0] = -1,
        subscribed_topic_names: Option<Vec<String>> [0..=0 null 0],
        server_assignor: Option<String> [0..=0 null 0],
        topic_partitions: Option<Vec<TopicPartitions>> [0..=0 null 0],
    }
    struct TopicPartitions {
        topic_id: Uuid [0..=0],
        partitions: Vec<i32> [0..=0],
    }
}

declare! {
    ConsumerGroupHeartbeatResponse: response, versions 0..=0, flexible 0;
    struct ConsumerGroupHeartbeatResponse {
        throttle_time_ms: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0],
        member_id: Option<String> [0..=0 null 0],
        member_epoch: i32 [0..=0],
        heartbeat_interval_ms: i32 [0..=0],
        assignment: Option<Box<Assignment>> [0..=0 null 0],
    }
    struct TopicPartitionsResponse {
        topic_id: Uuid [0..=0],
        partitions: Vec<i32> [0..=0],
    }
    struct Assignment {
        topic_partitions: Vec<TopicPartitionsResponse> [0..=0],
    }
}
