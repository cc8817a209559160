//! ElectLeaders: elects preferred leaders, or unclean ones.

use super::declare::declare;

declare! {
    ElectLeadersRequest: request ElectLeaders -> ElectLeadersResponse, versions 0..=2, flexible 2;
    struct ElectLeadersRequest {
        election_type: i8 [1..=2],
        topic_partitions: Option<Vec<TopicPartitions>> [0..=2 null 0] = Some(Vec::new()),
        timeout_ms: i32 [0..=2] = 60000,
    }
    struct TopicPartitions {
        topic: String [0..=2],
        partitions: Vec<i32> [0..=2],
    }
}

declare! {
    ElectLeadersResponse: response, versions 0..=2, flexible 2;
    struct ElectLeadersResponse {
        throttle_time_ms: i32 [0..=2],
        error_code: i16 [1..=2],
        replica_election_results: Vec<ReplicaElectionResult> [0..=2],
    }
    struct ReplicaElectionResult {
        topic: String [0..=2],
        partition_result: Vec<PartitionResult> [0..=2],
    }
    struct PartitionResult {
        partition_id: i32 [0..=2],
        error_code: i16 [0..=2],
        error_message: Option<String> [0..=2 null 0] = Some(String::new()),
    }
}
