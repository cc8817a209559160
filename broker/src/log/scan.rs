//! Walking a segment's file from entry to entry, reading headers only or checking every byte.
//!
//! Never reads past the end it is given, never allocates by a length found in the file, and tells a torn tail (an entry that
//! runs past the end) from damage.

use std::io;

use crc_fast::{CrcAlgorithm, Digest};

use super::entry_header::{BATCH_HEADER, EntryHeader, Parsed};
use super::producer_state::Marker;
use crate::disk::DiskFile;

/// A window that suits a look-up: it holds the headers of all small batches between two index entries.
pub(super) const LOOKUP_WINDOW: usize = 4096;
/// A window that suits a pass over a whole segment.
pub(super) const PASS_WINDOW: usize = 1 << 20;
/// More than a control batch of any kind has.
const CONTROL_BATCH_LIMIT: u32 = 512;

/// An entry and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The position of the entry's first byte.
    pub position: u64,
    /// Its header.
    pub header: EntryHeader,
}

/// What comes next in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// An entry that lies wholly before the end.
    Entry(Found),
    /// Nothing: the last entry ended exactly at the end.
    End,
    /// An entry begins that runs past the end.
    Torn,
    /// No entry can begin like this.
    Invalid(&'static str),
}

/// A walk over the entries of a file.
pub(super) struct Scan<'a> {
    file: &'a dyn DiskFile,
    position: u64,
    end: u64,
    window: &'a mut [u8],
    window_start: u64,
    window_filled: usize,
}

impl<'a> Scan<'a> {
    /// Begins at `position`, where an entry must begin, and ends at `end`. The window holds at least a batch header.
    pub(super) fn new(file: &'a dyn DiskFile, position: u64, end: u64, window: &'a mut [u8]) -> Self {
        debug_assert!(window.len() >= BATCH_HEADER, "a window holds a header");
        Self { file, position, end, window, window_start: 0, window_filled: 0 }
    }

    /// Returns where the next entry begins, or the failed one if the last step did not find any.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Finds the next entry by its header.
    pub(super) fn step(&mut self) -> io::Result<Step> {
        let left = self.end.saturating_sub(self.position);
        if left == 0 {
            return Ok(Step::End);
        }
        let position = self.position;
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH_HEADER);
        Ok(match EntryHeader::parse(self.at(position, wanted)?) {
            Parsed::Header(header) if u64::from(header.size) <= left => {
                self.position += u64::from(header.size);
                Step::Entry(Found { position, header })
            }
            Parsed::Header(_) | Parsed::Short => Step::Torn,
            Parsed::Invalid(reason) => Step::Invalid(reason),
        })
    }

    /// Whether the checksum in the entry's header is that of its bytes.
    pub(super) fn checksum_matches(&mut self, found: &Found) -> io::Result<bool> {
        let (covered_from, algorithm) = match found.header.magic {
            2 => (21, CrcAlgorithm::Crc32Iscsi),
            _ => (16, CrcAlgorithm::Crc32IsoHdlc),
        };
        let mut digest = Digest::new(algorithm);
        let mut position = found.position + covered_from;
        let end = found.position + u64::from(found.header.size);
        while position < end {
            let wanted = usize::try_from(end - position).unwrap_or(usize::MAX).min(self.window.len());
            let bytes = self.at(position, wanted)?;
            if bytes.is_empty() {
                return Ok(false);
            }
            digest.update(bytes);
            position += bytes.len() as u64;
        }
        Ok(digest.finalize() == u64::from(found.header.crc))
    }

    /// Returns what a control batch says about a transaction; `None` for other batches and other control records.
    pub(super) fn marker(&mut self, found: &Found) -> io::Result<Option<Marker>> {
        if !found.header.is_control() || found.header.size > CONTROL_BATCH_LIMIT {
            return Ok(None);
        }
        let size = usize::try_from(found.header.size).unwrap_or(usize::MAX).min(self.window.len());
        Ok(marker_of(self.at(found.position, size)?))
    }

    /// Returns up to `wanted` bytes of the file from `position` on, at most a window full.
    pub(super) fn at(&mut self, position: u64, wanted: usize) -> io::Result<&[u8]> {
        let filled_end = self.window_start + self.window_filled as u64;
        if position < self.window_start || position + wanted as u64 > filled_end {
            let left = usize::try_from(self.end.saturating_sub(position)).unwrap_or(usize::MAX);
            let size = self.window.len().min(left);
            let window = self.window.get_mut(..size).unwrap_or_default();
            self.window_filled = self.file.read_at(window, position)?;
            self.window_start = position;
        }
        let from = usize::try_from(position - self.window_start).unwrap_or(usize::MAX);
        let to = from.saturating_add(wanted).min(self.window_filled);
        Ok(self.window.get(from..to).unwrap_or_default())
    }
}

