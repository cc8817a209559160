//! OffsetDelete: forgets how far a group has read.

use super::declare::declare;

declare! {
    OffsetDeleteRequest: request OffsetDelete -> OffsetDeleteResponse, versions 0..=0;
    struct OffsetDeleteRequest {
        group_id: String [0..=0],
        topics: Vec<OffsetDeleteRequestTopic> [0..=0],
    }
    struct OffsetDeleteRequestTopic {
        name: String [0..=0],
        partitions: Vec<OffsetDeleteRequestPartition> [0..=0],
    }
    struct OffsetDeleteRequestPartition {
        partition_index: i32 [0..=0],
    }
}

declare! {
    OffsetDeleteResponse: response, versions 0..=0;
    struct OffsetDeleteResponse {
        error_code: i16 [0..=0],
        throttle_time_ms: i32 [0..=0 ignorable],
        topics: Vec<OffsetDeleteResponseTopic> [0..=0],
    }
    struct OffsetDeleteResponseTopic {
        name: String [0..=0],
        partitions: Vec<OffsetDeleteResponsePartition> [0..=0],
    }
    struct OffsetDeleteResponsePartition {
        partition_index: i32 [0..=0],
        error_code: i16 [0..=0],
    }
}
