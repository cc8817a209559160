//! AlterReplicaLogDirs: moves replicas between directories of a broker.

use super::declare::declare;

declare! {
    AlterReplicaLogDirsRequest: request AlterReplicaLogDirs -> AlterReplicaLogDirsResponse, versions 0..=2, flexible 2;
    struct AlterReplicaLogDirsRequest {
        dirs: Vec<AlterReplicaLogDir> [0..=2],
    }
    struct AlterReplicaLogDir {
        path: String [0..=2],
        topics: Vec<AlterReplicaLogDirTopic> [0..=2],
    }
    struct AlterReplicaLogDirTopic {
        name: String [0..=2],
        partitions: Vec<i32> [0..=2],
    }
}

declare! {
    AlterReplicaLogDirsResponse: response, versions 0..=2, flexible 2;
    struct AlterReplicaLogDirsResponse {
        throttle_time_ms: i32 [0..=2],
        results: Vec<AlterReplicaLogDirTopicResult> [0..=2],
    }
    struct AlterReplicaLogDirTopicResult {
        topic_name: String [0..=2],
        partitions: Vec<AlterReplicaLogDirPartitionResult> [0..=2],
    }
    struct AlterReplicaLogDirPartitionResult {
        partition_index: i32 [0..=2],
        error_code: i16 [0..=2],
    }
}
