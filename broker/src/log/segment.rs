//! One segment: a file of batches and the indexes into it.
//!
//! One thread at a time changes a segment, under its partition's append lock; any number read it meanwhile. What they may see
//! is bounded by the tail that the partition publishes after an append, not by anything here.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use super::config::LogConfig;
use super::entry_header::EntryHeader;
use super::error::{Error, Result};
use super::file_names::{FileKind, FileState, SegmentFile};
use super::handles::{Handles, LazyFile, Location};
use super::offset_index::{self, OffsetIndex};
use super::scan::Found;
use super::time_index::{self, TimeEntry, TimeIndex};
use super::transaction_index::TransactionIndex;
use crate::types::{Millis, Offset};

/// The largest offset relative to the base that the indexes can hold.
pub(super) const RELATIVE_OFFSET_MAX: i64 = i32::MAX as i64;
pub(super) const NOT_READ: i64 = i64::MIN;

/// A segment of a log.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) base_offset: Offset,
    pub(super) log: LazyFile,
    pub(super) size: AtomicU64,
    pub(super) offset_index: OffsetIndex,
    pub(super) time_index: TimeIndex,
    pub(super) transactions: TransactionIndex,
    /// The largest timestamp and the last offset of the batch that brought it.
    max_timestamp: AtomicI64,
    max_timestamp_offset: AtomicI64,
    /// The first batch's largest timestamp; read from the file when first needed.
    pub(super) first_timestamp: AtomicI64,
    /// When this object was made: what a segment without timestamps is aged by until it is sealed.
    created: Millis,
    bytes_since_index_entry: AtomicU64,
    /// Set when the file could not be cut to its size: what lies behind must go before anything is appended, or a crash
    /// could bring it back.
    pub(super) cut_is_owed: AtomicBool,
    /// Set when an entry could not be written or a look-up found damage; a rebuild clears it.
    pub(super) index_suspect: AtomicBool,
}

/// Where a segment's files are and how they are opened.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) handles: Arc<Handles>,
    pub(super) location: Arc<Location>,
}

/// The sizes of a segment's files as found on disk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileSizes {
    pub(super) log: u64,
    pub(super) offset_index: u64,
    pub(super) time_index: u64,
    pub(super) transactions: u64,
}

impl Place {
    fn file_named(&self, name: SegmentFile) -> LazyFile {
        LazyFile::new(&self.handles, &self.location, name)
    }
}

impl Segment {
    /// Makes a new, empty segment with its files.
    pub(super) fn create(
        place: &Place,
        base_offset: Offset,
        config: &LogConfig,
        now: Millis,
    ) -> Result<Self> {
        Self::create_as(place, base_offset, FileState::Live, config, now)
    }

    /// Makes a new, empty segment whose files are made at once if the disk lets it, else by the first append. The caller has
    /// moved other files of these names away.
    pub(super) fn begin(place: &Place, base_offset: Offset, config: &LogConfig, now: Millis) -> Result<Self> {
        match Self::create(place, base_offset, config, now) {
            Ok(segment) => Ok(segment),
            Err(error) => {
                tracing::warn!(%error, "the files of a new segment could not be made; the first append tries again");
                Self::assemble(place, base_offset, FileState::Live, FileSizes::default(), now)
            }
        }
    }

    /// Makes a new, empty segment whose files carry the suffix of `state`.
    pub(super) fn create_as(
        place: &Place,
        base_offset: Offset,
        state: FileState,
        config: &LogConfig,
        now: Millis,
    ) -> Result<Self> {
        let segment = Self::assemble(place, base_offset, state, FileSizes::default(), now)?;
        segment.make_files()?;
        if config.preallocate
            && let Err(error) = segment.set_log_size(u64::from(config.segment_bytes))
        {
            tracing::warn!(%error, "a segment could not be preallocated");
        }
        Ok(segment)
    }

    /// Takes over the files of a segment as they are.
    pub(super) fn open(place: &Place, base_offset: Offset, sizes: FileSizes, now: Millis) -> Result<Self> {
        let segment = Self::assemble(place, base_offset, FileState::Live, sizes, now)?;
        segment.first_timestamp.store(NOT_READ, Ordering::Relaxed);
        if let Some(last) = segment.time_index.last()? {
            segment.note_timestamp(last.timestamp, last.offset);
        }
        Ok(segment)
    }

