//! WriteTxnMarkers: writes the end of transactions to partitions.

use super::declare::declare;

declare! {
    WriteTxnMarkersRequest: request WriteTxnMarkers -> WriteTxnMarkersResponse, versions 0..=1, flexible 1;
    struct WriteTxnMarkersRequest {
        markers: Vec<WritableTxnMarker> [0..=1],
    }
    struct WritableTxnMarker {
        producer_id: i64 [0..=1],
        producer_epoch: i16 [0..=1],
        transaction_result: bool [0..=1],
        topics: Vec<WritableTxnMarkerTopic> [0..=1],
        coordinator_epoch: i32 [0..=1],
    }
    struct WritableTxnMarkerTopic {
        name: String [0..=1],
        partition_indexes: Vec<i32> [0..=1],
    }
}

declare! {
    WriteTxnMarkersResponse: response, versions 0..=1, flexible 1;
    struct WriteTxnMarkersResponse {
        markers: Vec<WritableTxnMarkerResult> [0..=1],
    }
    struct WritableTxnMarkerResult {
        producer_id: i64 [0..=1],
        topics: Vec<WritableTxnMarkerTopicResult> [0..=1],
    }
    struct WritableTxnMarkerTopicResult {
        name: String [0..=1],
        partitions: Vec<WritableTxnMarkerPartitionResult> [0..=1],
    }
    struct WritableTxnMarkerPartitionResult {
        partition_index: i32 [0..=1],
        error_code: i16 [0..=1],
    }
}
