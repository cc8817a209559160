//! One round of cleaning a log: collect keys, rewrite, swap.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use ottla_protocol::record::{self, BATCH_HEADER_BYTES, BatchError, BatchHeader, Decompressed};

use super::filter::{Kept, Rules};
use super::offset_map::OffsetMap;
use super::raw_record::RawRecords;
use super::target::Target;
use super::transactions::Transactions;
use crate::log::append::entries;
use crate::log::config::LogConfig;
use crate::log::error::{Error, Result};
use crate::log::file_names::FileState;
use crate::log::partition_log::PartitionLog;
use crate::log::scan::{Found, PASS_WINDOW, Scan};
use crate::log::segment::{RELATIVE_OFFSET_MAX, Segment};
use crate::log::segments::Segments;
use crate::log::validate::DECOMPRESSED_BYTES_MAX;
use crate::types::{Millis, Offset};

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The log is clean up to here.
    CleanTo(Offset),
    /// The log was truncated, deleted or had segments taken from it meanwhile: nothing, or not all, was swapped in.
    Overtaken,
}

/// A batch as it is walked: where it was found, and its bytes.
struct Batch {
    found: Found,
    bytes: Bytes,
    discardable: bool,
}

impl PartitionLog {
    /// Cleans the target with a map of at most `map_bytes`.
    pub(super) fn clean(&self, target: Target, map_bytes: usize) -> Result<Outcome> {
        let generation = self.generation.load(Ordering::Acquire);
        let segments = self.segments.load_full();
        let (map, clean_to) = self.collect_keys(&segments, target, map_bytes)?;
        let Some(last) = map.last_offset() else { return self.finish(clean_to) };
        let end = last.plus(1);
        let config = self.config.load_full();
        let now = self.now();
        let producers = self.lock().producers.producers().clone();
        let rules = Rules {
            map: &map,
            end,
            now,
            delete_horizon: now.plus(Millis(config.delete_retention_ms)),
            keeps_legacy_tombstones: keeps_legacy_tombstones(&segments, target, &config)?,
            producers: &producers,
        };
        let aborted = self.aborted_transactions(segments.first_base(), end)?;
        let mut transactions = Transactions::new(aborted);
        for group in groups(&segments, end, &config) {
            let cleaned = self.rewrite(&group, &rules, &mut transactions, &config)?;
            if !self.swap_in(&group, &cleaned, generation)? {
                cleaned.remove_files(FileState::Cleaned);
                return Ok(Outcome::Overtaken);
            }
        }
        self.finish(clean_to)
    }

    fn finish(&self, clean_to: Offset) -> Result<Outcome> {
        self.offsets.first_dirty.store(clean_to.0, Ordering::Release);
        self.directory.checkpoint_cleaner_offsets()?;
        Ok(Outcome::CleanTo(clean_to))
    }

    /// Maps the keys of the dirty part to their last offsets, as far as the map has room. Returns the map and where the
    /// next round begins.
    fn collect_keys(
        &self,
        segments: &Segments,
        target: Target,
        map_bytes: usize,
    ) -> Result<(OffsetMap, Offset)> {
        let dirty = target.first_uncleanable.distance_from(target.first_dirty);
        let mut map = OffsetMap::new(u64::try_from(dirty).unwrap_or(0), map_bytes);
        let aborted = self.aborted_transactions(target.first_dirty, target.first_uncleanable)?;
        let mut transactions = Transactions::new(aborted);
        let dirty = segments.tail_from(target.first_dirty).iter();
        for segment in dirty.take_while(|segment| segment.base_offset() < target.first_uncleanable) {
            let mut is_full = false;
            walk(segment, &mut transactions, |batch| {
                let header = &batch.found.header;
                if header.base_offset >= target.first_uncleanable {
                    return Ok(false);
                }
                if header.last_offset < target.first_dirty {
                    return Ok(true);
                }
                if !(header.is_control() || batch.discardable) {
                    is_full = !put_keys(&mut map, batch, target)
                        .map_err(|error| damaged(segment, batch, &error))?;
                }
                if !is_full {
                    map.reached(header.last_offset.min(target.first_uncleanable.plus(-1)));
                }
                Ok(!is_full)
            })?;
            if is_full {
                let next = map.last_offset().map_or(target.first_dirty, |last| last.plus(1));
                return Ok((map, next));
            }
        }
        Ok((map, target.first_uncleanable))
    }

    /// Writes what stays of a group of segments into one new segment.
    fn rewrite(
        &self,
        group: &[Arc<Segment>],
        rules: &Rules<'_>,
        transactions: &mut Transactions,
        config: &LogConfig,
    ) -> Result<Segment> {
        let base = group.first().map_or(Offset::ZERO, |segment| segment.base_offset());
        let plain = LogConfig { preallocate: false, ..config.clone() };
        let cleaned = Segment::create_as(&self.place, base, FileState::Cleaned, &plain, rules.now)?;
        let written = self.copy_kept(&cleaned, group, rules, transactions, config);
        if written.is_err() {
            cleaned.remove_files(FileState::Cleaned);
        }
        written.map(|()| cleaned)
    }

