//! `.txnindex`: the aborted transactions whose marker lies in a segment.
//!
//! version i16 · producer id i64 · first offset i64 · last offset i64 · last stable offset i64, in the order of the markers, so
//! the last offset rises. The file does not exist until the first abort.

use super::entry_file::EntryFile;
use super::error::Result;
use super::handles::LazyFile;
use super::producer_state::CompletedTransaction;
use crate::types::Offset;

/// Bytes of an entry.
pub(super) const ENTRY: usize = 34;

/// An aborted transaction, as the index holds it and a fetch response lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Whose it was.
    pub producer_id: i64,
    /// Its first record.
    pub first_offset: Offset,
    /// Its marker.
    pub last_offset: Offset,
    /// Up to where everything was decided when the marker was written.
    pub last_stable_offset: Offset,
}

/// The transaction index of one segment.
#[derive(Debug)]
pub(super) struct TransactionIndex {
    entries: EntryFile<ENTRY>,
}

impl From<CompletedTransaction> for AbortedTransaction {
    fn from(ended: CompletedTransaction) -> Self {
        Self {
            producer_id: ended.producer_id,
            first_offset: ended.first_offset,
            last_offset: ended.last_offset,
            last_stable_offset: ended.last_stable_offset,
        }
    }
}

impl TransactionIndex {
    /// Takes over a file of `size` bytes; 0 when there is none.
    pub(super) fn open(file: LazyFile, size: u64) -> Self {
        let count = u32::try_from(size / ENTRY as u64).unwrap_or(u32::MAX);
        Self { entries: EntryFile::new(file, count) }
    }

    /// Takes over a file that has the entries of `known`, without looking.
    pub(super) fn with_entries(file: LazyFile, known: &EntryFile<ENTRY>) -> Self {
        Self { entries: EntryFile::new(file, known.count()) }
    }

    pub(super) fn entries(&self) -> &EntryFile<ENTRY> {
        &self.entries
    }

    pub(super) fn append(&self, aborted: &AbortedTransaction) -> Result<()> {
        self.entries.append(&encode(aborted))
    }

    /// Puts other entries in the place of all that are there. Without any, no file is made.
    pub(super) fn replace(&self, aborted: &[AbortedTransaction]) -> Result<()> {
        if aborted.is_empty() && self.entries.count() == 0 {
            return Ok(());
        }
        let entries: Vec<u8> = aborted.iter().flat_map(encode).collect();
        self.entries.replace(&entries)
    }

    /// Adds the transactions that touch `from..upper` to `found`. Returns whether later segments cannot hold more.
    pub(super) fn collect(
        &self,
        from: Offset,
        upper: Offset,
        found: &mut Vec<AbortedTransaction>,
    ) -> Result<bool> {
        for at in 0..self.entries.count() {
            let Some(entry) = self.entries.get(at)? else { break };
            let aborted = decode(&entry);
            if aborted.last_offset >= from && aborted.first_offset < upper {
                found.push(aborted);
            }
            if aborted.last_stable_offset >= upper {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Drops the entries from the first whose marker is at or above `offset`.
    pub(super) fn truncate_to(&self, offset: Offset) -> Result<()> {
        let keep = self.entries.partition_point(|entry| decode(entry).last_offset < offset)?;
        self.entries.forget_from(keep);
        Ok(())
    }

    /// Whether the last entry is of this segment.
    pub(super) fn is_sound(&self, base_offset: Offset) -> Result<bool> {
        Ok(self.entries.last()?.is_none_or(|entry| decode(&entry).last_offset >= base_offset))
    }
}

fn encode(aborted: &AbortedTransaction) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    let numbers =
        [aborted.producer_id, aborted.first_offset.0, aborted.last_offset.0, aborted.last_stable_offset.0];
    // The first two bytes are the version, 0.
    if let Some(fields) = entry.get_mut(2..) {
        for (field, number) in fields.chunks_exact_mut(8).zip(numbers) {
            field.copy_from_slice(&number.to_be_bytes());
        }
    }
    entry
}

/// Returns a stored entry.
pub(super) fn decode(entry: &[u8; ENTRY]) -> AbortedTransaction {
    let (_, fields) = entry.split_at(2);
    let (fields, _) = fields.as_chunks::<8>();
    let number = |at: usize| fields.get(at).map_or(-1, |field| i64::from_be_bytes(*field));
    AbortedTransaction {
        producer_id: number(0),
        first_offset: Offset(number(1)),
        last_offset: Offset(number(2)),
        last_stable_offset: Offset(number(3)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::file_names::{FileKind, SegmentFile};
    use crate::log::handles::{Handles, Location};

    fn open(directory: &Path) -> TransactionIndex {
        let handles = Handles::new(Arc::new(RealDisk), 4);
        let location = Location::new(directory.to_owned());
        let file =
            LazyFile::new(&handles, &location, SegmentFile::live(Offset(0), FileKind::TransactionIndex));
        let size = std::fs::metadata(file.path()).map_or(0, |metadata| metadata.len());
        TransactionIndex::open(file, size)
    }

    #[test]
    fn kafkas_index_is_read_and_written_alike() {
        let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/transactions");
        let index = open(&vector);
        let mut all = Vec::new();
        assert!(!index.collect(Offset(0), Offset(13), &mut all).unwrap());
        let shown: Vec<_> = all
            .iter()
            .map(|a| (a.producer_id, a.first_offset.0, a.last_offset.0, a.last_stable_offset.0))
            .collect();
        assert_eq!(shown, [(11, 0, 5, 2), (11, 7, 9, 10)]);
        let mut later = Vec::new();
        assert!(index.collect(Offset(6), Offset(10), &mut later).unwrap());
        assert_eq!(later, all[1..]);

        let directory = tempfile::tempdir().unwrap();
        let copy = open(directory.path());
        assert!(!copy.entries().file().path().exists());
        all.iter().for_each(|aborted| copy.append(aborted).unwrap());
        let name = "00000000000000000000.txnindex";
        assert_eq!(
            std::fs::read(directory.path().join(name)).unwrap(),
            std::fs::read(vector.join(name)).unwrap()
        );
        copy.truncate_to(Offset(9)).unwrap();
        assert_eq!(copy.entries().count(), 1);
    }
}
