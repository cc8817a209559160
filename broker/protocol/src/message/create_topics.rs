//! CreateTopics: creates topics.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    CreateTopicsRequest: request CreateTopics -> CreateTopicsResponse, versions 0..=7, flexible 5;
    struct CreateTopicsRequest {
        topics: Vec<CreatableTopic> [0..=7],
        timeout_ms: i32 [0..=7] = 60000,
        validate_only: bool [1..=7],
    }
    struct CreatableTopic {
        name: String [0..=7],
        num_partitions: i32 [0..=7],
        replication_factor: i16 [0..=7],
        assignments: Vec<CreatableReplicaAssignment> [0..=7],
        configs: Vec<CreatableTopicConfig> [0..=7],
    }
    struct CreatableReplicaAssignment {
        partition_index: i32 [0..=7],
        broker_ids: Vec<i32> [0..=7],
    }
    struct CreatableTopicConfig {
        name: String [0..=7],
        value: Option<String> [0..=7 null 0] = Some(String::new()),
    }
}

declare! {
    CreateTopicsResponse: response, versions 0..=7, flexible 5;
    struct CreateTopicsResponse {
        throttle_time_ms: i32 [2..=7 ignorable],
        topics: Vec<CreatableTopicResult> [0..=7],
    }
    struct CreatableTopicResult {
        name: String [0..=7],
        topic_id: Uuid [7..=7 ignorable],
        error_code: i16 [0..=7],
        error_message: Option<String> [1..=7 null 0 ignorable] = Some(String::new()),
        topic_config_error_code: i16 [5..=7 tag 0 ignorable],
        num_partitions: i32 [5..=7 ignorable] = -1,
        replication_factor: i16 [5..=7 ignorable] = -1,
        configs: Option<Vec<CreatableTopicConfigs>> [5..=7 null 5 ignorable] = Some(Vec::new()),
    }
    struct CreatableTopicConfigs {
        name: String [5..=7],
        value: Option<String> [5..=7 null 5] = Some(String::new()),
        read_only: bool [5..=7],
        config_source: i8 [5..=7 ignorable] = -1,
        is_sensitive: bool [5..=7],
    }
}
