//! Cutting the end of a log, as a follower does to agree with its leader.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::error::{Error, Result};
use super::file_names::{FileKind, SegmentFile};
use super::partition_log::{Appender, PartitionLog};
use super::producer_state::ProducerStates;
use super::segment::Segment;
use super::segments::Segments;
use crate::types::Offset;

impl PartitionLog {
    /// Cuts everything from `offset` on. A batch that holds it in its middle goes as a whole, and the log then ends where that
    /// batch began, so that what is appended next leaves no hole. Returns whether anything went.
    ///
    /// # Errors
    /// What the operating system answered; the log then ends somewhere above, consistent with its files.
    pub fn truncate_to(&self, offset: Offset) -> Result<bool> {
        let mut appender = self.lock_usable()?;
        let log_end = self.log_end_offset();
        if offset > log_end {
            return Ok(false);
        }
        if offset == log_end {
            // A leader may have noted an epoch that it never wrote in.
            self.cut_epochs(&mut appender, offset);
            return Ok(false);
        }
        if offset < self.high_watermark() {
            tracing::warn!(
                partition = %self.name, %offset, high_watermark = %self.high_watermark(),
                "truncating below the high watermark: committed records are lost"
            );
        }
        let cut = if offset < self.segments.load().first_base() {
            self.start_over(&mut appender, offset, offset)
        } else {
            self.cut(&mut appender, offset)
        };
        cut.map(|()| true).map_err(|error| self.directory.note(error))
    }

    /// Deletes everything and starts again at `offset`.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn truncate_fully_and_start_at(&self, offset: Offset) -> Result<()> {
        let mut appender = self.lock_usable()?;
        self.start_over(&mut appender, offset, offset).map_err(|error| self.directory.note(error))
    }

    fn cut(&self, appender: &mut Appender, offset: Offset) -> Result<()> {
        self.forget_producers_above(appender, offset)?;
        self.generation.fetch_add(1, Ordering::AcqRel);
        // Highest first, so that after a crash in between what is left is a beginning of the log.
        loop {
            let segments = self.segments.load_full();
            let last = segments.active();
            if last.base_offset() <= offset {
                break;
            }
            self.retire_files(last)?;
            let Some(kept) = segments.without(|segment| segment.base_offset() == last.base_offset()) else {
                break;
            };
            self.replace_segments(kept);
            self.lower_end(appender, last.base_offset());
        }
        let segments = self.segments.load_full();
        let cut_from = segments.active().truncate_to(offset)?;
        self.lower_end(appender, cut_from.map_or(offset, |base| base.min(offset)));
        self.refresh_producers(appender)
    }

    /// Publishes a lower log end; nothing that is kept of the log may stay above it.
    fn lower_end(&self, appender: &mut Appender, log_end: Offset) {
        self.offsets.recovery_point.fetch_min(log_end.0, Ordering::AcqRel);
        self.offsets.high_watermark.fetch_min(log_end.0, Ordering::AcqRel);
        self.offsets.log_start.fetch_min(log_end.0, Ordering::AcqRel);
        if self.offsets.first_dirty.load(Ordering::Acquire) > log_end.0 {
            self.offsets.first_dirty.store(log_end.0, Ordering::Release);
        }
        self.publish_end(log_end);
        self.cut_epochs(appender, log_end);
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.upper_bound.store(None);
    }

    fn cut_epochs(&self, appender: &mut Appender, offset: Offset) {
        let mut epochs = (**self.epochs.load()).clone();
        if epochs.truncate_from_end(offset) {
            appender.epochs_unsaved = true;
            self.epochs.store(epochs.into());
        }
    }

    /// Deletes all segments and begins a new, empty one at `offset`; records below `log_start` will not be shown.
    pub(super) fn start_over(
        &self,
        appender: &mut Appender,
        offset: Offset,
        log_start: Offset,
    ) -> Result<()> {
        self.forget_producers_above(appender, Offset(-1))?;
        self.generation.fetch_add(1, Ordering::AcqRel);
        let old = self.segments.load_full();
        for segment in old.iter().rev() {
            self.retire_files(segment)?;
            if let Some(kept) =
                self.segments.load().without(|known| known.base_offset() == segment.base_offset())
            {
                self.replace_segments(kept);
                self.lower_end(appender, segment.base_offset());
            }
        }
        // From here on nothing can fail: the files of the new segment are made by its first append if not now.
        let config = self.config.load_full();
        let first = Segment::begin(&self.place, offset, &config, self.now())?;
        self.replace_segments(Segments::of(Arc::new(first)));
        for (offset_of, value) in [
            (&self.offsets.log_start, log_start.max(offset)),
            (&self.offsets.high_watermark, log_start.max(offset)),
            (&self.offsets.recovery_point, offset),
        ] {
            offset_of.store(value.0, Ordering::Release);
        }
        self.publish_end(offset);
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.upper_bound.store(None);
        self.epochs.store(Arc::default());
        appender.epochs_unsaved = true;
        appender.producers = ProducerStates::default();
        appender.producers_stale = false;
        self.publish_first_unstable(appender);
        Ok(())
    }

    /// Removes the snapshots of states that the log will not have any more. This comes before the cut: a missing snapshot
    /// costs a replay, one from a discarded future is wrong.
    fn forget_producers_above(&self, appender: &mut Appender, offset: Offset) -> Result<()> {
        appender.producers_stale = true;
        let directory = self.place.location.directory();
        let disk = self.directory.disk();
        for entry in disk.list(&directory).map_err(Error::io("list", &*directory))? {
            let Some(file) = SegmentFile::parse(&entry.name) else { continue };
            if file.kind == FileKind::Snapshot && file.base_offset > offset {
                let path = directory.join(&entry.name);
                disk.remove_file(&path).map_err(Error::io("remove", path))?;
            }
        }
        appender.snapshot_at = appender.snapshot_at.min(offset);
        Ok(())
    }
}