    /// Takes over the files of a sealed segment that were given their final names. Nothing is read, so nothing can fail.
    pub(super) fn successor_of(sealed: &Self, place: &Place) -> Self {
        let base_offset = sealed.base_offset;
        let file = |kind| place.file_named(SegmentFile::live(base_offset, kind));
        let load = |number: &AtomicI64| AtomicI64::new(number.load(Ordering::Acquire));
        Self {
            base_offset,
            log: file(FileKind::Log),
            size: AtomicU64::new(sealed.size()),
            offset_index: OffsetIndex::with_entries(
                file(FileKind::OffsetIndex),
                sealed.offset_index.entries(),
            ),
            time_index: TimeIndex::with_entries(file(FileKind::TimeIndex), sealed.time_index.entries()),
            transactions: TransactionIndex::with_entries(
                file(FileKind::TransactionIndex),
                sealed.transactions.entries(),
            ),
            max_timestamp: load(&sealed.max_timestamp),
            max_timestamp_offset: load(&sealed.max_timestamp_offset),
            first_timestamp: load(&sealed.first_timestamp),
            created: sealed.created,
            bytes_since_index_entry: AtomicU64::new(sealed.bytes_since_index_entry.load(Ordering::Relaxed)),
            cut_is_owed: AtomicBool::new(false),
            index_suspect: AtomicBool::new(sealed.index_is_suspect()),
        }
    }

    fn assemble(
        place: &Place,
        base_offset: Offset,
        state: FileState,
        sizes: FileSizes,
        now: Millis,
    ) -> Result<Self> {
        let file = |kind| place.file_named(SegmentFile::live(base_offset, kind).in_state(state));
        Ok(Self {
            base_offset,
            log: file(FileKind::Log),
            size: AtomicU64::new(sizes.log),
            offset_index: OffsetIndex::open(file(FileKind::OffsetIndex), sizes.offset_index)?,
            time_index: TimeIndex::open(file(FileKind::TimeIndex), sizes.time_index)?,
            transactions: TransactionIndex::open(file(FileKind::TransactionIndex), sizes.transactions),
            max_timestamp: AtomicI64::new(-1),
            max_timestamp_offset: AtomicI64::new(-1),
            first_timestamp: AtomicI64::new(-1),
            created: now,
            bytes_since_index_entry: AtomicU64::new(0),
            cut_is_owed: AtomicBool::new(false),
            index_suspect: AtomicBool::new(false),
        })
    }

    pub(super) fn base_offset(&self) -> Offset {
        self.base_offset
    }

    pub(super) fn log(&self) -> &LazyFile {
        &self.log
    }

    /// Returns the bytes of all batches that were appended.
    pub(super) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    pub(super) fn created(&self) -> Millis {
        self.created
    }

    pub(super) fn index_is_suspect(&self) -> bool {
        self.index_suspect.load(Ordering::Relaxed)
    }

    pub(super) fn set_bytes_since_index_entry(&self, bytes: u64) {
        self.bytes_since_index_entry.store(bytes, Ordering::Relaxed);
    }

    /// Returns the largest timestamp and the offset that brought it, if any record has one.
    pub(super) fn max_timestamp(&self) -> Option<TimeEntry> {
        let timestamp = Millis(self.max_timestamp.load(Ordering::Acquire));
        let offset = Offset(self.max_timestamp_offset.load(Ordering::Acquire));
        (timestamp >= Millis(0)).then_some(TimeEntry { timestamp, offset })
    }

    pub(super) fn note_timestamp(&self, timestamp: Millis, offset: Offset) {
        if timestamp.0 > self.max_timestamp.load(Ordering::Relaxed) {
            self.max_timestamp_offset.store(offset.0, Ordering::Release);
            self.max_timestamp.store(timestamp.0, Ordering::Release);
        }
    }

    pub(super) fn forget_timestamps(&self) {
        self.max_timestamp.store(-1, Ordering::Release);
        self.max_timestamp_offset.store(-1, Ordering::Release);
        self.first_timestamp.store(NOT_READ, Ordering::Relaxed);
    }

