//! How a log manager is opened.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::cleaner::CleanerOptions;
use super::clock::{Clock, system_clock};
use super::config::LogConfig;
use super::directory::OnFailure;
use crate::disk::{Disk, RealDisk};
use crate::types::BrokerId;

/// What a log manager needs to know.
pub struct LogManagerOptions {
    /// The directories of `log.dirs`; at least one.
    pub directories: Vec<PathBuf>,
    /// The broker's id; a directory of another broker is refused.
    pub broker_id: BrokerId,
    /// The cluster's id; a directory of another cluster is refused.
    pub cluster_id: String,
    /// The settings of topics without overrides.
    pub defaults: LogConfig,
    /// The settings of topics with overrides, by topic.
    pub topics: BTreeMap<String, LogConfig>,
    /// `num.recovery.threads.per.data.dir`.
    pub recovery_threads: usize,
    /// How often background work is looked at.
    pub intervals: Intervals,
    /// How compacted topics are cleaned.
    pub cleaner: CleanerOptions,
    /// `producer.id.expiration.ms`.
    pub producer_expiration_ms: i64,
    /// `log.segment.delete.delay.ms`: how long a deleted partition's directory stays.
    pub delete_delay_ms: i64,
    /// At most about this many files are held open; a larger number of segments is opened on demand.
    pub open_files_max: usize,
    /// Where files are.
    pub disk: Arc<dyn Disk>,
    /// What time it is.
    pub clock: Clock,
    /// Told when a directory goes offline.
    pub on_directory_failure: Option<OnFailure>,
}

/// How often background work is looked at, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// `log.initial.task.delay.ms`: when each is looked at first.
    pub initial_delay_ms: u64,
    /// `log.retention.check.interval.ms`.
    pub retention_check_ms: u64,
    /// `log.flush.scheduler.interval.ms`; never by default.
    pub flush_scheduler_ms: u64,
    /// `log.flush.offset.checkpoint.interval.ms`.
    pub recovery_point_checkpoint_ms: u64,
    /// `log.flush.start.offset.checkpoint.interval.ms`.
    pub log_start_checkpoint_ms: u64,
    /// `replica.high.watermark.checkpoint.interval.ms`.
    pub high_watermark_checkpoint_ms: u64,
    /// `producer.id.expiration.check.interval.ms`.
    pub producer_expiration_check_ms: u64,
}

impl Default for Intervals {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            initial_delay_ms: 30_000,
            retention_check_ms: 300_000,
            flush_scheduler_ms: u64::MAX,
            recovery_point_checkpoint_ms: 60_000,
            log_start_checkpoint_ms: 60_000,
            high_watermark_checkpoint_ms: 5_000,
            producer_expiration_check_ms: 600_000,
        }
    }
}

impl LogManagerOptions {
    /// Returns options with Kafka's defaults, on the real disk and by the real clock.
    #[must_use]
    pub fn new(directories: Vec<PathBuf>, broker_id: BrokerId, cluster_id: impl Into<String>) -> Self {
        Self {
            directories,
            broker_id,
            cluster_id: cluster_id.into(),
            defaults: LogConfig::default(),
            topics: BTreeMap::new(),
            recovery_threads: 1,
            intervals: Intervals::default(),
            cleaner: CleanerOptions::default(),
            producer_expiration_ms: 86_400_000,
            delete_delay_ms: 60_000,
            open_files_max: open_files_limit(),
            disk: Arc::new(RealDisk),
            clock: system_clock(),
            on_directory_failure: None,
        }
    }

    pub(super) fn config_for(&self, topic: &str) -> LogConfig {
        self.topics.get(topic).unwrap_or(&self.defaults).clone()
    }
}

/// Returns half of what the process may open, leaving the rest for sockets.
fn open_files_limit() -> usize {
    const LEAST: u64 = 64;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    usize::try_from((limit.current.unwrap_or(1 << 16) / 2).max(LEAST)).unwrap_or(usize::MAX)
}

impl fmt::Debug for LogManagerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogManagerOptions")
            .field("directories", &self.directories)
            .field("broker_id", &self.broker_id)
            .field("cluster_id", &self.cluster_id)
            .finish_non_exhaustive()
    }
}
