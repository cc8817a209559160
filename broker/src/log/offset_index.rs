//! `.index`: from offsets to byte positions.
//!
//! An entry is (last offset of a batch − base offset) i32 · (position of that batch) i32. A position of 0 never occurs in a
//! real entry, since a segment's first batch gets none: zeros are padding of a broker that did not close the file.

use super::entry_file::EntryFile;
use super::error::{Error, Result};
use super::handles::LazyFile;
use crate::types::Offset;

/// Bytes of an entry.
pub(super) const ENTRY: usize = 8;

/// One entry, its offset made absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetEntry {
    /// The last offset of the batch.
    pub offset: Offset,
    /// Where the batch begins in the segment's file.
    pub position: u32,
}

/// The offset index of one segment.
#[derive(Debug)]
pub(super) struct OffsetIndex {
    base_offset: Offset,
    entries: EntryFile<ENTRY>,
}

impl OffsetIndex {
    /// Takes over a file of `size` bytes, leaving out padding at its end.
    pub(super) fn open(file: LazyFile, size: u64) -> Result<Self> {
        let count = u32::try_from(size / ENTRY as u64).unwrap_or(u32::MAX);
        let base_offset = file.name().base_offset;
        let padded = EntryFile::new(file, count);
        let is_real = |entry: &[u8; ENTRY]| decode(base_offset, entry).position != 0;
        let real = match padded.last()? {
            Some(last) if !is_real(&last) => padded.partition_point(is_real)?,
            _ => count,
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

    pub(super) fn last(&self) -> Result<Option<OffsetEntry>> {
        Ok(self.entries.last()?.map(|entry| decode(self.base_offset, &entry)))
    }

    /// Returns the largest entry at or below `target`, or the start of the segment.
    pub(super) fn lookup(&self, target: Offset) -> Result<OffsetEntry> {
        let found = self.entries.partition_point(|entry| decode(self.base_offset, entry).offset <= target)?;
        let entry = found.checked_sub(1).map_or(Ok(None), |at| self.entries.get(at))?;
        let start = OffsetEntry { offset: self.base_offset, position: 0 };
        Ok(entry.map_or(start, |entry| decode(self.base_offset, &entry)))
    }

    /// Returns the first entry whose batch begins at or after `position`.
    pub(super) fn first_at_position(&self, position: u32) -> Result<Option<OffsetEntry>> {
        let found =
            self.entries.partition_point(|entry| decode(self.base_offset, entry).position < position)?;
        Ok(self.entries.get(found)?.map(|entry| decode(self.base_offset, &entry)))
    }

    /// Appends an entry; its offset must be above that of the last.
    pub(super) fn append(&self, offset: Offset, position: u32) -> Result<()> {
        let last = self.last()?;
        match encode(self.base_offset, offset, position) {
            Some(entry) if last.is_none_or(|last| last.offset < offset) => self.entries.append(&entry),
            _ => Err(self.not_rising(offset, position)),
        }
    }

    /// Keeps the entries below `offset`.
    pub(super) fn truncate_to(&self, offset: Offset) -> Result<()> {
        let keep = self.entries.partition_point(|entry| decode(self.base_offset, entry).offset < offset)?;
        self.entries.forget_from(keep);
        Ok(())
    }

    fn not_rising(&self, offset: Offset, position: u32) -> Error {
        let reason = format!("entry for offset {offset} at position {position} does not follow the last one");
        Error::Damaged { path: self.entries.file().path(), position: u64::from(self.entries.count()), reason }
    }
}

/// Returns the entry as it is stored; `None` when the offset is out of the segment's range.
pub(super) fn encode(base_offset: Offset, offset: Offset, position: u32) -> Option<[u8; ENTRY]> {
    let relative =
        i32::try_from(offset.0.checked_sub(base_offset.0)?).ok().filter(|relative| *relative >= 0)?;
    let mut entry = [0; ENTRY];
    let (first, second) = entry.split_at_mut(4);
    first.copy_from_slice(&relative.to_be_bytes());
    second.copy_from_slice(&position.to_be_bytes());
    Some(entry)
}

/// Returns a stored entry with its offset made absolute.
pub(super) fn decode(base_offset: Offset, entry: &[u8; ENTRY]) -> OffsetEntry {
    let [a, b, c, d, e, f, g, h] = *entry;
    OffsetEntry {
        offset: base_offset.plus(i32::from_be_bytes([a, b, c, d]).into()),
        position: u32::from_be_bytes([e, f, g, h]),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::file_names::{FileKind, SegmentFile};
    use crate::log::handles::{Handles, Location};

    fn vector(name: &str) -> OffsetIndex {
        let directory = format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let location = Location::new(directory.into());
        let file = LazyFile::new(&handles, &location, SegmentFile::live(Offset(1000), FileKind::OffsetIndex));
        let size = std::fs::metadata(file.path()).unwrap().len();
        OffsetIndex::open(file, size).unwrap()
    }

    #[test]
    fn padding_of_an_active_segment_is_not_taken_for_entries() {
        let (sealed, active) = (vector("segment"), vector("segment-active"));
        assert_eq!((sealed.entries().count(), active.entries().count()), (11, 11));
        assert_eq!(active.last().unwrap(), sealed.last().unwrap());
        assert_eq!(sealed.last().unwrap(), Some(OffsetEntry { offset: Offset(1279), position: 48_895 }));
    }

    #[test]
    fn the_nearest_entry_at_or_below_is_found() {
        let index = vector("segment");
        for (target, offset, position) in [
            (0, 1000, 0),
            (1028, 1000, 0),
            (1029, 1029, 4420),
            (1053, 1029, 4420),
            (1054, 1054, 8850),
            (9999, 1279, 48_895),
        ] {
            let expected = OffsetEntry { offset: Offset(offset), position };
            assert_eq!(index.lookup(Offset(target)).unwrap(), expected, "{target}");
        }
        assert_eq!(index.first_at_position(4421).unwrap().unwrap().offset, Offset(1054));
        assert_eq!(index.first_at_position(48_896).unwrap(), None);
    }
}
