//! Taking segments away: retention by time and size, deleted records, and the files that go with a segment.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::chores::Removal;
use super::config::LogConfig;
use super::error::Result;
use super::file_names::{FileKind, FileState, SegmentFile};
use super::partition_log::{Appender, PartitionLog};
use super::segment::Segment;
use super::segments::Segments;
use crate::types::{Millis, Offset};

/// Why segments were deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    LogStart,
    Size,
    Time,
}

impl PartitionLog {
    /// Deletes what retention does not keep: segments below log start, then by size, then by age. Returns how many went.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn apply_retention(&self) -> Result<usize> {
        let mut appender = self.lock_usable()?;
        let config = self.config.load_full();
        let mut deleted = self.delete_prefix(&mut appender, Reason::LogStart, &config)?;
        if config.delete {
            deleted += self.delete_prefix(&mut appender, Reason::Size, &config)?;
            deleted += self.delete_prefix(&mut appender, Reason::Time, &config)?;
        }
        Ok(deleted)
    }

    /// Raises the log start offset, as `DeleteRecords` does. Segments below it go at the next check.
    ///
    /// # Errors
    /// `Error::OffsetOutOfRange` above the high watermark.
    pub fn advance_log_start(&self, offset: Offset) -> Result<Offset> {
        let mut appender = self.lock_usable()?;
        if offset > self.high_watermark() {
            return Err(self.out_of_range(offset));
        }
        self.raise_log_start(&mut appender, offset);
        Ok(self.log_start_offset())
    }

    /// Raises the log start to what the leader says, as a follower does; its own log end may be behind.
    ///
    /// # Errors
    /// `Error::Closed` or `Error::Offline`.
    pub fn follow_log_start(&self, offset: Offset) -> Result<()> {
        let mut appender = self.lock_usable()?;
        let bounded = offset.min(self.log_end_offset());
        self.raise_log_start(&mut appender, bounded);
        Ok(())
    }

    fn raise_log_start(&self, appender: &mut Appender, offset: Offset) {
        if offset <= self.log_start_offset() {
            return;
        }
        self.offsets.log_start.store(offset.0, Ordering::Release);
        self.offsets.high_watermark.fetch_max(offset.0, Ordering::AcqRel);
        let mut epochs = (**self.epochs.load()).clone();
        if epochs.truncate_from_start(offset) {
            appender.epochs_unsaved = true;
            self.epochs.store(epochs.into());
        }
    }

    fn delete_prefix(&self, appender: &mut Appender, reason: Reason, config: &LogConfig) -> Result<usize> {
        let segments = self.segments.load_full();
        let mut count = self.count_deletable(&segments, reason, config)?;
        if count == 0 {
            return Ok(0);
        }
        if count == segments.len() {
            // The active segment goes too: begin a new one first, so that there always is one.
            if segments.active().size() == 0 {
                count -= 1;
            } else {
                self.roll(appender, self.log_end_offset())?;
            }
        }
        let segments = self.segments.load_full();
        let kept_from = segments.end_of(count.saturating_sub(1), self.log_end_offset());
        // First, so that no reader is sent to a file that is about to be renamed.
        self.raise_log_start(appender, kept_from);
        for segment in segments.iter().take(count) {
            self.retire_files(segment)?;
            let base_offset = segment.base_offset();
            // One by one, so that what could not be renamed stays a part of the log.
            if let Some(kept) = self.segments.load().without(|known| known.base_offset() == base_offset) {
                self.replace_segments(kept);
            }
            tracing::info!(partition = %self.name, %base_offset, ?reason, "segment deleted");
        }
        Ok(count)
    }

    /// Counts the oldest segments that may go, up to the first that stays.
    fn count_deletable(&self, segments: &Segments, reason: Reason, config: &LogConfig) -> Result<usize> {
        let (log_end, high_watermark) = (self.log_end_offset(), self.high_watermark());
        let retained = u64::try_from(config.retention_bytes).unwrap_or(u64::MAX);
        let mut excess = segments.iter().map(|segment| segment.size()).sum::<u64>().saturating_sub(retained);
        for (place, segment) in segments.iter().enumerate() {
            let end = segments.end_of(place, log_end);
            let is_active = place + 1 == segments.len();
            let replicated = end <= high_watermark && !(is_active && segment.size() == 0);
            let due = match reason {
                Reason::LogStart => !is_active && end <= self.log_start_offset(),
                Reason::Size => excess >= segment.size() && excess > 0,
                Reason::Time => self.is_too_old(segment, config)?,
            };
            if !(replicated && due) {
                return Ok(place);
            }
            excess = excess.saturating_sub(segment.size());
        }
        Ok(segments.len())
    }

    fn is_too_old(&self, segment: &Segment, config: &LogConfig) -> Result<bool> {
        if config.retention_ms < 0 {
            return Ok(false);
        }
        let newest = segment.retention_timestamp()?;
        Ok(self.now().since(newest) > Millis(config.retention_ms))
    }

    /// Renames the files of a segment that is no longer part of the log, to be removed later. Readers that hold them go on.
    pub(super) fn retire_files(&self, segment: &Segment) -> Result<()> {
        segment.rename_files(FileState::Deleted)?;
        self.schedule_removal(segment);
        self.retire_snapshot(segment.base_offset());
        Ok(())
    }

    /// Has the renamed files of a segment removed after a while.
    pub(super) fn schedule_removal(&self, segment: &Segment) {
        let directory = self.place.location.directory();
        for kind in [FileKind::Log, FileKind::OffsetIndex, FileKind::TimeIndex, FileKind::TransactionIndex] {
            let file = SegmentFile::live(segment.base_offset(), kind).in_state(FileState::Deleted);
            self.remove_later(file.path(&directory));
        }
    }

    /// Renames the snapshot of a segment that is no longer part of the log, to be removed later.
    pub(super) fn retire_snapshot(&self, base_offset: Offset) {
        let directory = self.place.location.directory();
        let snapshot = SegmentFile::live(base_offset, FileKind::Snapshot);
        let renamed = snapshot.in_state(FileState::Deleted).path(&directory);
        match self.directory.disk().rename(&snapshot.path(&directory), &renamed) {
            Ok(()) => self.remove_later(renamed),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // One that stays is removed at the next start.
            Err(error) => tracing::warn!(path = %renamed.display(), %error, "could not rename a snapshot"),
        }
    }

    fn remove_later(&self, path: PathBuf) {
        let due = self.now().plus(Millis(self.config.load().file_delete_delay_ms));
        self.environment.chores.remove(due, Removal { path, is_directory: false });
    }
}
