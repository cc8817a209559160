//! AddPartitionsToTxn: adds partitions to a transaction.

use super::declare::declare;

declare! {
    AddPartitionsToTxnRequest: request AddPartitionsToTxn -> AddPartitionsToTxnResponse, versions 0..=5, flexible 3;
    struct AddPartitionsToTxnRequest {
        transactions: Vec<AddPartitionsToTxnTransaction> [4..=5],
        v3_and_below_transactional_id: String [0..=3],
        v3_and_below_producer_id: i64 [0..=3],
        v3_and_below_producer_epoch: i16 [0..=3],
        v3_and_below_topics: Vec<AddPartitionsToTxnTopic> [0..=3],
    }
    struct AddPartitionsToTxnTopic {
        name: String [0..=5],
        partitions: Vec<i32> [0..=5],
    }
    struct AddPartitionsToTxnTransaction {
        transactional_id: String [4..=5],
        producer_id: i64 [4..=5],
        producer_epoch: i16 [4..=5],
        verify_only: bool [4..=5],
        topics: Vec<AddPartitionsToTxnTopic> [4..=5],
    }
}

declare! {
    AddPartitionsToTxnResponse: response, versions 0..=5, flexible 3;
    struct AddPartitionsToTxnResponse {
        throttle_time_ms: i32 [0..=5],
        error_code: i16 [4..=5 ignorable],
        results_by_transaction: Vec<AddPartitionsToTxnResult> [4..=5],
        results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult> [0..=3],
    }
    struct AddPartitionsToTxnTopicResult {
        name: String [0..=5],
        results_by_partition: Vec<AddPartitionsToTxnPartitionResult> [0..=5],
    }
    struct AddPartitionsToTxnPartitionResult {
        partition_index: i32 [0..=5],
        partition_error_code: i16 [0..=5],
    }
    struct AddPartitionsToTxnResult {
        transactional_id: String [4..=5],
        topic_results: Vec<AddPartitionsToTxnTopicResult> [4..=5],
    }
}
