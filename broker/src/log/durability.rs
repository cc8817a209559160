//! Rolling to a new segment, and making what was appended durable.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::checkpoint;
use super::entry_header::EntryHeader;
use super::epoch_cache::EpochCache;
use super::error::{Error, Result};
use super::file_names::{EPOCH_CHECKPOINT, FileKind, SegmentFile};
use super::partition_log::{Appender, PartitionLog};
use super::producer_snapshot;
use super::segment::{RELATIVE_OFFSET_MAX, Segment};
use super::segments::Segments;
use crate::disk::OpenMode;
use crate::types::{Millis, Offset};

/// What a run of entries means for the question whether to roll.
#[derive(Debug, Clone, Copy)]
struct Incoming {
    bytes: u64,
    first_offset: Offset,
    last_offset: Offset,
    max_timestamp: Millis,
}

impl PartitionLog {
    /// Rolls to a new segment when the run does not belong into the active one (Kafka: `LogSegment.shouldRoll`).
    pub(super) fn roll_if_due(
        &self,
        appender: &mut Appender,
        run: impl Iterator<Item = EntryHeader>,
    ) -> Result<()> {
        let incoming = run.fold(None, |sum: Option<Incoming>, header| {
            let first_offset = sum.map_or(header.base_offset, |sum| sum.first_offset);
            Some(Incoming {
                bytes: sum.map_or(0, |sum| sum.bytes) + u64::from(header.size),
                first_offset,
                last_offset: header.last_offset,
                max_timestamp: sum.map_or(Millis(-1), |sum| sum.max_timestamp).max(header.max_timestamp),
            })
        });
        let Some(incoming) = incoming else { return Ok(()) };
        let active = self.segments.load().active().clone();
        if self.roll_is_due(&active, incoming)? {
            self.roll(appender, incoming.first_offset.max(self.log_end_offset()))?;
        }
        Ok(())
    }

    fn roll_is_due(&self, active: &Segment, incoming: Incoming) -> Result<bool> {
        if incoming.last_offset.distance_from(active.base_offset()) > RELATIVE_OFFSET_MAX {
            return Ok(true);
        }
        let size = active.size();
        if size == 0 {
            // It was begun for a batch further ahead that could not be written then.
            return Ok(incoming.first_offset < active.base_offset());
        }
        let config = self.config.load();
        if size + incoming.bytes > u64::from(config.segment_bytes)
            || active.indexes_are_full(config.segment_index_bytes)
        {
            return Ok(true);
        }
        let first_timestamp = active.first_timestamp()?;
        let age = if first_timestamp >= Millis(0) {
            incoming.max_timestamp.since(first_timestamp)
        } else {
            self.now().since(active.created())
        };
        let jitter = self.roll_jitter(active, config.segment_jitter_ms.min(config.segment_ms));
        Ok(age > Millis(config.roll_ms().0.saturating_sub(jitter)))
    }

    /// Returns by how much the segment's roll age is lowered: a number below `limit` that is the same at every look, and
    /// differs between partitions and segments so that they do not all roll at once.
    fn roll_jitter(&self, segment: &Segment, limit: i64) -> i64 {
        if limit <= 0 {
            return 0;
        }
        let seed = format!("{}/{}/{}", self.name, segment.base_offset(), segment.created().0);
        i64::from(crc_fast::crc32_iscsi(seed.as_bytes())).checked_rem(limit).unwrap_or(0)
    }

    /// Seals the active segment and begins a new one at `base_offset`.
    pub(super) fn roll(&self, appender: &mut Appender, base_offset: Offset) -> Result<()> {
        let segments = self.segments.load_full();
        let active = segments.active();
        if active.base_offset() == base_offset {
            return Ok(());
        }
        let (config, now) = (self.config.load_full(), self.now());
        if active.size() == 0 {
            // Of an empty segment nothing may stay, neither in the list nor on disk.
            self.retire_files(active)?;
            let created = Segment::begin(&self.place, base_offset, &config, now)?;
            let kept = segments.without(|segment| segment.base_offset() == active.base_offset());
            let created = Arc::new(created);
            self.replace_segments(
                kept.map_or_else(|| Segments::of(created.clone()), |kept| kept.with(created.clone())),
            );
            return Ok(());
        }
        active.seal()?;
        let created = Segment::create(&self.place, base_offset, &config, now)?;
        self.take_snapshot(appender, base_offset);
        self.replace_segments(segments.with(Arc::new(created)));
        self.environment.chores.attend(&self.name);
        Ok(())
    }

    /// Writes a snapshot of the producers before `offset`, unless there is one. A failure costs a longer replay, no more.
    pub(super) fn take_snapshot(&self, appender: &mut Appender, offset: Offset) {
        if offset <= appender.snapshot_at || appender.producers_stale {
            return;
        }
        let path = self.snapshot_path(offset);
        match producer_snapshot::write(self.directory.disk(), &path, &appender.producers) {
            Ok(()) => appender.snapshot_at = offset,
            Err(error) => tracing::warn!(%error, "a producer snapshot could not be written"),
        }
    }