/// Returns what the control batch in `bytes` says about a transaction.
///
/// The record of a marker: length, attributes, two deltas, then a key of version i16 · type i16 and a value of version
/// i16 · coordinator epoch i32; all its varints are of one byte.
pub(super) fn marker_of(bytes: &[u8]) -> Option<Marker> {
    let record = bytes.get(BATCH_HEADER..)?;
    let (key_length, key) = record.get(4..)?.split_first()?;
    let (kind, rest) = key.get(2..)?.split_first_chunk::<2>()?;
    let (value_length, value) = rest.split_first()?;
    let coordinator_epoch = value.get(2..)?.first_chunk::<4>()?;
    // Zig-zag varints: 8 is 4, 12 is 6.
    if (*key_length, *value_length) != (8, 12) {
        return None;
    }
    let commit = match i16::from_be_bytes(*kind) {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(Marker { commit, coordinator_epoch: i32::from_be_bytes(*coordinator_epoch) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::{Disk, OpenMode, RealDisk};

    /// Walks a vector, checking everything; returns the bytes of its good prefix and what ended it.
    fn walk(name: &str, window: usize) -> (u64, Step, usize) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
        let file = RealDisk.open(&path, OpenMode::Read).unwrap();
        let size = file.attributes().unwrap().size;
        let mut window = vec![0; window];
        let mut scan = Scan::new(&*file, 0, size, &mut window);
        for count in 0.. {
            let position = scan.position();
            match scan.step().unwrap() {
                Step::Entry(found) if scan.checksum_matches(&found).unwrap() => {}
                Step::Entry(_) => return (position, Step::Invalid("CRC"), count),
                end => return (position, end, count),
            }
        }
        unreachable!("the walk ends")
    }

    #[test]
    fn damage_is_told_from_a_torn_tail_whatever_the_window() {
        let cases = [
            ("torn.log", 1762, true),
            ("torn-header.log", 222, true),
            ("torn-size.log", 333, true),
            ("corrupt-crc.log", 1762, false),
            ("corrupt-middle.log", 222, false),
            ("corrupt-size.log", 333, false),
            ("zeros-corrupt.log", 1762, false),
        ];
        for (name, valid_bytes, torn) in cases {
            for window in [61, 64, 100, LOOKUP_WINDOW, PASS_WINDOW] {
                let (position, end, _) = walk(name, window);
                assert_eq!(position, valid_bytes, "{name}");
                assert_eq!(end == Step::Torn, torn, "{name}: {end:?}");
            }
        }
    }

    #[test]
    fn whole_files_of_every_format_are_walked_to_their_end() {
        let cases = [
            ("empty.log", 0),
            ("v0.log", 3),
            ("v1.log", 3),
            ("v1-gzip.log", 1),
            ("v0-lz4.log", 1),
            ("v2-zstd.log", 1),
            ("upgraded.log", 4),
            ("v2-compacted.log", 3),
            ("v2-lz4-blocks.log", 1),
            ("bad-count.log", 1),
            ("segment/00000000000000001000.log", 60),
            ("transactions/00000000000000000000.log", 9),
        ];
        for (name, entries) in cases {
            let (_, end, count) = walk(name, LOOKUP_WINDOW);
            assert_eq!((end, count), (Step::End, entries), "{name}");
        }
    }

    #[test]
    fn markers_are_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/v2-transaction.log");
        let file = RealDisk.open(&path, OpenMode::Read).unwrap();
        let mut window = [0; 128];
        let mut scan = Scan::new(&*file, 0, file.attributes().unwrap().size, &mut window);
        let mut markers = Vec::new();
        while let Step::Entry(found) = scan.step().unwrap() {
            markers.push(scan.marker(&found).unwrap());
        }
        let marker = |commit| Some(Marker { commit, coordinator_epoch: 5 });
        assert_eq!(markers, [None, marker(true), None, marker(false)]);
    }
}
