//! A file of entries of one size, appended in rising order and searched without being read whole.
//!
//! Entries are written with `pwrite` and read with `pread`: no mapping, so neither a full disk nor a file that someone cuts
//! can raise a signal. A search reads the last page first, since most look-ups are near the end, then probes page starts.

use std::io::IoSlice;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{Error, Result};
use super::handles::LazyFile;
use crate::disk::DiskFile;

/// Bytes read at once by a search.
const PAGE: usize = 4096;

/// Entries of `N` bytes. One thread appends; any number search meanwhile and see only what was complete.
#[derive(Debug)]
pub(super) struct EntryFile<const N: usize> {
    file: LazyFile,
    count: AtomicU32,
}

impl<const N: usize> EntryFile<N> {
    const PER_PAGE: usize = PAGE / N;

    /// Takes the file as having `count` entries, whatever its length.
    pub(super) fn new(file: LazyFile, count: u32) -> Self {
        Self { file, count: AtomicU32::new(count) }
    }

    /// Returns the same file as having `count` entries.
    pub(super) fn with_count(self, count: u32) -> Self {
        Self { count: AtomicU32::new(count), ..self }
    }

    pub(super) fn file(&self) -> &LazyFile {
        &self.file
    }

    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    pub(super) fn get(&self, at: u32) -> Result<Option<[u8; N]>> {
        if at >= self.count() {
            return Ok(None);
        }
        self.read(&*self.file.open()?, at).map(Some)
    }

    pub(super) fn last(&self) -> Result<Option<[u8; N]>> {
        self.count().checked_sub(1).map_or(Ok(None), |at| self.get(at))
    }

    /// Appends an entry. Readers see it when this returns; after an error it was not appended.
    pub(super) fn append(&self, entry: &[u8; N]) -> Result<()> {
        let count = self.count();
        let file = self.file.create()?;
        file.write_all_at(&mut [IoSlice::new(entry)], Self::position(count)).map_err(self.failed("write"))?;
        self.count.store(count + 1, Ordering::Release);
        Ok(())
    }

    /// Puts other entries in the place of all that are there, as a rebuild does. Readers see fewer entries meanwhile.
    pub(super) fn replace(&self, entries: &[u8]) -> Result<()> {
        debug_assert_eq!(entries.len() % N, 0, "whole entries");
        self.forget_from(0);
        let file = self.file.create()?;
        file.write_all_at(&mut [IoSlice::new(entries)], 0).map_err(self.failed("write"))?;
        self.count.store(u32::try_from(entries.len() / N).unwrap_or(u32::MAX), Ordering::Release);
        self.trim()
    }

    /// Forgets all entries from the one at `count` on; the next append or trim overwrites what the file has there.
    pub(super) fn forget_from(&self, count: u32) {
        self.count.fetch_min(count, Ordering::AcqRel);
    }

    /// Cuts the file to its entries: Kafka takes a file's whole length for entries.
    pub(super) fn trim(&self) -> Result<()> {
        let file = self.file.create()?;
        let size = Self::position(self.count());
        let actual = file.attributes().map_err(self.failed("stat"))?.size;
        if actual == size { Ok(()) } else { file.set_size(size).map_err(self.failed("truncate")) }
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file.open()?.sync().map_err(self.failed("sync"))
    }

    /// Returns how many entries `before` holds for; it must hold for a prefix of them and for none after it.
    pub(super) fn partition_point(&self, before: impl Fn(&[u8; N]) -> bool) -> Result<u32> {
        let count = self.count();
        if count == 0 {
            return Ok(0);
        }
        let file = self.file.open()?;
        let per_page = u32::try_from(Self::PER_PAGE).unwrap_or(1);
        // The first entry of page `page` is known to satisfy `before`, that of page `end` not to.
        let mut page = (count - 1) / per_page;
        if !before(&self.read(&*file, page * per_page)?) {
            let (mut low, mut end) = (0, page);
            while low < end {
                let middle = low + (end - low) / 2;
                if before(&self.read(&*file, middle * per_page)?) { low = middle + 1 } else { end = middle }
            }
            let Some(before_end) = end.checked_sub(1) else { return Ok(0) };
            page = before_end;
        }
        self.point_in_page(&*file, page * per_page, count, before)
    }

    fn point_in_page(
        &self,
        file: &dyn DiskFile,
        first: u32,
        count: u32,
        before: impl Fn(&[u8; N]) -> bool,
    ) -> Result<u32> {
        let mut page = [0; PAGE];
        let entries = usize::try_from(count - first).unwrap_or(usize::MAX).min(Self::PER_PAGE);
        let wanted = page.get_mut(..entries * N).unwrap_or_default();
        let read = file.read_at(wanted, Self::position(first)).map_err(self.failed("read"))?;
        if read < wanted.len() {
            return Err(self.shrunk(first));
        }
        let (entries, _) = wanted.as_chunks::<N>();
        Ok(first + u32::try_from(entries.partition_point(before)).unwrap_or(u32::MAX))
    }

    fn read(&self, file: &dyn DiskFile, at: u32) -> Result<[u8; N]> {
        let mut entry = [0; N];
        let read = file.read_at(&mut entry, Self::position(at)).map_err(self.failed("read"))?;
        if read < N { Err(self.shrunk(at)) } else { Ok(entry) }
    }

    fn position(at: u32) -> u64 {
        u64::from(at) * N as u64
    }

    fn failed(&self, operation: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        let path = self.file.path();
        Error::io(operation, path)
    }

    fn shrunk(&self, at: u32) -> Error {
        let reason = format!("the file ends before its entry {at}");
        Error::Damaged { path: self.file.path(), position: Self::position(at), reason }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::file_names::{FileKind, SegmentFile};
    use crate::log::handles::{Handles, Location};
    use crate::types::Offset;

    fn entries(directory: &std::path::Path) -> EntryFile<8> {
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let location = Location::new(directory.to_owned());
        EntryFile::new(
            LazyFile::new(&handles, &location, SegmentFile::live(Offset(0), FileKind::OffsetIndex)),
            0,
        )
    }

    #[test]
    fn every_point_is_found_on_every_page() {
        let directory = tempfile::tempdir().unwrap();
        let file = entries(directory.path());
        for count in 0..2000_u64 {
            if [0, 1, 2, 511, 512, 513, 1024, 1025, 1999].contains(&count) {
                for wanted in [0, 1, 2, 510, 511, 512, 513, 1023, 1024, 1025, 1998, 1999, 2000] {
                    let found = file.partition_point(|entry| u64::from_be_bytes(*entry) < wanted).unwrap();
                    assert_eq!(u64::from(found), wanted.min(count), "{wanted} of {count}");
                }
            }
            file.append(&count.to_be_bytes()).unwrap();
        }
        file.forget_from(3);
        file.trim().unwrap();
        assert_eq!(file.last().unwrap(), Some(2_u64.to_be_bytes()));
        assert_eq!(file.get(3).unwrap(), None);
    }

    #[test]
    fn a_file_that_someone_cuts_is_an_error_not_a_signal() {
        let directory = tempfile::tempdir().unwrap();
        let file = entries(directory.path());
        (0..1000_u64).for_each(|at| file.append(&at.to_be_bytes()).unwrap());
        std::fs::File::options().write(true).open(file.file().path()).unwrap().set_len(100).unwrap();
        assert!(matches!(file.partition_point(|_| true), Err(Error::Damaged { .. })));
        assert!(matches!(file.last(), Err(Error::Damaged { .. })));
    }
}
