//! Reading by offset: which bytes of which files answer a fetch.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::error::Result;
use super::partition_log::PartitionLog;
use super::segment::Segment;
use super::segments::Segments;
use super::tail::LogEnd;
use super::transaction_index::AbortedTransaction;
use crate::disk::FileRegion;
use crate::types::Offset;

/// How often a read starts over when segments vanish under it.
const ATTEMPTS: usize = 3;

/// How much a read may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// At most this many bytes, save for the first batch.
    pub max_bytes: u32,
    /// Whether the first batch is returned even when it alone is larger; nothing is returned then otherwise.
    pub at_least_one: bool,
    /// Nothing from this offset on: high watermark, last stable offset or log end.
    pub upper: Offset,
    /// Whether to list the aborted transactions that touch what is returned.
    pub aborted_transactions: bool,
}

/// What a read found.
#[derive(Debug, Clone, Default)]
pub struct FetchedData {
    /// The bytes, in order. They begin at the batch that holds the offset and may end inside of a batch.
    pub regions: Vec<Arc<FileRegion>>,
    /// How many bytes that are.
    pub size: usize,
    /// The base offset of the first batch; the last offset for an entry of magic 0 or 1.
    pub first_batch_offset: Option<Offset>,
    /// The aborted transactions that touch it, if asked for.
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
}

/// Where in which segment an upper bound lies, remembered since every fetch up to the same high watermark needs it.
#[derive(Debug)]
pub(super) struct UpperBound {
    generation: u64,
    offset: Offset,
    segment: Offset,
    position: u64,
}

impl PartitionLog {
    /// Returns the batches from the one that holds `from`, up to the limits.
    ///
    /// Takes no lock and copies no record: what comes back are regions of files.
    ///
    /// # Errors
    /// `Error::OffsetOutOfRange` below log start or above log end, `Error::Damaged` when a header on the way is not
    /// one, and what the operating system answered.
    pub fn read(&self, from: Offset, limits: ReadLimits) -> Result<FetchedData> {
        self.check_usable()?;
        self.retrying(|| self.try_read(from, limits))
    }

    /// Runs a read again when the log changed under it: retention or the cleaner renamed a file between look-up and open,
    /// or a truncation cut what was being walked.
    pub(super) fn retrying<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            let generation = self.generation.load(Ordering::Acquire);
            match read() {
                Err(error)
                    if attempt < ATTEMPTS
                        && (error.is_not_found()
                            || self.generation.load(Ordering::Acquire) != generation) =>
                {
                    attempt += 1;
                    // Whoever is changing the log is done when this lock is free.
                    drop(self.lock());
                }
                Err(error) => return Err(self.directory.note(error)),
                read => return read,
            }
        }
    }

    fn try_read(&self, from: Offset, limits: ReadLimits) -> Result<FetchedData> {
        // The end is loaded before the segments: a later list has every segment that the end may name.
        let end = self.tail.load();
        if from < self.log_start_offset() || from > end.offset {
            return Err(self.out_of_range(from));
        }
        let mut data = FetchedData::default();
        if limits.aborted_transactions {
            data.aborted_transactions = Some(Vec::new());
        }
        if from >= limits.upper.min(end.offset) {
            return Ok(data);
        }
        let segments = self.segments.load_full();
        let upper = self.resolve_upper(limits.upper, end, &segments)?;
        let next = self.fill(&mut data, from, limits, upper, &segments)?;
        if limits.aborted_transactions && data.size > 0 {
            data.aborted_transactions = Some(collect_aborted(&segments, from, next)?);
        }
        Ok(data)
    }

    /// Adds regions to `data`. Returns an offset that no record of them reaches.
    fn fill(
        &self,
        data: &mut FetchedData,
        from: Offset,
        limits: ReadLimits,
        upper: LogEnd,
        segments: &Segments,
    ) -> Result<Offset> {
        let mut room = u64::from(limits.max_bytes);
        let mut from = from;
        for segment in segments.tail_from(from) {
            if segment.base_offset() > upper.segment {
                break;
            }
            let is_last = segment.base_offset() == upper.segment;
            let end = if is_last { upper.position } else { segment.size() };
            let Some(first) = segment.find(from, end)? else {
                from = from.max(segment.base_offset());
                continue;
            };
            if data.first_batch_offset.is_none() {
                let least = u64::from(first.header.size);
                if room < least && !limits.at_least_one {
                    break;
                }
                data.first_batch_offset = Some(first.header.base_offset);
                room = room.max(least);
            }
            let size = room.min(end - first.position);
            if size == 0 {
                break;
            }
            push_region(data, segment, first.position, size)?;
            room -= size;
            let whole = first.position + size == end;
            if room == 0 || is_last || !whole {
                return self.offset_after(segment, first.position + size, whole && is_last, upper, segments);
            }
            // The next segment goes on from its own base.
            from = segment.base_offset().plus(1);
        }
        Ok(upper.offset)
    }

    /// Returns an offset above all records that begin before `position` (Kafka: `fetchUpperBoundOffset`).
    fn offset_after(
        &self,
        segment: &Segment,
        position: u64,
        to_upper: bool,
        upper: LogEnd,
        segments: &Segments,
    ) -> Result<Offset> {
        if to_upper {
            return Ok(upper.offset);
        }
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        let indexed = segment.offset_index.first_at_position(position)?;
        let end = segments
            .place_of(segment.base_offset())
            .map_or(upper.offset, |place| segments.end_of(place, upper.offset));
        Ok(indexed.map_or(end, |entry| entry.offset))
    }

    /// Returns in which segment and at which byte `upper` lies.
    fn resolve_upper(&self, upper: Offset, end: LogEnd, segments: &Segments) -> Result<LogEnd> {
        if upper >= end.offset {
            return Ok(end);
        }
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(known) = &*self.upper_bound.load()
            && known.generation == generation
            && known.offset == upper
        {
            return Ok(LogEnd { offset: upper, segment: known.segment, position: known.position });
        }
        let found = self.search_upper(upper, end, segments)?;
        self.upper_bound.store(Some(Arc::new(UpperBound {
            generation,
            offset: upper,
            segment: found.segment,
            position: found.position,
        })));
        Ok(found)
    }

    fn search_upper(&self, upper: Offset, end: LogEnd, segments: &Segments) -> Result<LogEnd> {
        let Some(segment) = segments.place_of(upper).and_then(|place| segments.get(place)) else {
            return Err(self.out_of_range(upper));
        };
        let size = if segment.base_offset() == end.segment { end.position } else { segment.size() };
        // A batch that holds the bound in its middle stays out as a whole.
        let position = segment.find(upper, size)?.map_or(size, |found| found.position);
        Ok(LogEnd { offset: upper, segment: segment.base_offset(), position })
    }

    /// Returns the aborted transactions that touch `from..upper`.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn aborted_transactions(&self, from: Offset, upper: Offset) -> Result<Vec<AbortedTransaction>> {
        collect_aborted(&self.segments.load(), from, upper)
    }
}

fn push_region(data: &mut FetchedData, segment: &Segment, position: u64, size: u64) -> Result<()> {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    data.regions.push(Arc::new(FileRegion::new(segment.handle()?, position, size)));
    data.size += usize::try_from(size).unwrap_or(usize::MAX);
    Ok(())
}

fn collect_aborted(segments: &Segments, from: Offset, upper: Offset) -> Result<Vec<AbortedTransaction>> {
    let mut found = Vec::new();
    for segment in segments.tail_from(from) {
        if segment.transactions.collect(from, upper, &mut found)? {
            break;
        }
    }
    Ok(found)
}
