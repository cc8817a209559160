//! AddOffsetsToTxn: adds a group's offsets to a transaction.

use super::declare::declare;

declare! {
    AddOffsetsToTxnRequest: request AddOffsetsToTxn -> AddOffsetsToTxnResponse, versions 0..=4, flexible 3;
    struct AddOffsetsToTxnRequest {
        transactional_id: String [0..=4],
        producer_id: i64 [0..=4],
        producer_epoch: i16 [0..=4],
        group_id: String [0..=4],
    }
}

declare! {
    AddOffsetsToTxnResponse: response, versions 0..=4, flexible 3;
    struct AddOffsetsToTxnResponse {
        throttle_time_ms: i32 [0..=4],
        error_code: i16 [0..=4],
    }
}
