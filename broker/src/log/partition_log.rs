//! A partition's log: what it is made of and what can be asked of it without touching a file.
//!
//! One lock orders appends, rolls and truncations. Readers never take it: they see an end that is published after each
//! append, an immutable list of segments, and files that stay readable after their deletion.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use uuid::Uuid;

use super::chores::Chores;
use super::clock::Clock;
use super::config::LogConfig;
use super::directory::{CheckpointedOffsets, LogDirectory};
use super::epoch_cache::EpochCache;
use super::error::{Error, Result};
use super::partition_metadata;
use super::producer_state::ProducerStates;
use super::read::UpperBound;
use super::recover;
use super::segment::Place;
use super::segments::Segments;
use super::tail::{LogEnd, Tail};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// The log of one partition. All methods can be called from any thread.
pub struct PartitionLog {
    pub(super) name: TopicPartition,
    pub(super) place: Place,
    pub(super) directory: Arc<LogDirectory>,
    pub(super) environment: Environment,
    pub(super) config: ArcSwap<LogConfig>,
    pub(super) segments: ArcSwap<Segments>,
    pub(super) tail: Tail,
    pub(super) offsets: Arc<CheckpointedOffsets>,
    /// Where the earliest undecided transaction begins; `i64::MAX` when there is none.
    pub(super) first_unstable: AtomicI64,
    pub(super) epochs: ArcSwap<EpochCache>,
    topic_id: OnceLock<Uuid>,
    /// Counts truncations, so that what was found before one is not used after it.
    pub(super) generation: AtomicU64,
    pub(super) upper_bound: ArcSwapOption<UpperBound>,
    pub(super) last_flush: AtomicI64,
    closed: AtomicBool,
    appender: Mutex<Appender>,
}

/// What all logs of a manager share.
#[derive(Clone)]
pub(super) struct Environment {
    pub(super) clock: Clock,
    pub(super) chores: Arc<Chores>,
    pub(super) producer_expiration_ms: i64,
}

/// What only the holder of the append lock may touch.
#[derive(Debug)]
pub(super) struct Appender {
    pub(super) producers: ProducerStates,
    /// Producer state may hold batches that are not in the log: rebuild it before it is used.
    pub(super) producers_stale: bool,
    /// Where the newest snapshot was taken.
    pub(super) snapshot_at: Offset,
    /// Epochs were removed from memory but not yet from the file.
    pub(super) epochs_unsaved: bool,
    /// The topic's id is known but not yet in `partition.metadata`.
    pub(super) topic_id_unsaved: bool,
}

/// What a loader found out about a log.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) segments: Segments,
    pub(super) log_start: Offset,
    pub(super) log_end: Offset,
    pub(super) recovery_point: Offset,
    pub(super) high_watermark: Offset,
    pub(super) epochs: EpochCache,
    /// The file does not have these epochs yet.
    pub(super) epochs_unsaved: bool,
    pub(super) producers: ProducerStates,
    pub(super) snapshot_at: Offset,
    pub(super) topic_id: Option<Uuid>,
    pub(super) checkpointed: Checkpointed,
}

/// What the checkpoints on disk say of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpointed {
    pub(super) recovery_point: Offset,
    pub(super) log_start: Offset,
    /// −1 for none.
    pub(super) first_dirty: Offset,
}

