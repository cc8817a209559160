//! ConsumerGroupDescribe: describes groups of the newer protocol.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    ConsumerGroupDescribeRequest: request ConsumerGroupDescribe -> ConsumerGroupDescribeResponse, versions 0..=0, flexible 0;
    struct ConsumerGroupDescribeRequest {
        group_ids: Vec<String> [0..=0],
        include_authorized_operations: bool [0..=0],
    }
}

declare! {
    ConsumerGroupDescribeResponse: response, versions 0..=0, flexible 0;
    struct ConsumerGroupDescribeResponse {
        throttle_time_ms: i32 [0..=0],
        groups: Vec<DescribedGroup> [0..=0],
    }
    struct TopicPartitions {
        topic_id: Uuid [0..=0],
        topic_name: String [0..=0],
        partitions: Vec<i32> [0..=0],
    }
    struct Assignment {
        topic_partitions: Vec<TopicPartitions> [0..=0],
    }
    struct DescribedGroup {
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0],
        group_id: String [0..=0],
        group_state: String [0..=0],
        group_epoch: i32 [0..=0],
        assignment_epoch: i32 [0..=0],
        assignor_name: String [0..=0],
        members: Vec<Member> [0..=0],
        authorized_operations: i32 [0..=0] = -2_147_483_648,
    }
    struct Member {
        member_id: String [0..=0],
        instance_id: Option<String> [0..=0 null 0],
        rack_id: Option<String> [0..=0 null 0],
        member_epoch: i32 [0..=0],
        client_id: String [0..=0],
        client_host: String [0..=0],
        subscribed_topic_names: Vec<String> [0..=0],
        subscribed_topic_regex: Option<String> [0..=0 null 0],
        assignment: Assignment [0..=0],
        target_assignment: Assignment [0..=0],
    }
}
