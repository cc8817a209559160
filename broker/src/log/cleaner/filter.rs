//! What of a batch stays. Bytes in, bytes out (Kafka: `MemoryRecords.filterTo`, `Cleaner.shouldRetainRecord`).

use std::collections::BTreeMap;

use bytes::Bytes;
use ottla_protocol::record::{
    self, Attributes, BATCH_HEADER_BYTES, BatchError, BatchHeader, Compression, Decompressed,
    LOG_OVERHEAD_BYTES, TimestampType,
};

use super::offset_map::OffsetMap;
use super::raw_record::{RawRecord, RawRecords};
use crate::log::entry_header::EntryHeader;
use crate::log::producer_state::ProducerEntry;
use crate::log::validate::DECOMPRESSED_BYTES_MAX;
use crate::types::{Millis, Offset};

/// What stays of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept {
    /// All of it, byte for byte.
    Unchanged,
    /// These bytes in its place.
    Rewritten(Vec<u8>),
    /// Nothing.
    Nothing,
}

/// What holds for a round of cleaning.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    /// The last offset of each key up to the end of the round.
    pub(super) map: &'a OffsetMap,
    /// The offset after the last one that the map knows of.
    pub(super) end: Offset,
    pub(super) now: Millis,
    /// From when on a tombstone that is kept now may go.
    pub(super) delete_horizon: Millis,
    /// Whether tombstones of the old formats, which have no horizon, are still kept.
    pub(super) keeps_legacy_tombstones: bool,
    /// The producers that are still remembered.
    pub(super) producers: &'a BTreeMap<i64, ProducerEntry>,
}

/// What was decided for a batch as a whole.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    /// Its records go, whatever their keys.
    drops_records: bool,
    /// It stays as a bare header when no record does.
    stays_empty: bool,
    /// It is a marker of a transaction without data.
    is_idle_marker: bool,
}

