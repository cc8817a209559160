//! `.timeindex`: from timestamps to offsets.
//!
//! An entry is (largest timestamp of the segment so far) i64 · (last offset of the batch that brought it − base offset) i32.
//! Timestamps strictly rise, so zeros after the first entry are padding of a broker that did not close the file.

use super::entry_file::EntryFile;
use super::error::{Error, Result};
use super::handles::LazyFile;
use crate::types::{Millis, Offset};

/// Bytes of an entry.
pub(super) const ENTRY: usize = 12;

/// One entry, its offset made absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeEntry {
    /// The largest timestamp of the segment up to the offset.
    pub timestamp: Millis,
    /// The last offset of the batch that brought it.
    pub offset: Offset,
}

/// The time index of one segment.
#[derive(Debug)]
pub(super) struct TimeIndex {
    base_offset: Offset,
    entries: EntryFile<ENTRY>,
}

impl TimeIndex {
    /// Takes over a file of `size` bytes, leaving out padding at its end.
    pub(super) fn open(file: LazyFile, size: u64) -> Result<Self> {
        let count = u32::try_from(size / ENTRY as u64).unwrap_or(u32::MAX);
        let base_offset = file.name().base_offset;
        let padded = EntryFile::new(file, count);
        // Only a first entry can be of the epoch's first millisecond or before; one of nothing but zeros is padding.
        let is_above_zero = |entry: &[u8; ENTRY]| decode(base_offset, entry).timestamp > Millis(0);
        let real = match (padded.get(0)?, padded.last()?) {
            (Some(_), Some(last)) if is_above_zero(&last) => count,
            (Some(first), Some(_)) if is_above_zero(&first) => padded.partition_point(is_above_zero)?,
            (Some(first), Some(_)) => u32::from(first != [0; ENTRY]),
            _ => 0,
        };
        Ok(Self { base_offset, entries: padded.with_count(real) })
    }

    /// Takes over a file that has the entries of `known`, without looking.
    pub(super) fn with_entries(file: LazyFile, known: &EntryFile<ENTRY>) -> Self {
        Self { base_offset: file.name().base_offset, entries: EntryFile::new(file, known.count()) }
    }

    pub(super) fn entries(&self) -> &EntryFile<ENTRY> {
        &self.entries
    }

    pub(super) fn last(&self) -> Result<Option<TimeEntry>> {
        Ok(self.entries.last()?.map(|entry| decode(self.base_offset, &entry)))
    }

    /// Returns the largest entry at or below `target`, if any.
    pub(super) fn lookup(&self, target: Millis) -> Result<Option<TimeEntry>> {
        let found =
            self.entries.partition_point(|entry| decode(self.base_offset, entry).timestamp <= target)?;
        let entry = found.checked_sub(1).map_or(Ok(None), |at| self.entries.get(at))?;
        Ok(entry.map(|entry| decode(self.base_offset, &entry)))
    }

    /// Appends an entry if its timestamp is above that of the last one.
    pub(super) fn maybe_append(&self, timestamp: Millis, offset: Offset) -> Result<()> {
        if timestamp < Millis(0) {
            return Ok(());
        }
        match (self.last()?, encode(self.base_offset, timestamp, offset)) {
            (Some(last), Some(_)) if timestamp <= last.timestamp => Ok(()),
            (last, Some(entry)) if last.is_none_or(|last| offset >= last.offset) => {
                self.entries.append(&entry)
            }
            _ => Err(self.not_rising(timestamp, offset)),
        }
    }

    /// Keeps the entries whose offset is below `offset`.
    pub(super) fn truncate_to(&self, offset: Offset) -> Result<()> {
        let keep = self.entries.partition_point(|entry| decode(self.base_offset, entry).offset < offset)?;
        self.entries.forget_from(keep);
        Ok(())
    }

    fn not_rising(&self, timestamp: Millis, offset: Offset) -> Error {
        let reason =
            format!("entry for timestamp {timestamp} at offset {offset} does not follow the last one");
        Error::Damaged { path: self.entries.file().path(), position: u64::from(self.entries.count()), reason }
    }
}

/// Returns the entry as it is stored; `None` when the offset is out of the segment's range.
pub(super) fn encode(base_offset: Offset, timestamp: Millis, offset: Offset) -> Option<[u8; ENTRY]> {
    let relative =
        i32::try_from(offset.0.checked_sub(base_offset.0)?).ok().filter(|relative| *relative >= 0)?;
    let mut entry = [0; ENTRY];
    let (first, second) = entry.split_at_mut(8);
    first.copy_from_slice(&timestamp.0.to_be_bytes());
    second.copy_from_slice(&relative.to_be_bytes());
    Some(entry)
}

/// Returns a stored entry with its offset made absolute.
pub(super) fn decode(base_offset: Offset, entry: &[u8; ENTRY]) -> TimeEntry {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *entry;
    TimeEntry {
        timestamp: Millis(i64::from_be_bytes([a, b, c, d, e, f, g, h])),
        offset: base_offset.plus(i32::from_be_bytes([i, j, k, l]).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::{Disk, OpenMode, RealDisk};
    use crate::log::file_names::{FileKind, SegmentFile};
    use crate::log::handles::{Handles, Location};

    fn open(directory: &std::path::Path) -> TimeIndex {
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let location = Location::new(directory.to_owned());
        let file = LazyFile::new(&handles, &location, SegmentFile::live(Offset(1000), FileKind::TimeIndex));
        let size = std::fs::metadata(file.path()).map_or(0, |metadata| metadata.len());
        TimeIndex::open(file, size).unwrap()
    }

    #[test]
    fn padding_is_left_out_and_look_ups_take_the_entry_below() {
        let vectors = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
        let (sealed, active) = (open(&vectors.join("segment")), open(&vectors.join("segment-active")));
        assert_eq!((sealed.entries().count(), active.entries().count()), (12, 12));
        assert_eq!(sealed.last().unwrap(), active.last().unwrap());
        assert_eq!(sealed.lookup(Millis(1_700_000_005_003)).unwrap(), None);
        let found = sealed.lookup(Millis(1_700_000_009_000)).unwrap().unwrap();
        assert_eq!(found, TimeEntry { timestamp: Millis(1_700_000_005_004), offset: Offset(1029) });
    }

    #[test]
    fn only_rising_timestamps_are_written() {
        let directory = tempfile::tempdir().unwrap();
        RealDisk.open(&directory.path().join(format!("{:020}.timeindex", 1000)), OpenMode::Create).unwrap();
        let index = open(directory.path());
        for (timestamp, offset) in [(-1, 1000), (5, 1001), (5, 1002), (3, 1003), (9, 1004)] {
            index.maybe_append(Millis(timestamp), Offset(offset)).unwrap();
        }
        assert_eq!(index.entries().count(), 2);
        index.maybe_append(Millis(10), Offset(1003)).unwrap_err();
        index.truncate_to(Offset(1004)).unwrap();
        assert_eq!(index.last().unwrap(), Some(TimeEntry { timestamp: Millis(5), offset: Offset(1001) }));
    }
}