    pub(super) fn snapshot_path(&self, offset: Offset) -> std::path::PathBuf {
        self.place.location.path(SegmentFile::live(offset, FileKind::Snapshot).name())
    }

    /// Makes everything that was appended so far durable.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn flush(&self) -> Result<()> {
        self.check_usable()?;
        self.flush_to(self.log_end_offset())
    }

    /// Makes sealed segments durable.
    pub(super) fn flush_sealed(&self) -> Result<()> {
        self.check_usable()?;
        self.flush_to(self.segments.load().active().base_offset())
    }

    /// Flushes when `flush.messages` records are waiting.
    pub(super) fn flush_if_due(&self) -> Result<()> {
        let limit = self.config.load().flush_messages;
        let waiting = self.log_end_offset().distance_from(self.recovery_point());
        if waiting >= limit { self.flush() } else { Ok(()) }
    }

    /// Flushes when `flush.ms` passed since the last time.
    pub(super) fn flush_if_old(&self) -> Result<()> {
        let last = Millis(self.last_flush.load(Ordering::Relaxed));
        let limit = Millis(self.config.load().flush_ms);
        let waits = self.log_end_offset() > self.recovery_point();
        if waits && self.now().since(last) >= limit { self.flush() } else { Ok(()) }
    }

    fn flush_to(&self, offset: Offset) -> Result<()> {
        let from = self.recovery_point();
        if offset <= from {
            return Ok(());
        }
        let generation = self.generation.load(Ordering::Acquire);
        let segments = self.segments.load_full();
        for segment in segments.tail_from(from).iter().filter(|segment| segment.base_offset() < offset) {
            // A segment that retention took meanwhile needs no sync.
            match segment.sync().and_then(|()| self.sync_snapshot(segment.base_offset())) {
                Err(error) if !error.is_not_found() => return Err(self.directory.note(error)),
                _ => {}
            }
        }
        if self.sync_snapshot(offset).is_ok_and(|()| segments.active().base_offset() > from) {
            self.sync_own_directory()?;
        }
        self.last_flush.store(self.now().0, Ordering::Relaxed);
        let _appender = self.lock();
        if self.generation.load(Ordering::Acquire) == generation {
            self.offsets.recovery_point.fetch_max(offset.0, Ordering::AcqRel);
        }
        Ok(())
    }

    fn sync_snapshot(&self, offset: Offset) -> Result<()> {
        let path = self.snapshot_path(offset);
        match self.directory.disk().open(&path, OpenMode::Read) {
            Ok(file) => file.sync().map_err(Error::io("sync", path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }

    pub(super) fn sync_own_directory(&self) -> Result<()> {
        let directory = self.place.location.directory();
        match self.directory.disk().sync_directory(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(self.directory.note(Error::io("sync", &*directory)(error)))
            }
            _ => Ok(()),
        }
    }

    /// Writes the directory's checkpoints when a truncation has lowered this log's offsets below what the files say:
    /// what is appended now must be looked at and shown after a crash.
    pub(super) fn save_lowered_offsets(&self) -> Result<()> {
        let on_disk = |offset: &std::sync::atomic::AtomicI64| Offset(offset.load(Ordering::Acquire));
        if self.recovery_point() < on_disk(&self.offsets.recovery_point_on_disk) {
            self.directory.checkpoint_recovery_points()?;
        }
        if self.log_start_offset() < on_disk(&self.offsets.log_start_on_disk) {
            self.directory.checkpoint_log_starts()?;
        }
        Ok(())
    }

    /// Writes the leader epochs.
    pub(super) fn save_epochs(&self, appender: &mut Appender, epochs: &EpochCache) -> Result<()> {
        let path = self.place.location.path(Path::new(EPOCH_CHECKPOINT));
        checkpoint::write_epochs(self.directory.disk(), &path, epochs.entries())?;
        appender.epochs_unsaved = false;
        Ok(())
    }

    /// Ends an orderly life: everything is made durable, files are cut to their content, a snapshot is left at the end.
    /// Nothing can be appended afterwards.
    ///
    /// # Errors
    /// What the operating system answered; the log is closed in any case, and the next start must recover it.
    pub fn close(&self) -> Result<()> {
        let mut appender = self.lock_usable()?;
        self.mark_closed();
        let segments = self.segments.load_full();
        let closed = self.close_appender(&mut appender, segments.active());
        segments.iter().for_each(|segment| segment.close_files());
        drop(appender);
        let flushed = closed.and_then(|()| self.flush_to(self.log_end_offset()));
        segments.iter().for_each(|segment| segment.close_files());
        flushed.map_err(|error| self.directory.note(error))
    }

    fn close_appender(&self, appender: &mut Appender, active: &Segment) -> Result<()> {
        self.refresh_producers(appender)?;
        self.take_snapshot(appender, self.log_end_offset());
        self.save_topic_id(appender)?;
        active.seal()?;
        if appender.epochs_unsaved {
            let epochs = self.epochs.load_full();
            self.save_epochs(appender, &epochs)?;
        }
        Ok(())
    }
}
