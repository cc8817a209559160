//! A topic's keys: overrides over the broker's defaults.

use std::collections::BTreeMap;

use super::broker::BrokerConfig;
use super::error::Problem;
use super::key::{Key, Update, Valid};
use super::value::{self, CleanupPolicy, CompressionType, TimestampType, Value};

use Valid::{Any, AtLeast, Between};

/// One row of the topics' table.
#[derive(Debug, Clone, Copy)]
pub struct TopicKey {
    /// Name, type, range and documentation. The default column is empty: it comes from the broker.
    pub key: Key,
    /// The broker's key that gives the default.
    pub broker_key: &'static str,
}

/// Makes [`TopicConfig`] of its table; each row names the broker's key and says how its value becomes the default.
macro_rules! topic_table {
    ($($key:literal $field:ident: $type:ty, $broker_key:literal => $default:expr, $valid:expr, $doc:literal;)+) => {
        /// What holds for one topic, one field for each key of the table.
        #[derive(Debug, Clone, PartialEq)]
        pub struct TopicConfig {
            $(
                #[doc = concat!("`", $key, "`: ", $doc)]
                pub $field: $type,
            )+
        }

        impl TopicConfig {
            /// The table this struct was made from.
            pub const KEYS: &'static [TopicKey] = &[$(
                TopicKey {
                    key: Key {
                        name: $key,
                        kind: <$type as Value>::KIND,
                        default: "",
                        valid: $valid,
                        update: Update::ClusterWide,
                        doc: $doc,
                    },
                    broker_key: $broker_key,
                },
            )+];

            /// Returns what holds for a topic without settings of its own.
            #[must_use]
            pub fn of_broker(broker: &BrokerConfig) -> Self {
                Self { $($field: ($default)(broker),)+ }
            }

            /// Sets the key `name` from its text.
            ///
            /// # Errors
            /// When there is no such key, or the text is not one of its values.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), Problem> {
                match name {
                    $($key => self.$field = value::read(text, &$valid)?,)+
                    _ => return Err(Problem::Unknown { nearest: None }),
                }
                Ok(())
            }

            /// Returns the value of the key `name` as text.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $($key => Some(self.$field.render()),)+
                    _ => None,
                }
            }
        }
    };
}

topic_table! {
    "cleanup.policy" cleanup_policy: CleanupPolicy, "log.cleanup.policy" => |b: &BrokerConfig| b.log_cleanup_policy, Any, "delete, compact, or both.";
    "compression.type" compression_type: CompressionType, "compression.type" => |b: &BrokerConfig| b.compression_type, Any, "How the leader stores batches.";
    "compression.gzip.level" compression_gzip_level: i32, "compression.gzip.level" => |b: &BrokerConfig| b.compression_gzip_level, Between(-1, 9), "Level of gzip; -1 the library's.";
    "compression.lz4.level" compression_lz4_level: i32, "compression.lz4.level" => |b: &BrokerConfig| b.compression_lz4_level, Between(1, 17), "Level of lz4.";
    "compression.zstd.level" compression_zstd_level: i32, "compression.zstd.level" => |b: &BrokerConfig| b.compression_zstd_level, Between(-131_072, 22), "Level of zstd.";
    "delete.retention.ms" delete_retention_ms: i64, "log.cleaner.delete.retention.ms" => |b: &BrokerConfig| b.log_cleaner_delete_retention_ms, AtLeast(0), "How long tombstones are kept.";
    "file.delete.delay.ms" file_delete_delay_ms: i64, "log.segment.delete.delay.ms" => |b: &BrokerConfig| b.log_segment_delete_delay_ms, AtLeast(0), "How long files stay after they were taken out of the log.";
    "flush.messages" flush_messages: i64, "log.flush.interval.messages" => |b: &BrokerConfig| b.log_flush_interval_messages, AtLeast(1), "Records after which the log is synced to disk.";
    "flush.ms" flush_ms: i64, "log.flush.interval.ms" => BrokerConfig::effective_flush_ms, AtLeast(0), "Age of unsynced records at which the log is synced.";
    "index.interval.bytes" index_interval_bytes: i32, "log.index.interval.bytes" => |b: &BrokerConfig| b.log_index_interval_bytes, AtLeast(0), "Bytes between two entries of an index.";
    "max.compaction.lag.ms" max_compaction_lag_ms: i64, "log.cleaner.max.compaction.lag.ms" => |b: &BrokerConfig| b.log_cleaner_max_compaction_lag_ms, AtLeast(1), "Age at which a record must have been considered for compaction.";
    "max.message.bytes" max_message_bytes: i32, "message.max.bytes" => |b: &BrokerConfig| b.message_max_bytes, AtLeast(0), "Largest batch, with the 12 bytes of its offset and length.";
    "message.downconversion.enable" message_downconversion_enable: bool, "log.message.downconversion.enable" => |b: &BrokerConfig| b.log_message_downconversion_enable, Any, "Convert records for clients that know only older formats.";
    "message.timestamp.after.max.ms" message_timestamp_after_max_ms: i64, "log.message.timestamp.after.max.ms" => |b: &BrokerConfig| b.log_message_timestamp_after_max_ms, AtLeast(0), "How far a record's time may lie ahead.";
    "message.timestamp.before.max.ms" message_timestamp_before_max_ms: i64, "log.message.timestamp.before.max.ms" => |b: &BrokerConfig| b.log_message_timestamp_before_max_ms, AtLeast(0), "How far a record's time may lie back.";
    "message.timestamp.type" message_timestamp_type: TimestampType, "log.message.timestamp.type" => |b: &BrokerConfig| b.log_message_timestamp_type, Any, "Whose clock stamps records.";
    "min.cleanable.dirty.ratio" min_cleanable_dirty_ratio: f64, "log.cleaner.min.cleanable.ratio" => |b: &BrokerConfig| b.log_cleaner_min_cleanable_ratio, Between(0, 1), "Share of not yet compacted bytes from which compaction is worth it.";
    "min.compaction.lag.ms" min_compaction_lag_ms: i64, "log.cleaner.min.compaction.lag.ms" => |b: &BrokerConfig| b.log_cleaner_min_compaction_lag_ms, AtLeast(0), "Age below which a record is not compacted.";
    "min.insync.replicas" min_insync_replicas: i32, "min.insync.replicas" => |b: &BrokerConfig| b.min_insync_replicas, AtLeast(1), "Replicas that must be in sync for acks=all to be taken.";
    "preallocate" preallocate: bool, "log.preallocate" => |b: &BrokerConfig| b.log_preallocate, Any, "Reserve a segment's space when it is made.";
    "retention.bytes" retention_bytes: i64, "log.retention.bytes" => |b: &BrokerConfig| b.log_retention_bytes, AtLeast(-1), "Size above which old segments go; -1 none.";
    "retention.ms" retention_ms: i64, "log.retention.ms" => BrokerConfig::effective_retention_ms, AtLeast(-1), "Age at which records may go; -1 never.";
    "segment.bytes" segment_bytes: i32, "log.segment.bytes" => |b: &BrokerConfig| b.log_segment_bytes, AtLeast(14), "Size at which a segment is closed.";
    "segment.index.bytes" segment_index_bytes: i32, "log.index.size.max.bytes" => |b: &BrokerConfig| b.log_index_size_max_bytes, AtLeast(4), "Largest size of an index.";
    "segment.jitter.ms" segment_jitter_ms: i64, "log.roll.jitter.ms" => BrokerConfig::effective_roll_jitter_ms, AtLeast(0), "Most that is taken off segment.ms at random.";
    "segment.ms" segment_ms: i64, "log.roll.ms" => BrokerConfig::effective_roll_ms, AtLeast(1), "Age at which a segment is closed.";
    "unclean.leader.election.enable" unclean_leader_election_enable: bool, "unclean.leader.election.enable" => |b: &BrokerConfig| b.unclean_leader_election_enable, Any, "Let a replica that is not in sync lead when no other is left; loses records.";
}

