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
use super::scan::{Found, LOOKUP_WINDOW, Scan, Step};
use super::time_index::{self, TimeEntry, TimeIndex};
use super::transaction_index::TransactionIndex;
use crate::disk::DiskFile;
use crate::types::{Millis, Offset};

/// The largest offset relative to the base that the indexes can hold.
pub(super) const RELATIVE_OFFSET_MAX: i64 = i32::MAX as i64;
const NOT_READ: i64 = i64::MIN;

/// A segment of a log.
#[derive(Debug)]
pub(super) struct Segment {
    base_offset: Offset,
    log: LazyFile,
    size: AtomicU64,
    pub(super) offset_index: OffsetIndex,
    pub(super) time_index: TimeIndex,
    pub(super) transactions: TransactionIndex,
    /// The largest timestamp and the last offset of the batch that brought it.
    max_timestamp: AtomicI64,
    max_timestamp_offset: AtomicI64,
    /// The first batch's largest timestamp; read from the file when first needed.
    first_timestamp: AtomicI64,
    /// When this object was made: what a segment without timestamps is aged by until it is sealed.
    created: Millis,
    bytes_since_index_entry: AtomicU64,
    /// Set when the file could not be cut to its size: what lies behind must go before anything is appended, or a crash
    /// could bring it back.
    cut_is_owed: AtomicBool,
    /// Set when an entry could not be written or a look-up found damage; a rebuild clears it.
    index_suspect: AtomicBool,
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

    /// Makes empty files in the place of what an earlier life of the log left under these names. The batches' file comes
    /// last and in one step: without it there is no segment.
    fn make_files(&self) -> Result<()> {
        self.remove_stale_transactions()?;
        self.time_index.entries().file().create_empty()?;
        self.offset_index.entries().file().create_empty()?;
        self.log.create_empty()?;
        Ok(())
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

    /// Returns the bytes of the larger one of its two indexes.
    pub(super) fn index_bytes(&self) -> u64 {
        let bytes = |count: u32, entry: usize| u64::from(count) * entry as u64;
        bytes(self.offset_index.entries().count(), offset_index::ENTRY)
            .max(bytes(self.time_index.entries().count(), time_index::ENTRY))
    }

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

    /// The indexes are known to be right again.
    pub(super) fn index_is_rebuilt(&self) {
        self.index_suspect.store(false, Ordering::Relaxed);
    }

    fn set_log_size(&self, size: u64) -> Result<()> {
        self.log.create()?.set_size(size).map_err(Error::io("truncate", self.log.path()))?;
        self.cut_is_owed.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn cut_now_or_later(&self, size: u64) {
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
