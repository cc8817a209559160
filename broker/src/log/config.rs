//! What a topic's configuration says about its logs, under Kafka's names.

use ottla_protocol::record::Compression;

use crate::config::{self, CompressionType, TopicConfig};
use crate::types::Millis;

/// The settings of one log; a topic's overrides over the broker's defaults. Can change while the log is in use.
#[derive(Debug, Clone, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`: the size at which a segment is sealed.
    pub segment_bytes: u32,
    /// `segment.ms`: the age at which a segment is sealed, seen at the next append.
    pub segment_ms: i64,
    /// `segment.jitter.ms`: by how much that age is lowered at random.
    pub segment_jitter_ms: i64,
    /// `segment.index.bytes`: the size of an index at which a segment is sealed.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`: bytes of batches between two index entries.
    pub index_interval_bytes: u32,
    /// `retention.ms`: the age at which a segment is deleted; −1 for never.
    pub retention_ms: i64,
    /// `retention.bytes`: the size above which the oldest segments are deleted; −1 for none.
    pub retention_bytes: i64,
    /// Whether `cleanup.policy` has `delete`.
    pub delete: bool,
    /// Whether `cleanup.policy` has `compact`.
    pub compact: bool,
    /// `delete.retention.ms`: how long a tombstone is kept after its first cleaning.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`: how long a record is kept from compaction.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: how long a record may wait for compaction.
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio`: the dirty share of a log above which it is compacted.
    pub min_cleanable_dirty_ratio: f64,
    /// `file.delete.delay.ms`: how long a deleted segment's files stay under their new name.
    pub file_delete_delay_ms: i64,
    /// `flush.messages`: how many records may be unflushed.
    pub flush_messages: i64,
    /// `flush.ms`: how long records may be unflushed.
    pub flush_ms: i64,
    /// `max.message.bytes`: the largest batch a producer may send.
    pub max_message_bytes: u32,
    /// `compression.type`: the codec that batches are stored with; the producer's when there is none.
    pub compression: Option<Compression>,
    /// `message.timestamp.type`: who sets the timestamps.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how far a timestamp may lie in the past.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how far a timestamp may lie in the future.
    pub timestamp_after_max_ms: i64,
    /// `preallocate`: whether a new segment's file has its full size at once.
    pub preallocate: bool,
}

/// Who sets a record's timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer.
    CreateTime,
    /// The leader that appends it.
    LogAppendTime,
}

impl Default for LogConfig {
    /// Kafka's defaults.
    fn default() -> Self {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        Self {
            segment_bytes: 1 << 30,
            segment_ms: 7 * DAY_MS,
            segment_jitter_ms: 0,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            retention_ms: 7 * DAY_MS,
            retention_bytes: -1,
            delete: true,
            compact: false,
            delete_retention_ms: DAY_MS,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            min_cleanable_dirty_ratio: 0.5,
            file_delete_delay_ms: 60_000,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
            max_message_bytes: 1_048_588,
            compression: None,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: i64::MAX,
            preallocate: false,
        }
    }
}

impl LogConfig {
    /// Returns the age at which a segment is sealed: a compacted topic's must become cleanable in time.
    #[must_use]
    pub fn roll_ms(&self) -> Millis {
        Millis(if self.compact { self.segment_ms.min(self.max_compaction_lag_ms) } else { self.segment_ms })
    }
}

impl From<&TopicConfig> for LogConfig {
    fn from(topic: &TopicConfig) -> Self {
        // The table of keys has ruled out negative numbers.
        let bytes = |number: i32| u32::try_from(number).unwrap_or(0);
        Self {
            segment_bytes: bytes(topic.segment_bytes),
            segment_ms: topic.segment_ms,
            segment_jitter_ms: topic.segment_jitter_ms,
            segment_index_bytes: bytes(topic.segment_index_bytes),
            index_interval_bytes: bytes(topic.index_interval_bytes),
            retention_ms: topic.retention_ms,
            retention_bytes: topic.retention_bytes,
            delete: topic.cleanup_policy.delete,
            compact: topic.cleanup_policy.compact,
            delete_retention_ms: topic.delete_retention_ms,
            min_compaction_lag_ms: topic.min_compaction_lag_ms,
            max_compaction_lag_ms: topic.max_compaction_lag_ms,
            min_cleanable_dirty_ratio: topic.min_cleanable_dirty_ratio,
            file_delete_delay_ms: topic.file_delete_delay_ms,
            flush_messages: topic.flush_messages,
            flush_ms: topic.flush_ms,
            max_message_bytes: bytes(topic.max_message_bytes),
            compression: match topic.compression_type {
                CompressionType::Producer => None,
                CompressionType::Uncompressed => Some(Compression::None),
                CompressionType::Gzip => Some(Compression::Gzip),
                CompressionType::Snappy => Some(Compression::Snappy),
                CompressionType::Lz4 => Some(Compression::Lz4),
                CompressionType::Zstd => Some(Compression::Zstd),
            },
            timestamp_type: match topic.message_timestamp_type {
                config::TimestampType::CreateTime => TimestampType::CreateTime,
                config::TimestampType::LogAppendTime => TimestampType::LogAppendTime,
            },
            timestamp_before_max_ms: topic.message_timestamp_before_max_ms,
            timestamp_after_max_ms: topic.message_timestamp_after_max_ms,
            preallocate: topic.preallocate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_without_settings_has_kafkas_defaults() {
        assert_eq!(LogConfig::from(&TopicConfig::default()), LogConfig::default());
    }
}
