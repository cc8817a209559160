//! AllocateProducerIds: gives a broker a block of producer ids.

use super::declare::declare;

declare! {
    AllocateProducerIdsRequest: request AllocateProducerIds -> AllocateProducerIdsResponse, versions 0..=0, flexible 0;
    struct AllocateProducerIdsRequest {
        broker_id: i32 [0..=0],
        broker_epoch: i64 [0..=0] = -1,
    }
}

declare! {
    AllocateProducerIdsResponse: response, versions 0..=0, flexible 0;
    struct AllocateProducerIdsResponse {
        throttle_time_ms: i32 [0..=0],
        error_code: i16 [0..=0],
        producer_id_start: i64 [0..=0],
        producer_id_len: i32 [0..=0],
    }
}
