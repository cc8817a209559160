//! ListTransactions: tells which transactions a broker coordinates.

use super::declare::declare;

declare! {
    ListTransactionsRequest: request ListTransactions -> ListTransactionsResponse, versions 0..=1, flexible 0;
    struct ListTransactionsRequest {
        state_filters: Vec<String> [0..=1],
        producer_id_filters: Vec<i64> [0..=1],
        duration_filter: i64 [1..=1] = -1,
    }
}

declare! {
    ListTransactionsResponse: response, versions 0..=1, flexible 0;
    struct ListTransactionsResponse {
        throttle_time_ms: i32 [0..=1],
        error_code: i16 [0..=1],
        unknown_state_filters: Vec<String> [0..=1],
        transaction_states: Vec<TransactionState> [0..=1],
    }
    struct TransactionState {
        transactional_id: String [0..=1],
        producer_id: i64 [0..=1],
        transaction_state: String [0..=1],
    }
}
