//! DescribeLogDirs: what lies in this broker's directories.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ottla_protocol::message::describe_log_dirs::{
    DescribableLogDirTopic, DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use ottla_protocol::message::{DescribeLogDirsRequest, DescribeLogDirsResponse, ErrorCode};

use super::api::Api;
use super::call::Call;
use crate::log::DirectoryReport;
use crate::types::TopicPartition;

pub(super) fn handle(api: &Arc<Api>, call: Call<DescribeLogDirsRequest>) {
    let wanted = Wanted::of(call.body.topics);
    let results = api.logs.report().into_iter().map(|directory| describe(api, directory, &wanted));
    let response =
        DescribeLogDirsResponse { results: results.collect(), ..DescribeLogDirsResponse::default() };
    call.reply.send(&response);
}

/// Which partitions are asked about.
#[derive(Debug)]
enum Wanted {
    All,
    Some(BTreeMap<String, Vec<i32>>),
}

impl Wanted {
    fn of(topics: Option<Vec<DescribableLogDirTopic>>) -> Self {
        match topics {
            None => Self::All,
            Some(topics) => {
                Self::Some(topics.into_iter().map(|topic| (topic.topic, topic.partitions)).collect())
            }
        }
    }

    fn has(&self, partition: &TopicPartition) -> bool {
        match self {
            Self::All => true,
            Self::Some(topics) => topics
                .get(partition.topic.as_ref())
                .is_some_and(|partitions| partitions.contains(&partition.partition)),
        }
    }
}

fn describe(api: &Api, directory: DirectoryReport, wanted: &Wanted) -> DescribeLogDirsResult {
    let log_dir = absolute(&directory.path);
    if directory.failure.is_some() {
        let error_code = ErrorCode::KafkaStorageError.code();
        return DescribeLogDirsResult { error_code, log_dir, ..DescribeLogDirsResult::default() };
    }
    let mut topics: BTreeMap<String, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    for (partition, size) in directory.logs.into_iter().filter(|(partition, _)| wanted.has(partition)) {
        let row = DescribeLogDirsPartition {
            partition_index: partition.partition,
            partition_size: i64::try_from(size).unwrap_or(i64::MAX),
            offset_lag: lag(api, &partition),
            is_future_key: false,
            ..DescribeLogDirsPartition::default()
        };
        topics.entry(partition.topic.to_string()).or_default().push(row);
    }
    let topics = topics.into_iter().map(|(name, mut partitions)| {
        partitions.sort_by_key(|partition| partition.partition_index);
        DescribeLogDirsTopic { name, partitions, ..DescribeLogDirsTopic::default() }
    });
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let (total, usable) = directory.volume.map_or((-1, -1), |(total, usable)| (bytes(total), bytes(usable)));
    DescribeLogDirsResult {
        log_dir,
        topics: topics.collect(),
        total_bytes: total,
        usable_bytes: usable,
        ..DescribeLogDirsResult::default()
    }
}

/// How far the log end lies behind the high watermark: only while a follower catches up.
fn lag(api: &Api, partition: &TopicPartition) -> i64 {
    api.logs.get(partition).map_or(-1, |log| log.high_watermark().distance_from(log.log_end_offset()))
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_unknown| path.to_owned()).display().to_string()
}