impl Rules<'_> {
    /// Decides about an entry. `discardable` is what its transaction says.
    pub(super) fn filter(
        &self,
        header: &EntryHeader,
        entry: &Bytes,
        discardable: bool,
    ) -> Result<Kept, BatchError> {
        if header.magic < 2 {
            return self.filter_legacy(entry);
        }
        let verdict = self.verdict(header, discardable);
        if verdict.drops_records && !verdict.stays_empty {
            return Ok(Kept::Nothing);
        }
        let batch = BatchHeader::parse(entry)?;
        let section = entry.slice(BATCH_HEADER_BYTES.min(entry.len())..);
        let plain =
            match record::decompress(batch.attributes.compression()?, &section, DECOMPRESSED_BYTES_MAX)? {
                Decompressed::Same => section,
                Decompressed::Bytes(bytes) => bytes,
            };
        let mut kept = Vec::new();
        for (index, found) in RawRecords::new(&plain).enumerate() {
            let index = i32::try_from(index).unwrap_or(i32::MAX);
            let found = found.map_err(|error| BatchError::Record { index, error })?;
            if !verdict.drops_records && (header.is_control() || self.keeps(header, &found)) {
                kept.push(found);
            }
        }
        self.write(&batch, &kept, verdict)
    }

    fn verdict(&self, header: &EntryHeader, discardable: bool) -> Verdict {
        let horizon_passed = header.has_delete_horizon() && header.base_timestamp <= self.now;
        let drops_records = discardable && (!header.is_control() || horizon_passed);
        let is_last_of_producer =
            self.producers.get(&header.producer_id).is_some_and(|producer| match producer.batches.last() {
                Some(last) => last.last_offset == header.last_offset,
                None => header.is_control() && header.producer_epoch == producer.epoch,
            });
        let ends_round = header.next_offset() == self.end;
        Verdict {
            drops_records,
            stays_empty: (header.has_producer() && is_last_of_producer) || ends_round,
            is_idle_marker: discardable && header.is_control(),
        }
    }

    /// Whether a record is the last of its key, and no tombstone whose time has come.
    fn keeps(&self, header: &EntryHeader, found: &RawRecord<'_>) -> bool {
        let offset = header.base_offset.plus(found.offset_delta);
        if offset >= self.end {
            return true;
        }
        let Some(key) = found.key else { return false };
        let is_latest = self.map.get(key).is_none_or(|latest| offset >= latest);
        let is_due = header.has_delete_horizon() && header.base_timestamp <= self.now;
        is_latest && (found.has_value || !is_due)
    }

    fn write(
        &self,
        batch: &BatchHeader,
        kept: &[RawRecord<'_>],
        verdict: Verdict,
    ) -> Result<Kept, BatchError> {
        let has_horizon = batch.attributes.has_delete_horizon();
        let has_tombstone = !batch.attributes.is_control() && kept.iter().any(|record| !record.has_value);
        let new_horizon = !has_horizon && (has_tombstone || verdict.is_idle_marker);
        if kept.is_empty() {
            return Ok(if verdict.stays_empty { Kept::Rewritten(empty(batch)) } else { Kept::Nothing });
        }
        let is_whole = i32::try_from(kept.len()).ok() == Some(batch.record_count);
        if is_whole && !new_horizon {
            return Ok(Kept::Unchanged);
        }
        let base_timestamp = if new_horizon { self.delete_horizon.0 } else { batch.base_timestamp };
        let mut section = Vec::new();
        let mut max_timestamp = -1;
        for record in kept {
            let timestamp = batch.base_timestamp.saturating_add(record.timestamp_delta);
            max_timestamp = timestamp.max(max_timestamp);
            if new_horizon {
                record.write_with(timestamp.saturating_sub(base_timestamp), &mut section);
            } else {
                section.extend(record.bytes);
            }
        }
        if batch.attributes.timestamp_type() == TimestampType::LogAppendTime {
            max_timestamp = batch.max_timestamp;
        }
        let attributes = batch.attributes.with_delete_horizon(has_horizon || new_horizon);
        let changed = BatchHeader {
            attributes,
            base_timestamp,
            max_timestamp,
            record_count: i32::try_from(kept.len()).unwrap_or(i32::MAX),
            ..*batch
        };
        let section = match attributes.compression()? {
            Compression::None => section,
            codec => record::compress(codec, &section)?,
        };
        Ok(Kept::Rewritten(assemble(changed, &section)))
    }

    /// Legacy entries stay or go as a whole: a compressed one stays while a message in it does.
    fn filter_legacy(&self, entry: &Bytes) -> Result<Kept, BatchError> {
        let messages = record::messages(entry, DECOMPRESSED_BYTES_MAX)?;
        let keeps = messages.iter().any(|message| {
            let offset = Offset(message.offset);
            let is_latest = |key: &Bytes| self.map.get(key).is_none_or(|latest| offset >= latest);
            let has_time = message.value.is_some() || self.keeps_legacy_tombstones;
            offset >= self.end || (message.key.as_ref().is_some_and(is_latest) && has_time)
        });
        Ok(if keeps { Kept::Unchanged } else { Kept::Nothing })
    }
}

/// A batch without records: what it says of its producer and of the offsets it spans stays.
fn empty(batch: &BatchHeader) -> Vec<u8> {
    let attributes: Attributes =
        batch.attributes.with_compression(Compression::None).with_delete_horizon(false);
    assemble(BatchHeader { attributes, base_timestamp: -1, record_count: 0, ..*batch }, &[])
}

fn assemble(header: BatchHeader, section: &[u8]) -> Vec<u8> {
    let length = BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES + section.len();
    let mut header = BatchHeader { length: i32::try_from(length).unwrap_or(i32::MAX), ..header };
    header.crc = header.compute_crc(section);
    let mut bytes = header.encode().to_vec();
    bytes.extend(section);
    bytes
}