    /// Returns what age is counted from: the largest timestamp, or when the file was last written.
    pub(super) fn retention_timestamp(&self) -> Result<Millis> {
        self.max_timestamp().map_or_else(|| self.modified(), |largest| Ok(largest.timestamp))
    }

    /// Returns the bytes of the larger one of its two indexes.
    pub(super) fn index_bytes(&self) -> u64 {
        let bytes = |count: u32, entry: usize| u64::from(count) * entry as u64;
        bytes(self.offset_index.entries().count(), offset_index::ENTRY)
            .max(bytes(self.time_index.entries().count(), time_index::ENTRY))
    }

    /// Appends batches with one write. After an error nothing was appended and the file is cut back.
    ///
    /// `parts` are the bytes of exactly the batches whose headers are in `entries`.
    pub(super) fn append(
        &self,
        parts: &mut [IoSlice<'_>],
        entries: impl Iterator<Item = EntryHeader>,
        index_interval_bytes: u32,
    ) -> Result<()> {
        let position = self.size();
        let file = self.log.create()?;
        if self.cut_is_owed.load(Ordering::Relaxed) {
            self.set_log_size(position)?;
        }
        if let Err(error) = file.write_all_at(parts, position) {
            self.cut_now_or_later(position);
            return Err(Error::io("append to", self.log.path())(error));
        }
        let mut end = position;
        for header in entries {
            self.index(&Found { position: end, header }, index_interval_bytes);
            end += u64::from(header.size);
        }
        self.size.store(end, Ordering::Release);
        Ok(())
    }

    /// Notes an appended entry's timestamp and adds index entries when enough bytes passed since the last.
    fn index(&self, found: &Found, index_interval_bytes: u32) {
        let header = &found.header;
        if found.position == 0 {
            self.first_timestamp.store(header.max_timestamp.0, Ordering::Relaxed);
        }
        self.note_timestamp(header.max_timestamp, header.last_offset);
        let since = self.bytes_since_index_entry.load(Ordering::Relaxed);
        let mut since_now = since + u64::from(header.size);
        if since > u64::from(index_interval_bytes) {
            match self.add_index_entries(found) {
                Ok(()) => since_now = u64::from(header.size),
                // The batch is in the log and that is what counts: look-ups scan a little longer until the next try.
                Err(error) => {
                    if !self.index_suspect.swap(true, Ordering::Relaxed) {
                        tracing::warn!(%error, "an index entry could not be written; it is tried again");
                    }
                }
            }
        }
        self.bytes_since_index_entry.store(since_now, Ordering::Relaxed);
    }

    fn add_index_entries(&self, found: &Found) -> Result<()> {
        let position = u32::try_from(found.position).unwrap_or(u32::MAX);
        self.offset_index.append(found.header.last_offset, position)?;
        self.add_time_entry()
    }

    /// Adds the largest timestamp so far to the time index, if it is above the last entry there.
    pub(super) fn add_time_entry(&self) -> Result<()> {
        self.max_timestamp()
            .map_or(Ok(()), |largest| self.time_index.maybe_append(largest.timestamp, largest.offset))
    }

    /// Whether one more batch cannot be indexed.
    pub(super) fn indexes_are_full(&self, index_bytes: u32) -> bool {
        let index_bytes = usize::try_from(index_bytes).unwrap_or(usize::MAX);
        // A limit below one entry must not make every append begin a segment (KAFKA-6388).
        let offset_entries = (index_bytes / offset_index::ENTRY).max(1);
        let time_entries = (index_bytes / time_index::ENTRY).max(2);
        // A time index keeps a slot for the entry that sealing adds.
        self.offset_index.entries().count() as usize >= offset_entries
            || self.time_index.entries().count() as usize + 1 >= time_entries
    }

    /// Ends appending: the last time entry is added and all files are cut to their content, as Kafka expects of them.
    pub(super) fn seal(&self) -> Result<()> {
        self.add_time_entry()?;
        self.offset_index.entries().trim()?;
        self.time_index.entries().trim()?;
        self.trim_log()
    }

    /// The indexes are known to be right again.
    pub(super) fn index_is_rebuilt(&self) {
        self.index_suspect.store(false, Ordering::Relaxed);
    }
}
