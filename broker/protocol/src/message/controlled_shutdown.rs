//! ControlledShutdown: a broker asks the controller to move its leaderships before it stops.

use super::declare::declare;

declare! {
    ControlledShutdownRequest: request ControlledShutdown -> ControlledShutdownResponse, versions 0..=3, flexible 3;
    struct ControlledShutdownRequest {
        broker_id: i32 [0..=3],
        broker_epoch: i64 [2..=3 ignorable] = -1,
    }
}

declare! {
    ControlledShutdownResponse: response, versions 0..=3, flexible 3;
    struct ControlledShutdownResponse {
        error_code: i16 [0..=3],
        remaining_partitions: Vec<RemainingPartition> [0..=3],
    }
    struct RemainingPartition {
        topic_name: String [0..=3],
        partition_index: i32 [0..=3],
    }
}
