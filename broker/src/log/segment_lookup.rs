//! Finding batches in a segment: by offset, by time, from its end.

use std::sync::atomic::Ordering;

use super::error::{Error, Result};
use super::scan::{Found, LOOKUP_WINDOW, Scan, Step};
use super::segment::{NOT_READ, Segment};
use super::time_index;
use crate::types::{Millis, Offset};

impl Segment {
    /// Returns the largest timestamp of the first batch, −1 for none.
    pub(super) fn first_timestamp(&self) -> Result<Millis> {
        let known = self.first_timestamp.load(Ordering::Relaxed);
        if known != NOT_READ {
            return Ok(Millis(known));
        }
        let first = self.first_entry()?.map_or(Millis(-1), |found| found.header.max_timestamp);
        self.first_timestamp.store(first.0, Ordering::Relaxed);
        Ok(first)
    }

    fn first_entry(&self) -> Result<Option<Found>> {
        let mut window = [0; LOOKUP_WINDOW];
        let file = self.log.open()?;
        let mut scan = Scan::new(&*file, 0, self.size(), &mut window);
        self.step(&mut scan)
    }

    /// Finds the first entry that ends at or after `offset` and lies before `end`.
    pub(super) fn find(&self, offset: Offset, end: u64) -> Result<Option<Found>> {
        let file = self.log.open()?;
        let from = self.lookup(offset, end);
        let mut window = [0; LOOKUP_WINDOW];
        let mut scan = Scan::new(&*file, from, end, &mut window);
        while let Some(found) = self.step(&mut scan)? {
            if found.header.last_offset >= offset {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns where a scan for `offset` begins; the start of the segment when the index is of no use.
    fn lookup(&self, offset: Offset, end: u64) -> u64 {
        match self.offset_index.lookup(offset) {
            Ok(entry) if u64::from(entry.position) < end => u64::from(entry.position),
            Ok(_) => 0,
            Err(error) => {
                if !self.index_suspect.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "an offset index is damaged; the segment is scanned until it is rebuilt");
                }
                0
            }
        }
    }

    /// Finds the first entry with a timestamp at or after `timestamp` that lies before `end`.
    pub(super) fn find_timestamp(&self, timestamp: Millis, from: Offset, end: u64) -> Result<Option<Found>> {
        let before = self.time_index.lookup(timestamp).unwrap_or_default();
        let start = before.map_or(self.base_offset, |entry| entry.offset).max(from);
        let file = self.log.open()?;
        let mut window = [0; LOOKUP_WINDOW];
        let mut scan = Scan::new(&*file, self.lookup(start, end), end, &mut window);
        while let Some(found) = self.step(&mut scan)? {
            if found.header.max_timestamp >= timestamp && found.header.last_offset >= from {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Reads an entry that was found. Its size has been checked against the file.
    pub(super) fn read_entry(&self, found: &Found) -> Result<Vec<u8>> {
        let mut entry = vec![0; usize::try_from(found.header.size).unwrap_or(usize::MAX)];
        let read = self.log.open()?.read_at(&mut entry, found.position);
        let read = read.map_err(Error::io("read", self.log.path()))?;
        if read < entry.len() {
            let reason = "the file ends inside a batch".to_owned();
            return Err(Error::Damaged { path: self.log.path(), position: found.position, reason });
        }
        Ok(entry)
    }

    /// Takes the next entry of a scan; damage is an error with file and position.
    pub(super) fn step(&self, scan: &mut Scan<'_>) -> Result<Option<Found>> {
        let damaged = |position, reason: &str| {
            Err(Error::Damaged { path: self.log.path(), position, reason: reason.to_owned() })
        };
        match scan.step().map_err(Error::io("read", self.log.path()))? {
            Step::Entry(found) if found.header.last_offset < self.base_offset => {
                damaged(found.position, "offset below that of the segment")
            }
            Step::Entry(found) => Ok(Some(found)),
            Step::End => Ok(None),
            Step::Torn => damaged(scan.position(), "a batch runs past the end"),
            Step::Invalid(reason) => damaged(scan.position(), reason),
        }
    }

    /// Cuts everything from the entry that ends at or after `offset`. Returns where that entry began.
    pub(super) fn truncate_to(&self, offset: Offset) -> Result<Option<Offset>> {
        let Some(found) = self.find(offset, self.size())? else { return Ok(None) };
        self.offset_index.truncate_to(offset)?;
        self.time_index.truncate_to(offset)?;
        self.transactions.truncate_to(offset)?;
        self.size.store(found.position, Ordering::Release);
        self.cut_now_or_later(found.position);
        self.forget_timestamps();
        self.restore_tail()?;
        Ok(Some(found.header.base_offset))
    }

    /// Brings back what only memory knows of the end of the segment: largest timestamp, bytes since the last index entry.
    /// Returns the offset after the last entry.
    pub(super) fn restore_tail(&self) -> Result<Offset> {
        if let Some(last) = self.time_index.last()? {
            self.note_timestamp(last.timestamp, last.offset);
        }
        let size = self.size();
        let last = self.offset_index.last()?.filter(|entry| u64::from(entry.position) < size);
        let from = last.map_or(0, |entry| u64::from(entry.position));
        let mut next_offset = self.base_offset;
        if size > 0 {
            let file = self.log.open()?;
            let mut window = [0; LOOKUP_WINDOW];
            let mut scan = Scan::new(&*file, from, size, &mut window);
            while let Some(found) = self.step(&mut scan)? {
                self.note_timestamp(found.header.max_timestamp, found.header.last_offset);
                next_offset = found.header.next_offset();
            }
        }
        self.set_bytes_since_index_entry(size - from);
        Ok(next_offset)
    }

    /// Whether the indexes can be what this segment's batches produce, judged by their last entries.
    pub(super) fn indexes_are_sound(&self) -> Result<bool> {
        let Some(last) = self.offset_index.last()? else {
            return Ok(self.time_is_sound(None)? && self.transactions.is_sound(self.base_offset)?);
        };
        let size = self.size();
        if last.offset < self.base_offset || u64::from(last.position) >= size {
            return Ok(false);
        }
        let mut window = [0; LOOKUP_WINDOW];
        let file = self.log.open()?;
        let mut scan = Scan::new(&*file, last.position.into(), size, &mut window);
        let Ok(Step::Entry(found)) = scan.step() else { return Ok(false) };
        // An older Kafka follower indexes a whole set: the entry is its last offset at its first batch's position.
        let matches = found.header.base_offset <= last.offset && found.header.base_offset >= self.base_offset;
        Ok(matches
            && self.time_is_sound(Some(last.offset))?
            && self.transactions.is_sound(self.base_offset)?)
    }

    fn time_is_sound(&self, indexed_to: Option<Offset>) -> Result<bool> {
        let entries = self.time_index.entries();
        let (Some(first), Some(last)) = (entries.get(0)?, self.time_index.last()?) else {
            return Ok(true);
        };
        let first = time_index::decode(self.base_offset, &first);
        let in_range = last.offset >= self.base_offset && last.timestamp >= first.timestamp;
        Ok(in_range && self.size() > 0 && (indexed_to.is_some() || entries.count() <= 1))
    }
}
