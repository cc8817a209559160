//! DescribeTransactions: tells the state of transactions.

use super::declare::declare;

declare! {
    DescribeTransactionsRequest: request DescribeTransactions -> DescribeTransactionsResponse, versions 0..=0, flexible 0;
    struct DescribeTransactionsRequest {
        transactional_ids: Vec<String> [0..=0],
    }
}

declare! {
    DescribeTransactionsResponse: response, versions 0..=0, flexible 0;
    struct DescribeTransactionsResponse {
        throttle_time_ms: i32 [0..=0],
        transaction_states: Vec<TransactionState> [0..=0],
    }
    struct TransactionState {
        error_code: i16 [0..=0],
        transactional_id: String [0..=0],
        transaction_state: String [0..=0],
        transaction_timeout_ms: i32 [0..=0],
        transaction_start_time_ms: i64 [0..=0],
        producer_id: i64 [0..=0],
        producer_epoch: i16 [0..=0],
        topics: Vec<TopicData> [0..=0],
    }
    struct TopicData {
        topic: String [0..=0],
        partitions: Vec<i32> [0..=0],
    }
}
