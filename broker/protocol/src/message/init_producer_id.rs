//! InitProducerId: gives a producer its id and epoch.

use super::declare::declare;

declare! {
    InitProducerIdRequest: request InitProducerId -> InitProducerIdResponse, versions 0..=5, flexible 2;
    struct InitProducerIdRequest {
        transactional_id: Option<String> [0..=5 null 0] = Some(String::new()),
        transaction_timeout_ms: i32 [0..=5],
        producer_id: i64 [3..=5] = -1,
        producer_epoch: i16 [3..=5] = -1,
    }
}

declare! {
    InitProducerIdResponse: response, versions 0..=5, flexible 2;
    struct InitProducerIdResponse {
        throttle_time_ms: i32 [0..=5 ignorable],
        error_code: i16 [0..=5],
        producer_id: i64 [0..=5] = -1,
        producer_epoch: i16 [0..=5],
    }
}
