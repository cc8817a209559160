//! DeleteTopics: deletes topics.

use super::declare::declare;
use crate::wire::Uuid;

declare! {
    DeleteTopicsRequest: request DeleteTopics -> DeleteTopicsResponse, versions 0..=6, flexible 4;
    struct DeleteTopicsRequest {
        topics: Vec<DeleteTopicState> [6..=6],
        topic_names: Vec<String> [0..=5 ignorable],
        timeout_ms: i32 [0..=6],
    }
    struct DeleteTopicState {
        name: Option<String> [6..=6 null 6],
        topic_id: Uuid [6..=6],
    }
}

declare! {
    DeleteTopicsResponse: response, versions 0..=6, flexible 4;
    struct DeleteTopicsResponse {
        throttle_time_ms: i32 [1..=6 ignorable],
        responses: Vec<DeletableTopicResult> [0..=6],
    }
    struct DeletableTopicResult {
        name: Option<String> [0..=6 null 6] = Some(String::new()),
        topic_id: Uuid [6..=6 ignorable],
        error_code: i16 [0..=6],
        error_message: Option<String> [5..=6 null 5 ignorable],
    }
}
