//! `__consumer_offsets` as this broker's replicas hold it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::ErrorCode;
use ottla_protocol::record::Compression;

use super::log_reader::read_log;
use super::record_codec::encode_batch;
use super::storage::{AppendDone, Batch, GroupStorage, LoadError, Loaded};
use crate::config::BrokerConfig;
use crate::log::Origin;
use crate::metadata::MetadataCache;
use crate::replica::ReplicaManager;
use crate::replica::machine::Acks;
use crate::types::TopicPartition;
use crate::zk::layout::topic_name::CONSUMER_OFFSETS;

/// Appends and reads through the replica manager.
#[derive(Debug)]
pub struct ReplicaStorage {
    replicas: Arc<ReplicaManager>,
    metadata: Arc<MetadataCache>,
    settings: Settings,
    topic: Arc<str>,
}

/// The broker's settings for the topic.
#[derive(Debug, Clone)]
struct Settings {
    partition_count: i32,
    acks: Acks,
    timeout: Duration,
    compression: Compression,
    buffer_bytes: u32,
}

impl ReplicaStorage {
    /// Returns the topic as `config` has it. The number of partitions counts only until the topic exists.
    #[must_use]
    pub fn new(replicas: Arc<ReplicaManager>, metadata: Arc<MetadataCache>, config: &BrokerConfig) -> Self {
        let codec = i16::try_from(config.offsets_topic_compression_codec).unwrap_or_default();
        let settings = Settings {
            partition_count: config.offsets_topic_num_partitions,
            acks: Acks::from_wire(config.offsets_commit_required_acks).unwrap_or(Acks::All),
            timeout: Duration::from_millis(
                u64::try_from(config.offsets_commit_timeout_ms).unwrap_or_default(),
            ),
            compression: Compression::from_code(codec).unwrap_or(Compression::None),
            buffer_bytes: u32::try_from(config.offsets_load_buffer_size).unwrap_or_default(),
        };
        Self { replicas, metadata, settings, topic: Arc::from(CONSUMER_OFFSETS) }
    }

    fn partition(&self, number: i32) -> TopicPartition {
        TopicPartition::new(Arc::clone(&self.topic), number)
    }
}

impl GroupStorage for ReplicaStorage {
    fn partition_count(&self) -> i32 {
        let cluster = self.metadata.load();
        let existing = cluster.topic(CONSUMER_OFFSETS).map(|topic| topic.partitions.len());
        existing.and_then(|count| i32::try_from(count).ok()).unwrap_or(self.settings.partition_count)
    }

    fn append(&self, partition: i32, batch: Batch, done: AppendDone) {
        let bytes = match encode_batch(&batch, self.settings.compression) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::warn!(partition, %error, "records of a group cannot be stored");
                // The one error of a log that says that it is the record's own fault.
                done(Err(ErrorCode::MessageTooLarge));
                return;
            }
        };
        let batches = vec![(self.partition(partition), bytes)];
        let complete = Box::new(move |outcomes: Vec<(TopicPartition, crate::replica::ProduceOutcome)>| {
            let error = outcomes.first().map_or(ErrorCode::UnknownServerError, |(_, outcome)| outcome.error);
            done(if error == ErrorCode::None { Ok(()) } else { Err(error) });
        });
        self.replicas.append(
            self.settings.acks,
            self.settings.timeout,
            batches,
            Origin::Coordinator,
            complete,
        );
    }

    fn load(&self, partition: i32, take: &mut dyn FnMut(Loaded) -> ControlFlow<()>) -> Result<(), LoadError> {
        let failed = |reason| LoadError { partition, reason };
        let Some(hosted) = self.replicas.get(&self.partition(partition)) else {
            return Err(failed("this broker does not hold it".to_owned()));
        };
        read_log(hosted.log(), self.settings.buffer_bytes, take).map_err(|error| failed(error.to_string()))
    }
}
