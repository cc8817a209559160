//! Bringing a segment back after a crash: find the end of what is whole, cut the rest, rebuild what is derived.

use super::config::LogConfig;
use super::entry_header::EntryHeader;
use super::epoch_cache::EpochCache;
use super::error::{Error, Result};
use super::offset_index;
use super::producer_state::{Marker, ProducerStates};
use super::scan::{Found, PASS_WINDOW, Scan, Step};
use super::segment::{RELATIVE_OFFSET_MAX, Segment};
use super::time_index::{self, TimeEntry};
use super::transaction_index::AbortedTransaction;
use crate::types::{Millis, Offset};

/// What a recovery leaves of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Recovered {
    /// The offset after the last whole batch.
    pub(super) next_offset: Offset,
    /// How many bytes were cut off.
    pub(super) bytes_cut: u64,
}

/// What a recovery brings up to date besides the segment.
#[derive(Debug)]
pub(super) struct Derived<'a> {
    pub(super) epochs: &'a mut EpochCache,
    pub(super) producers: &'a mut ProducerStates,
}

/// Builds both indexes in memory, by the rule that appends follow.
#[derive(Debug)]
struct IndexBuilder {
    base_offset: Offset,
    interval_bytes: u64,
    bytes_since_entry: u64,
    largest: Option<TimeEntry>,
    offsets: Vec<u8>,
    last_offset: Option<Offset>,
    times: Vec<u8>,
    last_time: Option<Millis>,
}

impl IndexBuilder {
    fn new(base_offset: Offset, config: &LogConfig) -> Self {
        Self {
            base_offset,
            interval_bytes: config.index_interval_bytes.into(),
            bytes_since_entry: 0,
            largest: None,
            offsets: Vec::new(),
            last_offset: None,
            times: Vec::new(),
            last_time: None,
        }
    }

    fn add(&mut self, found: &Found) {
        let header = &found.header;
        if header.max_timestamp > self.largest.map_or(Millis(-1), |largest| largest.timestamp) {
            self.largest = Some(TimeEntry { timestamp: header.max_timestamp, offset: header.last_offset });
        }
        if self.bytes_since_entry > self.interval_bytes && self.add_offset(found).is_some() {
            self.add_time();
            self.bytes_since_entry = 0;
        }
        self.bytes_since_entry += u64::from(header.size);
    }

    fn add_offset(&mut self, found: &Found) -> Option<()> {
        let offset = found.header.last_offset;
        if self.last_offset.is_some_and(|last| offset <= last) {
            return None;
        }
        let position = u32::try_from(found.position).ok()?;
        self.offsets.extend(offset_index::encode(self.base_offset, offset, position)?);
        self.last_offset = Some(offset);
        Some(())
    }

    fn add_time(&mut self) {
        let Some(largest) = self.largest else { return };
        if self.last_time.is_some_and(|last| largest.timestamp <= last) {
            return;
        }
        if let Some(entry) = time_index::encode(self.base_offset, largest.timestamp, largest.offset) {
            self.times.extend(entry);
            self.last_time = Some(largest.timestamp);
        }
    }

    /// Puts the entries into the segment's files in place of what is there.
    fn store(mut self, segment: &Segment) -> Result<()> {
        self.add_time();
        segment.forget_timestamps();
        if let Some(largest) = self.largest {
            segment.note_timestamp(largest.timestamp, largest.offset);
        }
        segment.set_bytes_since_index_entry(self.bytes_since_entry);
        segment.offset_index.entries().replace(&self.offsets)?;
        segment.time_index.entries().replace(&self.times)
    }
}

/// Recovers a segment whose content is not trusted: every checksum is looked at, the first batch that is not whole ends the
/// segment, and indexes, epochs, producers and aborted transactions are rebuilt from what is left.
pub(super) fn recover(segment: &Segment, config: &LogConfig, derived: &mut Derived<'_>) -> Result<Recovered> {
    let size = segment.size();
    let mut builder = IndexBuilder::new(segment.base_offset(), config);
    let mut aborted = Vec::new();
    let mut next_offset = segment.base_offset();
    let path = segment.log().path();
    let file = segment.log().create()?;
    let mut window = vec![0; PASS_WINDOW];
    let mut scan = Scan::new(&*file, 0, size, &mut window);
    let valid = loop {
        let position = scan.position();
        let found = match scan.step().map_err(Error::io("read", &path))? {
            Step::End => break size,
            Step::Torn => break cut(&path, position, size, "the last batch is not whole"),
            Step::Invalid(reason) => break cut(&path, position, size, reason),
            Step::Entry(found) => found,
        };
        if found.header.base_offset < next_offset || !in_range(segment.base_offset(), &found.header) {
            // Offsets are outside of the checksum. Gaps are what compaction leaves; a step back is nothing.
            break cut(&path, position, size, "offsets that do not follow");
        }
        if !scan.checksum_matches(&found).map_err(Error::io("read", &path))? {
            break cut(&path, position, size, "checksum does not match");
        }
        let marker = scan.marker(&found).map_err(Error::io("read", &path))?;
        builder.add(&found);
        aborted.extend(note(&found.header, marker, derived));
        next_offset = found.header.next_offset();
    };
    segment.set_recovered_size(valid)?;
    builder.store(segment)?;
    segment.transactions.replace(&aborted)?;
    Ok(Recovered { next_offset, bytes_cut: size - valid })
}

fn cut(path: &std::path::Path, position: u64, size: u64, reason: &str) -> u64 {
    let bytes = size - position;
    tracing::warn!(file = %path.display(), position, bytes, reason, "the end of a segment is cut off");
    position
}

fn in_range(base_offset: Offset, header: &EntryHeader) -> bool {
    header.last_offset.distance_from(base_offset) <= RELATIVE_OFFSET_MAX
}

fn note(
    header: &EntryHeader,
    marker: Option<Marker>,
    derived: &mut Derived<'_>,
) -> Option<AbortedTransaction> {
    let is_newer = derived.epochs.latest().is_none_or(|(latest, _)| header.leader_epoch > latest);
    if is_newer {
        derived.epochs.assign(header.leader_epoch, header.base_offset);
    }
    derived.producers.apply(header, marker).filter(|ended| ended.aborted).map(AbortedTransaction::from)
}

/// Rebuilds the indexes of a segment whose batches are trusted. Damage met on the way ends the index there and is reported,
/// nothing is cut: committed data is for replication to bring back.
pub(super) fn rebuild_indexes(segment: &Segment, config: &LogConfig) -> Result<()> {
    let mut builder = IndexBuilder::new(segment.base_offset(), config);
    let file = segment.handle()?;
    let mut window = vec![0; PASS_WINDOW];
    let mut scan = Scan::new(&*file, 0, segment.size(), &mut window);
    loop {
        match segment.step(&mut scan) {
            Ok(Some(found)) => builder.add(&found),
            Ok(None) => break,
            Err(error @ Error::Damaged { .. }) => {
                tracing::error!(%error, "a segment is damaged; it is kept as it is and readers stop there");
                break;
            }
            Err(error) => return Err(error),
        }
    }
    builder.store(segment)?;
    segment.index_is_rebuilt();
    Ok(())
}
