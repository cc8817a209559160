//! Putting a rewritten segment in the place of those it was made from.
//!
//! ```text
//!  00.log 50.log   00.log.cleaned     being written: worthless after a crash
//!  00.log 50.log   00.log.swap        complete: the next start would finish from here
//!  00.log.deleted 50.log.deleted  00.log.swap
//!  00.log                             done
//! ```

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::log::error::{Error, Result};
use crate::log::file_names::FileState;
use crate::log::partition_log::PartitionLog;
use crate::log::segment::Segment;

impl PartitionLog {
    /// Swaps `cleaned` in for `old`. Returns whether it was done: not when the log has changed since the round began.
    pub(super) fn swap_in(&self, old: &[Arc<Segment>], cleaned: &Segment, generation: u64) -> Result<bool> {
        let _appender = self.lock_usable()?;
        let segments = self.segments.load_full();
        let is_current = |wanted: &Arc<Segment>| segments.iter().any(|known| Arc::ptr_eq(known, wanted));
        let unchanged = self.generation.load(Ordering::Acquire) == generation;
        if !unchanged || !old.iter().all(is_current) {
            return Ok(false);
        }
        cleaned.rename_files(FileState::Swap)?;
        self.retire_replaced(old, cleaned)?;
        if let Err(error) = cleaned.rename_from(FileState::Swap, FileState::Live) {
            return Err(self.interrupted(error));
        }
        let base_offset = cleaned.base_offset();
        let replacement = Arc::new(Segment::successor_of(cleaned, &self.place));
        let gone = |segment: &Segment| old.iter().any(|old| old.base_offset() == segment.base_offset());
        let next = segments.without(gone).map(|kept| kept.with(replacement));
        self.replace_segments(next.unwrap_or_else(|| (*segments).clone()));
        for segment in old {
            self.schedule_removal(segment);
            if segment.base_offset() != base_offset {
                self.retire_snapshot(segment.base_offset());
            }
        }
        self.sync_own_directory()?;
        Ok(true)
    }

    /// Renames the replaced segments away; all or none.
    fn retire_replaced(&self, old: &[Arc<Segment>], cleaned: &Segment) -> Result<()> {
        for (done, segment) in old.iter().enumerate() {
            let Err(error) = segment.rename_files(FileState::Deleted) else { continue };
            for segment in old.iter().take(done) {
                if let Err(error) = segment.rename_from(FileState::Deleted, FileState::Live) {
                    return Err(self.interrupted(error));
                }
                segment.set_retired(false);
            }
            if let Err(error) = cleaned.rename_from(FileState::Swap, FileState::Cleaned) {
                return Err(self.interrupted(error));
            }
            return Err(error);
        }
        Ok(())
    }

    /// A swap that can go neither forth nor back: the files are complete and the next start finishes it, but until then
    /// nothing may be read or written here.
    fn interrupted(&self, error: Error) -> Error {
        tracing::error!(partition = %self.name, %error, "a swap of segments was interrupted; the log is closed until the next start");
        self.mark_closed();
        error
    }
}
