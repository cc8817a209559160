//! A segment's files as files: made, cut, synced, renamed, removed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::error::{Error, Result};
use super::file_names::{FileKind, FileState, SegmentFile};
use super::segment::Segment;
use crate::disk::DiskFile;
use crate::types::Millis;

impl Segment {
    /// Makes empty files in the place of what an earlier life of the log left under these names. The batches' file comes
    /// last and in one step: without it there is no segment.
    pub(super) fn make_files(&self) -> Result<()> {
        self.remove_stale_transactions()?;
        self.time_index.entries().file().create_empty()?;
        self.offset_index.entries().file().create_empty()?;
        self.log.create_empty()?;
        Ok(())
    }

    /// Returns when the batches were last written.
    pub(super) fn modified(&self) -> Result<Millis> {
        let path = self.log.path();
        let attributes = self.log.disk().attributes(&path).map_err(Error::io("stat", path))?;
        Ok(attributes.modified)
    }

    /// Sets when the batches are said to have been written.
    pub(super) fn set_modified(&self, modified: Millis) -> Result<()> {
        self.log.open()?.set_modified(modified).map_err(Error::io("set the time of", self.log.path()))
    }

    /// Cuts the file to its batches; it is longer when preallocated or after a failed append.
    pub(super) fn trim_log(&self) -> Result<()> {
        let file = self.log.create()?;
        let actual = file.attributes().map_err(Error::io("stat", self.log.path()))?.size;
        if actual == self.size() { Ok(()) } else { self.set_log_size(self.size()) }
    }

    /// Takes `size` bytes as the whole of the segment and cuts its file there.
    pub(super) fn set_recovered_size(&self, size: u64) -> Result<()> {
        self.size.store(size, Ordering::Release);
        self.trim_log()
    }

    pub(super) fn set_log_size(&self, size: u64) -> Result<()> {
        self.log.create()?.set_size(size).map_err(Error::io("truncate", self.log.path()))?;
        self.cut_is_owed.store(false, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn cut_now_or_later(&self, size: u64) {
        if let Err(error) = self.set_log_size(size) {
            tracing::warn!(%error, "a segment could not be cut; it is before the next append");
            self.cut_is_owed.store(true, Ordering::Relaxed);
        }
    }

    /// Makes everything appended durable.
    pub(super) fn sync(&self) -> Result<()> {
        self.log.open()?.sync().map_err(Error::io("sync", self.log.path()))?;
        self.offset_index.entries().sync()?;
        self.time_index.entries().sync()?;
        if self.transactions.entries().count() > 0 { self.transactions.entries().sync() } else { Ok(()) }
    }

    /// Gives all files the suffix of `state`, as one step of a deletion or a swap. After an error none has it.
    ///
    /// A deleted segment is retired first: its names may soon stand for other files.
    pub(super) fn rename_files(&self, state: FileState) -> Result<()> {
        let retires = state == FileState::Deleted;
        self.set_retired(retires);
        let renamed = self.rename_from(self.log.name().state, state);
        if renamed.is_err() {
            self.set_retired(false);
        }
        renamed
    }

    /// Gives all files that have the suffix of `from` that of `to`. After an error none has it.
    pub(super) fn rename_from(&self, from: FileState, to: FileState) -> Result<()> {
        // The batches last: without indexes a segment still works.
        let kinds = [FileKind::TransactionIndex, FileKind::TimeIndex, FileKind::OffsetIndex, FileKind::Log];
        for (done, kind) in kinds.into_iter().enumerate() {
            if let Err(error) = self.rename_file(kind, from, to) {
                for kind in kinds.into_iter().take(done) {
                    if let Err(error) = self.rename_file(kind, to, from) {
                        tracing::warn!(%error, "an index could not be renamed back; it is rebuilt");
                        self.index_suspect.store(true, Ordering::Relaxed);
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Says that the names may stand for other files, or takes that back.
    pub(super) fn set_retired(&self, retired: bool) {
        for file in [
            &self.log,
            self.offset_index.entries().file(),
            self.time_index.entries().file(),
            self.transactions.entries().file(),
        ] {
            file.set_retired(retired);
        }
    }

    /// Removes all files that have the suffix of `state`; what cannot be removed is by the next start.
    pub(super) fn remove_files(&self, state: FileState) {
        self.close_files();
        let directory = self.log.directory();
        for kind in [FileKind::Log, FileKind::OffsetIndex, FileKind::TimeIndex, FileKind::TransactionIndex] {
            let path = SegmentFile { kind, state, ..self.log.name() }.path(&directory);
            match self.log.disk().remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(path = %path.display(), %error, "could not remove an unfinished segment");
                }
                _ => {}
            }
        }
    }

    fn rename_file(&self, kind: FileKind, from: FileState, to: FileState) -> Result<()> {
        let directory = self.log.directory();
        let file = SegmentFile { kind, ..self.log.name() };
        let from = file.in_state(from).path(&directory);
        match self.log.disk().rename(&from, &file.in_state(to).path(&directory)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("rename", from)(error))
            }
            _ => Ok(()),
        }
    }

    /// Closes all files; the next use opens them again.
    pub(super) fn close_files(&self) {
        self.log.close();
        self.offset_index.entries().file().close();
        self.time_index.entries().file().close();
        self.transactions.entries().file().close();
    }

    /// Returns a handle on the batches that stays valid whatever happens to the segment.
    pub(super) fn handle(&self) -> Result<Arc<dyn DiskFile>> {
        self.log.open()
    }

    fn remove_stale_transactions(&self) -> Result<()> {
        let path = self.transactions.entries().file().path();
        match self.log.disk().remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", path)(error))
            }
            _ => Ok(()),
        }
    }
}