impl PartitionLog {
    pub(super) fn new(
        name: TopicPartition,
        place: Place,
        directory: Arc<LogDirectory>,
        environment: Environment,
        config: LogConfig,
        loaded: Loaded,
    ) -> Arc<Self> {
        let active = loaded.segments.active();
        let end = LogEnd { offset: loaded.log_end, segment: active.base_offset(), position: active.size() };
        let first_unstable = loaded.producers.first_unstable_offset().map_or(i64::MAX, |first| first.0);
        let offsets = Arc::new(CheckpointedOffsets {
            recovery_point: AtomicI64::new(loaded.recovery_point.0),
            log_start: AtomicI64::new(loaded.log_start.0),
            first_base: AtomicI64::new(loaded.segments.first_base().0),
            high_watermark: AtomicI64::new(loaded.high_watermark.0),
            recovery_point_on_disk: AtomicI64::new(loaded.checkpointed.recovery_point.0),
            first_dirty: AtomicI64::new(loaded.checkpointed.first_dirty.0),
            log_start_on_disk: AtomicI64::new(loaded.checkpointed.log_start.0),
        });
        directory.add(&name, &offsets);
        let appender = Appender {
            producers: loaded.producers,
            producers_stale: false,
            snapshot_at: loaded.snapshot_at,
            epochs_unsaved: loaded.epochs_unsaved,
            topic_id_unsaved: false,
        };
        let last_flush = AtomicI64::new((environment.clock)().0);
        Arc::new(Self {
            name,
            place,
            directory,
            environment,
            config: ArcSwap::from_pointee(config),
            segments: ArcSwap::from_pointee(loaded.segments),
            tail: Tail::new(end),
            offsets,
            first_unstable: AtomicI64::new(first_unstable),
            epochs: ArcSwap::from_pointee(loaded.epochs),
            topic_id: loaded.topic_id.map_or_else(OnceLock::new, OnceLock::from),
            generation: AtomicU64::new(0),
            upper_bound: ArcSwapOption::empty(),
            last_flush,
            closed: AtomicBool::new(false),
            appender: Mutex::new(appender),
        })
    }

    /// Returns which partition it is.
    #[must_use]
    pub fn name(&self) -> &TopicPartition {
        &self.name
    }

    /// Returns the offset of the first record that readers may see.
    #[must_use]
    pub fn log_start_offset(&self) -> Offset {
        self.offsets.log_start()
    }

    /// Returns the offset that the next record gets.
    #[must_use]
    pub fn log_end_offset(&self) -> Offset {
        self.tail.offset()
    }

    /// Returns the high watermark it was last told.
    #[must_use]
    pub fn high_watermark(&self) -> Offset {
        self.offsets.high_watermark()
    }

    /// Returns the offset below which everything is durable on this disk.
    #[must_use]
    pub fn recovery_point(&self) -> Offset {
        self.offsets.recovery_point()
    }

    /// Returns up to where transactions are decided and replicated.
    #[must_use]
    pub fn last_stable_offset(&self) -> Offset {
        self.high_watermark().min(Offset(self.first_unstable.load(Ordering::Acquire)))
    }

    /// Tells the log the high watermark; it is kept between log start and log end. Returns what it is now.
    pub fn update_high_watermark(&self, high_watermark: Offset) -> Offset {
        let bounded = high_watermark.min(self.log_end_offset()).max(self.log_start_offset());
        self.offsets.high_watermark.store(bounded.0, Ordering::Release);
        if self.first_unstable.load(Ordering::Acquire) != i64::MAX {
            let mut appender = self.lock();
            appender.producers.high_watermark_reached(bounded);
            self.publish_first_unstable(&appender);
        }
        bounded
    }

    /// Returns the latest leader epoch that wrote to it.
    #[must_use]
    pub fn latest_leader_epoch(&self) -> Option<LeaderEpoch> {
        self.epochs.load().latest().map(|(epoch, _)| epoch)
    }