/// Keys that Kafka has for topics and Ottla stores without acting on them.
const KNOWN_UNSUPPORTED: &[&str] = &[
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "message.format.version",
    "message.timestamp.difference.max.ms",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
];

impl TopicConfig {
    /// Returns what holds for a topic with these settings of its own.
    ///
    /// # Errors
    /// The first setting that is not one, with its key.
    pub fn new(
        broker: &BrokerConfig,
        overrides: &BTreeMap<String, String>,
    ) -> Result<Self, (String, Problem)> {
        let mut config = Self::of_broker(broker);
        for (name, text) in overrides {
            if Self::is_known_unsupported(name) {
                continue;
            }
            config.set(name, text).map_err(|problem| (name.clone(), problem))?;
        }
        Ok(config)
    }

    /// Like [`TopicConfig::new`], but leaves out settings that are not valid: what other programs wrote into ZooKeeper
    /// must not stop a broker.
    #[must_use]
    pub fn lenient(broker: &BrokerConfig, overrides: &BTreeMap<String, String>) -> Self {
        let mut config = Self::of_broker(broker);
        for (name, text) in overrides {
            if config.set(name, text).is_err() && !Self::is_known_unsupported(name) {
                tracing::warn!(key = %name, value = %text, "ignoring a topic setting that is not valid");
            }
        }
        config
    }

    /// Returns the row of `name`.
    #[must_use]
    pub fn key(name: &str) -> Option<&'static TopicKey> {
        Self::KEYS.iter().find(|row| row.key.name == name)
    }

    /// Returns whether Kafka has the key and Ottla does not act on it.
    #[must_use]
    pub fn is_known_unsupported(name: &str) -> bool {
        KNOWN_UNSUPPORTED.contains(&name)
    }
}

impl Default for TopicConfig {
    fn default() -> Self {
        Self::of_broker(&BrokerConfig::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn defaults_come_from_the_broker() {
        let mut broker = BrokerConfig::default();
        broker.set("log.retention.hours", "1").unwrap();
        broker.set("min.insync.replicas", "2").unwrap();
        let config = TopicConfig::new(&broker, &overrides(&[("segment.bytes", "1000")])).unwrap();
        assert_eq!(
            (config.retention_ms, config.min_insync_replicas, config.segment_bytes),
            (3_600_000, 2, 1000)
        );
    }

    #[test]
    fn every_row_names_a_key_of_the_broker() {
        for row in TopicConfig::KEYS {
            assert!(BrokerConfig::key(row.broker_key).is_some(), "{}", row.key.name);
        }
    }

    #[test]
    fn bad_settings_are_refused_or_left_out() {
        let broker = BrokerConfig::default();
        let bad = overrides(&[("retention.ms", "soon"), ("retention.bytes", "5")]);
        assert_eq!(TopicConfig::new(&broker, &bad).unwrap_err().0, "retention.ms");
        let config = TopicConfig::lenient(&broker, &bad);
        assert_eq!((config.retention_ms, config.retention_bytes), (604_800_000, 5));
        assert!(TopicConfig::new(&broker, &overrides(&[("retension.ms", "5")])).is_err());
        assert!(TopicConfig::new(&broker, &overrides(&[("remote.storage.enable", "false")])).is_ok());
    }
}
