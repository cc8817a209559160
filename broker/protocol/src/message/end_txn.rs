//! EndTxn: commits or aborts a transaction.

use super::declare::declare;

declare! {
    EndTxnRequest: request EndTxn -> EndTxnResponse, versions 0..=4, flexible 3;
    struct EndTxnRequest {
        transactional_id: String [0..=4],
        producer_id: i64 [0..=4],
        producer_epoch: i16 [0..=4],
        committed: bool [0..=4],
    }
}

declare! {
    EndTxnResponse: response, versions 0..=4, flexible 3;
    struct EndTxnResponse {
        throttle_time_ms: i32 [0..=4],
        error_code: i16 [0..=4],
    }
}
