//! What the configuration says about logs, as the log manager takes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::{BrokerConfig, TopicConfig};
use crate::log::{CleanerOptions, Intervals, LogConfig, LogManagerOptions};
use crate::types::BrokerId;

/// Returns how the logs of `broker` are opened; `topics` are those with settings of their own.
pub(crate) fn log_options(
    broker: BrokerId,
    cluster_id: &str,
    config: &BrokerConfig,
    topics: &BTreeMap<String, TopicConfig>,
) -> LogManagerOptions {
    let directories = config.log_directories().iter().map(PathBuf::from).collect();
    let topics = topics.iter().map(|(topic, config)| (topic.clone(), LogConfig::from(config)));
    LogManagerOptions {
        defaults: LogConfig::from(&TopicConfig::of_broker(config)),
        topics: topics.collect(),
        recovery_threads: usize::try_from(config.num_recovery_threads_per_data_dir).unwrap_or(1),
        intervals: intervals(config),
        cleaner: cleaner(config),
        producer_expiration_ms: i64::from(config.producer_id_expiration_ms),
        delete_delay_ms: config.log_segment_delete_delay_ms,
        ..LogManagerOptions::new(directories, broker, cluster_id)
    }
}

fn cleaner(config: &BrokerConfig) -> CleanerOptions {
    let threads = if config.log_cleaner_enable { config.log_cleaner_threads } else { 0 };
    CleanerOptions {
        threads: usize::try_from(threads).unwrap_or(0),
        dedupe_buffer_bytes: usize::try_from(config.log_cleaner_dedupe_buffer_size).unwrap_or(usize::MAX),
        backoff_ms: u64::try_from(config.log_cleaner_backoff_ms).unwrap_or(0),
    }
}

fn intervals(config: &BrokerConfig) -> Intervals {
    let ms = |ms: i64| u64::try_from(ms).unwrap_or(0);
    Intervals {
        initial_delay_ms: ms(config.log_initial_task_delay_ms),
        retention_check_ms: ms(config.log_retention_check_interval_ms),
        flush_scheduler_ms: ms(config.log_flush_scheduler_interval_ms),
        recovery_point_checkpoint_ms: ms(i64::from(config.log_flush_offset_checkpoint_interval_ms)),
        log_start_checkpoint_ms: ms(i64::from(config.log_flush_start_offset_checkpoint_interval_ms)),
        high_watermark_checkpoint_ms: ms(config.replica_high_watermark_checkpoint_interval_ms),
        producer_expiration_check_ms: ms(i64::from(config.producer_id_expiration_check_interval_ms)),
    }
}
