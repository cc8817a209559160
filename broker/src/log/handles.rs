//! Open files, on demand and counted: a log has thousands of segments, a process a limited number of descriptors.
//!
//! A [`LazyFile`] opens its file when it is first needed. When more than the limit are open, those not used since the last
//! look are closed (the clock algorithm). A handle taken from it stays valid whatever happens to the name.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::{ArcSwap, ArcSwapOption};

use super::error::{Error, Result};
use super::file_names::SegmentFile;
use crate::disk::{Disk, DiskFile, OpenMode};

/// All open files of a log manager.
pub(super) struct Handles {
    pub(super) disk: Arc<dyn Disk>,
    limit: usize,
    open: AtomicUsize,
    ring: Mutex<VecDeque<Weak<Slot>>>,
}

/// A partition's directory; its name changes when the partition is deleted.
#[derive(Debug)]
pub(super) struct Location {
    directory: ArcSwap<PathBuf>,
}

/// A segment's file, open or not.
pub(super) struct LazyFile {
    handles: Arc<Handles>,
    location: Arc<Location>,
    name: SegmentFile,
    slot: Arc<Slot>,
    /// The name may stand for another file now: only a handle that is open already is of use.
    retired: AtomicBool,
}

#[derive(Debug)]
struct Open(Arc<dyn DiskFile>);

#[derive(Debug, Default)]
struct Slot {
    file: ArcSwapOption<Open>,
    recently_used: AtomicBool,
    in_ring: AtomicBool,
}

impl Handles {
    pub(super) fn new(disk: Arc<dyn Disk>, limit: usize) -> Arc<Self> {
        Arc::new(Self { disk, limit: limit.max(1), open: AtomicUsize::new(0), ring: Mutex::default() })
    }

    /// Returns how many files are open.
    pub(super) fn open_count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn admit(&self, slot: &Arc<Slot>) {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        // What falls out of the ring is dropped after the lock: dropping closes a file.
        let mut closed = Vec::new();
        {
            let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
            if !slot.in_ring.swap(true, Ordering::Relaxed) {
                ring.push_back(Arc::downgrade(slot));
            }
            if open <= self.limit {
                return;
            }
            let mut excess = open - self.limit;
            for _ in 0..ring.len().saturating_mul(2) {
                let Some(candidate) = ring.pop_front() else { break };
                let Some(candidate) = candidate.upgrade() else { continue };
                if Arc::ptr_eq(&candidate, slot) || candidate.recently_used.swap(false, Ordering::Relaxed) {
                    ring.push_back(Arc::downgrade(&candidate));
                    continue;
                }
                candidate.in_ring.store(false, Ordering::Relaxed);
                let Some(file) = candidate.file.swap(None) else { continue };
                closed.push(file);
                self.open.fetch_sub(1, Ordering::Relaxed);
                excess -= 1;
                if excess == 0 {
                    break;
                }
            }
        }
        drop(closed);
    }
}

impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles")
            .field("limit", &self.limit)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl Location {
    pub(super) fn new(directory: PathBuf) -> Arc<Self> {
        Arc::new(Self { directory: ArcSwap::from_pointee(directory) })
    }

    pub(super) fn directory(&self) -> Arc<PathBuf> {
        self.directory.load_full()
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.load().join(name)
    }

    /// Notes that the directory has a new name. Files that are open stay so.
    pub(super) fn moved_to(&self, directory: PathBuf) {
        self.directory.store(Arc::new(directory));
    }
}

impl LazyFile {
    pub(super) fn new(handles: &Arc<Handles>, location: &Arc<Location>, name: SegmentFile) -> Self {
        Self {
            handles: handles.clone(),
            location: location.clone(),
            name,
            slot: Arc::default(),
            retired: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> SegmentFile {
        self.name
    }

    pub(super) fn path(&self) -> PathBuf {
        self.name.path(&self.location.directory.load())
    }

    pub(super) fn directory(&self) -> Arc<PathBuf> {
        self.location.directory()
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.handles.disk
    }

    /// Returns the file, opening it when it is not. It must exist.
    pub(super) fn open(&self) -> Result<Arc<dyn DiskFile>> {
        self.open_as(OpenMode::ReadWrite)
    }

    /// Returns the file, opening it when it is not and making it when it does not exist.
    pub(super) fn create(&self) -> Result<Arc<dyn DiskFile>> {
        self.open_as(OpenMode::Create)
    }

    /// Makes the file, empty even if there was one.
    pub(super) fn create_empty(&self) -> Result<Arc<dyn DiskFile>> {
        self.close();
        self.open_as(OpenMode::Truncate)
    }

    fn open_as(&self, mode: OpenMode) -> Result<Arc<dyn DiskFile>> {
        self.slot.recently_used.store(true, Ordering::Relaxed);
        if let Some(open) = &*self.slot.file.load() {
            return Ok(open.0.clone());
        }
        let path = self.path();
        if self.retired.load(Ordering::Acquire) {
            return Err(Error::io("open", path)(io::ErrorKind::NotFound.into()));
        }
        let opened = self.handles.disk.open(&path, mode);
        // After the open: whoever retires a file does it before the name changes.
        let opened =
            if self.retired.load(Ordering::Acquire) { Err(io::ErrorKind::NotFound.into()) } else { opened };
        let file = opened.map_err(Error::io("open", path))?;
        self.keep(&file);
        Ok(file)
    }

    /// Says that the name is about to stand for another file or none, or takes that back. A file that is not open is then
    /// not found.
    pub(super) fn set_retired(&self, retired: bool) {
        self.retired.store(retired, Ordering::Release);
    }

    fn keep(&self, file: &Arc<dyn DiskFile>) {
        if self.slot.file.swap(Some(Arc::new(Open(file.clone())))).is_none() {
            self.handles.admit(&self.slot);
        }
    }

    /// Closes the file if it is open; the next use opens it again.
    pub(super) fn close(&self) {
        if self.slot.file.swap(None).is_some() {
            self.handles.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for LazyFile {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for LazyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyFile").field(&self.path()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use crate::log::file_names::FileKind;
    use crate::types::Offset;

    fn files(handles: &Arc<Handles>, directory: &Path, count: i64) -> Vec<LazyFile> {
        let location = Location::new(directory.to_owned());
        let name = |base| SegmentFile::live(Offset(base), FileKind::Log);
        (0..count).map(|base| LazyFile::new(handles, &location, name(base))).collect()
    }

    #[test]
    fn no_more_than_the_limit_stay_open_and_all_can_be_used() {
        let directory = tempfile::tempdir().unwrap();
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let files = files(&handles, directory.path(), 20);
        for _ in 0..3 {
            for file in &files {
                file.create().unwrap();
                assert!(handles.open_count() <= 5, "{}", handles.open_count());
            }
        }
        assert!(handles.ring.lock().unwrap().len() <= files.len());
        drop(files);
        assert_eq!(handles.open_count(), 0);
    }

    #[test]
    fn a_file_that_is_gone_is_not_made_again_by_a_reader() {
        let directory = tempfile::tempdir().unwrap();
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let files = files(&handles, directory.path(), 1);
        let handle = files[0].create().unwrap();
        std::fs::remove_file(files[0].path()).unwrap();
        assert_eq!(files[0].open().unwrap().attributes().unwrap().size, 0);
        files[0].close();
        assert!(files[0].open().unwrap_err().is_not_found());
        assert_eq!(handle.attributes().unwrap().size, 0);
    }
}