    /// Answers `OffsetsForLeaderEpoch`: the largest known epoch not above `epoch`, and where it ends. `None` when unknown.
    #[must_use]
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        self.epochs.load().end_offset_for(epoch, self.log_end_offset())
    }

    /// Returns the leader epoch of the record at `offset`.
    #[must_use]
    pub fn epoch_for_offset(&self, offset: Offset) -> Option<LeaderEpoch> {
        self.epochs.load().epoch_for_offset(offset)
    }

    /// Returns the leader epochs with their first offsets.
    #[must_use]
    pub fn leader_epochs(&self) -> Arc<EpochCache> {
        self.epochs.load_full()
    }

    /// Returns the bytes of all its batches, without indexes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.segments.load().iter().map(|segment| segment.size()).sum()
    }

    /// Returns how many segments it has.
    #[must_use]
    pub fn segment_count(&self) -> usize {
        self.segments.load().len()
    }

    /// Returns the id of its topic, if known.
    #[must_use]
    pub fn topic_id(&self) -> Option<Uuid> {
        self.topic_id.get().copied()
    }

    /// Notes the id of its topic. It is written to `partition.metadata` in the background, at the latest before an append.
    ///
    /// # Errors
    /// [`Error::TopicIdMismatch`] when it belongs to another topic of the same name.
    pub fn assign_topic_id(&self, topic_id: Uuid) -> Result<()> {
        let mut appender = self.lock_usable()?;
        let found = *self.topic_id.get_or_init(|| {
            appender.topic_id_unsaved = true;
            topic_id
        });
        if found != topic_id {
            return Err(Error::TopicIdMismatch { partition: self.name.clone(), found, expected: topic_id });
        }
        if appender.topic_id_unsaved {
            self.environment.chores.attend(&self.name);
        }
        Ok(())
    }

    /// Writes `partition.metadata` if it is owed.
    pub(super) fn save_topic_id(&self, appender: &mut Appender) -> Result<()> {
        if let Some(topic_id) = self.topic_id().filter(|_| appender.topic_id_unsaved) {
            let directory = self.place.location.directory();
            partition_metadata::write_topic_id(self.directory.disk(), &directory, topic_id)?;
            appender.topic_id_unsaved = false;
        }
        Ok(())
    }

    /// Does what was left for later: topic id, epochs, the sync of sealed segments, damaged indexes.
    pub(super) fn attend(&self) -> Result<()> {
        {
            let mut appender = self.lock_usable()?;
            self.save_topic_id(&mut appender)?;
            if appender.epochs_unsaved {
                let epochs = self.epochs.load_full();
                self.save_epochs(&mut appender, &epochs)?;
            }
        }
        self.flush_sealed()?;
        self.repair_indexes()
    }

    /// Rebuilds indexes that turned out to be damaged.
    fn repair_indexes(&self) -> Result<()> {
        let segments = self.segments.load_full();
        for segment in segments.iter().filter(|segment| segment.index_is_suspect()) {
            let _appender = self.lock_usable()?;
            recover::rebuild_indexes(segment, &self.config.load())?;
        }
        Ok(())
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> Arc<LogConfig> {
        self.config.load_full()
    }

    /// Replaces the settings; they hold from the next append, read or check on.
    pub fn set_config(&self, config: LogConfig) {
        self.config.store(Arc::new(config));
    }

    /// Returns the directory of the partition's files.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.place.location.directory().to_path_buf()
    }

    /// Returns the directory of `log.dirs` that it is in.
    #[must_use]
    pub fn log_directory(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// Fails when the log is closed, deleted or in a directory that is offline.
    ///
    /// # Errors
    /// [`Error::Closed`] or [`Error::Offline`].
    pub fn check_usable(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::Closed { partition: self.name.clone() });
        }
        self.directory.check_online(&self.name)
    }

    pub(super) fn mark_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn now(&self) -> Millis {
        (self.environment.clock)()
    }

    /// Takes the append lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, Appender> {
        self.appender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the append lock of a log that is in use.
    pub(super) fn lock_usable(&self) -> Result<MutexGuard<'_, Appender>> {
        let appender = self.lock();
        self.check_usable()?;
        Ok(appender)
    }

    pub(super) fn publish_first_unstable(&self, appender: &Appender) {
        let first = appender.producers.first_unstable_offset().map_or(i64::MAX, |first| first.0);
        self.first_unstable.store(first, Ordering::Release);
    }

    /// Puts another list of segments in place.
    pub(super) fn replace_segments(&self, segments: Segments) {
        self.offsets.first_base.store(segments.first_base().0, Ordering::Release);
        self.segments.store(Arc::new(segments));
    }

    /// Publishes `offset` as the log end, at the end of the active segment.
    pub(super) fn publish_end(&self, offset: Offset) {
        let segments = self.segments.load();
        let active = segments.active();
        self.tail.publish(LogEnd { offset, segment: active.base_offset(), position: active.size() });
    }

    pub(super) fn out_of_range(&self, offset: Offset) -> Error {
        Error::OffsetOutOfRange {
            partition: self.name.clone(),
            offset,
            log_start: self.log_start_offset(),
            log_end: self.log_end_offset(),
        }
    }
}

impl fmt::Debug for PartitionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionLog")
            .field("name", &self.name)
            .field("log_start", &self.log_start_offset())
            .field("log_end", &self.log_end_offset())
            .field("high_watermark", &self.high_watermark())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("chores", &self.chores).finish_non_exhaustive()
    }
}
