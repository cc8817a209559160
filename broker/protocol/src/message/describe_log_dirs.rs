//! DescribeLogDirs: tells what lies in a broker's directories.

use super::declare::declare;

declare! {
    DescribeLogDirsRequest: request DescribeLogDirs -> DescribeLogDirsResponse, versions 0..=4, flexible 2;
    struct DescribeLogDirsRequest {
        topics: Option<Vec<DescribableLogDirTopic>> [0..=4 null 0] = Some(Vec::new()),
    }
    struct DescribableLogDirTopic {
        topic: String [0..=4],
        partitions: Vec<i32> [0..=4],
    }
}

declare! {
    DescribeLogDirsResponse: response, versions 0..=4, flexible 2;
    struct DescribeLogDirsResponse {
        throttle_time_ms: i32 [0..=4],
        error_code: i16 [3..=4 ignorable],
        results: Vec<DescribeLogDirsResult> [0..=4],
    }
    struct DescribeLogDirsResult {
        error_code: i16 [0..=4],
        log_dir: String [0..=4],
        topics: Vec<DescribeLogDirsTopic> [0..=4],
        total_bytes: i64 [4..=4 ignorable] = -1,
        usable_bytes: i64 [4..=4 ignorable] = -1,
    }
    struct DescribeLogDirsTopic {
        name: String [0..=4],
        partitions: Vec<DescribeLogDirsPartition> [0..=4],
    }
    struct DescribeLogDirsPartition {
        partition_index: i32 [0..=4],
        partition_size: i64 [0..=4],
        offset_lag: i64 [0..=4],
        is_future_key: bool [0..=4],
    }
}