    fn copy_kept(
        &self,
        cleaned: &Segment,
        group: &[Arc<Segment>],
        rules: &Rules<'_>,
        transactions: &mut Transactions,
        config: &LogConfig,
    ) -> Result<()> {
        let mut pending = Vec::new();
        for segment in group {
            self.check_usable()?;
            walk(segment, transactions, |batch| {
                let kept = rules.filter(&batch.found.header, &batch.bytes, batch.discardable);
                match kept.map_err(|error| damaged(segment, batch, &error))? {
                    Kept::Unchanged => pending.extend_from_slice(&batch.bytes),
                    Kept::Rewritten(bytes) => pending.extend(bytes),
                    Kept::Nothing => {}
                }
                if pending.len() >= PASS_WINDOW {
                    flush(cleaned, &mut pending, config)?;
                }
                Ok(true)
            })?;
        }
        flush(cleaned, &mut pending, config)?;
        for aborted in transactions.take_still_marked() {
            cleaned.transactions.append(&aborted)?;
        }
        cleaned.seal()?;
        // Age, where no record tells it, is that of the newest source.
        if let Some(last) = group.last() {
            cleaned.set_modified(last.modified()?)?;
        }
        cleaned.sync()
    }
}

fn flush(cleaned: &Segment, pending: &mut Vec<u8>, config: &LogConfig) -> Result<()> {
    if pending.is_empty() {
        return Ok(());
    }
    let headers = entries(pending).map(|(header, _)| header);
    cleaned.append(&mut [IoSlice::new(pending)], headers, config.index_interval_bytes)?;
    pending.clear();
    Ok(())
}

/// Shows every batch of a segment to `take`, checksum checked, until it has enough.
fn walk(
    segment: &Segment,
    transactions: &mut Transactions,
    mut take: impl FnMut(&Batch) -> Result<bool>,
) -> Result<()> {
    if segment.size() == 0 {
        return Ok(());
    }
    let file = segment.handle()?;
    let mut window = vec![0; PASS_WINDOW];
    let mut scan = Scan::new(&*file, 0, segment.size(), &mut window);
    let failed = || Error::io("read", segment.log().path());
    while let Some(found) = segment.step(&mut scan)? {
        if !scan.checksum_matches(&found).map_err(failed())? {
            return Err(Error::Damaged {
                path: segment.log().path(),
                position: found.position,
                reason: "checksum does not match".to_owned(),
            });
        }
        let marker = scan.marker(&found).map_err(failed())?;
        let discardable = transactions.is_discardable(&found.header, marker);
        let batch = Batch { found, bytes: segment.read_entry(&found)?.into(), discardable };
        if !take(&batch)? {
            break;
        }
    }
    Ok(())
}

/// Puts the keys of a batch's dirty records into the map. Returns whether there was room for all.
fn put_keys(map: &mut OffsetMap, batch: &Batch, target: Target) -> std::result::Result<bool, BatchError> {
    let in_range = |offset: Offset| offset >= target.first_dirty && offset < target.first_uncleanable;
    if batch.found.header.magic < 2 {
        for message in record::messages(&batch.bytes, DECOMPRESSED_BYTES_MAX)? {
            let offset = Offset(message.offset);
            if let Some(key) = message.key.filter(|_| in_range(offset))
                && !map.put(&key, offset)
            {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let header = BatchHeader::parse(&batch.bytes)?;
    let section = batch.bytes.slice(BATCH_HEADER_BYTES.min(batch.bytes.len())..);
    let plain = match record::decompress(header.attributes.compression()?, &section, DECOMPRESSED_BYTES_MAX)?
    {
        Decompressed::Same => section,
        Decompressed::Bytes(bytes) => bytes,
    };
    for (index, found) in RawRecords::new(&plain).enumerate() {
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let found = found.map_err(|error| BatchError::Record { index, error })?;
        let offset = Offset(header.base_offset).plus(found.offset_delta);
        if let Some(key) = found.key.filter(|_| in_range(offset))
            && !map.put(key, offset)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts segments that begin below `end` together as long as one segment can hold them.
fn groups(segments: &Segments, end: Offset, config: &LogConfig) -> Vec<Vec<Arc<Segment>>> {
    let mut groups: Vec<Vec<Arc<Segment>>> = Vec::new();
    let (mut bytes, mut index_bytes) = (0, 0);
    let sources = segments.iter().enumerate().filter(|(_, segment)| segment.base_offset() < end);
    for (place, segment) in sources {
        let next_base = segments.get(place + 1).map_or(end, |next| next.base_offset());
        let in_range = |group: &Vec<Arc<Segment>>| {
            let base = group.first().map_or(Offset::ZERO, |first| first.base_offset());
            next_base.distance_from(base) <= RELATIVE_OFFSET_MAX
        };
        let fits = bytes + segment.size() <= u64::from(config.segment_bytes)
            && index_bytes + segment.index_bytes() <= u64::from(config.segment_index_bytes);
        match groups.last_mut().filter(|group| fits && in_range(group)) {
            Some(group) => group.push(segment.clone()),
            None => {
                groups.push(vec![segment.clone()]);
                (bytes, index_bytes) = (0, 0);
            }
        }
        bytes += segment.size();
        index_bytes += segment.index_bytes();
    }
    groups
}

/// Tombstones of the old formats go by the age of the last segment that is clean already.
fn keeps_legacy_tombstones(segments: &Segments, target: Target, config: &LogConfig) -> Result<bool> {
    let clean = segments.iter().rfind(|segment| segment.base_offset() < target.first_dirty);
    let Some(last_clean) = clean else { return Ok(true) };
    let limit = last_clean.modified()?.0.saturating_sub(config.delete_retention_ms);
    Ok(last_clean.retention_timestamp()?.0 > limit)
}

fn damaged(segment: &Segment, batch: &Batch, error: &BatchError) -> Error {
    Error::Damaged { path: segment.log().path(), position: batch.found.position, reason: error.to_string() }
}
