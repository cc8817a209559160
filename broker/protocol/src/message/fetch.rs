//! Fetch: reads record batches of partitions; followers replicate with it.

use super::declare::declare;
use crate::wire::{Records, Uuid};

declare! {
    FetchRequest: request Fetch -> FetchResponse, versions 0..=17, flexible 12;
    struct FetchRequest {
        cluster_id: Option<String> [12..=17 null 12 tag 0 ignorable],
        replica_id: i32 [0..=14] = -1,
        replica_state: ReplicaState [15..=17 tag 1],
        max_wait_ms: i32 [0..=17],
        min_bytes: i32 [0..=17],
        max_bytes: i32 [3..=17 ignorable] = 2_147_483_647,
        isolation_level: i8 [4..=17 ignorable],
        session_id: i32 [7..=17 ignorable],
        session_epoch: i32 [7..=17 ignorable] = -1,
        topics: Vec<FetchTopic> [0..=17],
        forgotten_topics_data: Vec<ForgottenTopic> [7..=17],
        rack_id: String [11..=17 ignorable],
    }
    struct ReplicaState {
        replica_id: i32 [15..=17] = -1,
        replica_epoch: i64 [15..=17] = -1,
    }
    struct FetchTopic {
        topic: String [0..=12 ignorable],
        topic_id: Uuid [13..=17 ignorable],
        partitions: Vec<FetchPartition> [0..=17],
    }
    struct ForgottenTopic {
        topic: String [7..=12 ignorable],
        topic_id: Uuid [13..=17 ignorable],
        partitions: Vec<i32> [7..=17],
    }
    struct FetchPartition {
        partition: i32 [0..=17],
        current_leader_epoch: i32 [9..=17 ignorable] = -1,
        fetch_offset: i64 [0..=17],
        last_fetched_epoch: i32 [12..=17] = -1,
        log_start_offset: i64 [5..=17 ignorable] = -1,
        partition_max_bytes: i32 [0..=17],
        replica_directory_id: Uuid [17..=17 tag 0 ignorable],
    }
}

declare! {
    FetchResponse: response, versions 0..=17, flexible 12;
    struct FetchResponse {
        throttle_time_ms: i32 [1..=17 ignorable],
        error_code: i16 [7..=17 ignorable],
        session_id: i32 [7..=17],
        responses: Vec<FetchableTopicResponse> [0..=17],
        node_endpoints: Vec<NodeEndpoint> [16..=17 tag 0],
    }
    struct FetchableTopicResponse {
        topic: String [0..=12 ignorable],
        topic_id: Uuid [13..=17 ignorable],
        partitions: Vec<PartitionData> [0..=17],
    }
    struct NodeEndpoint {
        node_id: i32 [16..=17],
        host: String [16..=17],
        port: i32 [16..=17],
        rack: Option<String> [16..=17 null 16],
    }
    struct PartitionData {
        partition_index: i32 [0..=17],
        error_code: i16 [0..=17],
        high_watermark: i64 [0..=17],
        last_stable_offset: i64 [4..=17 ignorable] = -1,
        log_start_offset: i64 [5..=17 ignorable] = -1,
        diverging_epoch: EpochEndOffset [12..=17 tag 0],
        current_leader: LeaderIdAndEpoch [12..=17 tag 1],
        snapshot_id: SnapshotId [12..=17 tag 2],
        aborted_transactions: Option<Vec<AbortedTransaction>> [4..=17 null 4 ignorable] = Some(Vec::new()),
        preferred_read_replica: i32 [11..=17] = -1,
        records: Records [0..=17 null 0],
    }
    struct EpochEndOffset {
        epoch: i32 [12..=17] = -1,
        end_offset: i64 [12..=17] = -1,
    }
    struct LeaderIdAndEpoch {
        leader_id: i32 [12..=17] = -1,
        leader_epoch: i32 [12..=17] = -1,
    }
    struct SnapshotId {
        end_offset: i64 [0..=17] = -1,
        epoch: i32 [0..=17] = -1,
    }
    struct AbortedTransaction {
        producer_id: i64 [4..=17],
        first_offset: i64 [4..=17],
    }
}
