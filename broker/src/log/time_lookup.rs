//! Finding offsets by timestamp.

use bytes::Bytes;
use ottla_protocol::record::{self, BatchError};

use super::error::{Error, Result};
use super::partition_log::PartitionLog;
use super::scan::Found;
use super::segment::Segment;
use super::validate::DECOMPRESSED_BYTES_MAX;
use crate::types::{LeaderEpoch, Millis, Offset};

/// A record found by its timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampOffset {
    /// The record's timestamp.
    pub timestamp: Millis,
    /// The record's offset.
    pub offset: Offset,
    /// The leader epoch that wrote it, if known.
    pub leader_epoch: Option<LeaderEpoch>,
}

impl PartitionLog {
    /// Returns the first record at or after log start and below `upper` whose timestamp is at or after `timestamp`.
    ///
    /// # Errors
    /// [`Error::Damaged`], and what the operating system answered.
    pub fn offset_for_timestamp(&self, timestamp: Millis, upper: Offset) -> Result<Option<TimestampOffset>> {
        self.check_usable()?;
        self.retrying(|| self.try_offset_for_timestamp(timestamp, upper))
    }

    fn try_offset_for_timestamp(&self, timestamp: Millis, upper: Offset) -> Result<Option<TimestampOffset>> {
        let end = self.tail.load();
        let from = self.log_start_offset();
        let segments = self.segments.load_full();
        for segment in segments.tail_from(from).iter().filter(|segment| segment.base_offset() < upper) {
            let is_active = segment.base_offset() >= end.segment;
            // A segment whose records have no timestamps holds none to find.
            let holds_it = segment.max_timestamp().is_some_and(|largest| largest.timestamp >= timestamp);
            if !holds_it {
                continue;
            }
            let size = if is_active { end.position } else { segment.size() };
            if let Some((timestamp, offset)) = first_record(segment, timestamp, from, size)? {
                let leader_epoch = self.epoch_for_offset(offset);
                return Ok((offset < upper).then_some(TimestampOffset { timestamp, offset, leader_epoch }));
            }
        }
        Ok(None)
    }

    /// Returns the record with the largest timestamp below `upper`: the first of them when several have it.
    ///
    /// # Errors
    /// [`Error::Damaged`], and what the operating system answered.
    pub fn max_timestamp_offset(&self, upper: Offset) -> Result<Option<TimestampOffset>> {
        self.check_usable()?;
        let largest =
            self.segments.load().iter().filter_map(|segment| segment.max_timestamp()).max_by(|a, b| {
                // The earlier of two equal ones wins.
                a.timestamp.cmp(&b.timestamp).then(b.offset.cmp(&a.offset))
            });
        largest.map_or(Ok(None), |largest| self.offset_for_timestamp(largest.timestamp, upper))
    }
}

/// Returns the first record at or after `from` whose timestamp is at or after `timestamp`.
fn first_record(
    segment: &Segment,
    timestamp: Millis,
    from: Offset,
    end: u64,
) -> Result<Option<(Millis, Offset)>> {
    let mut from = from;
    while let Some(found) = segment.find_timestamp(timestamp, from, end)? {
        let matches = |(time, offset): &(Millis, Offset)| *time >= timestamp && *offset >= from;
        if let Some(record) = timestamps(segment, &found)?.into_iter().find(matches) {
            return Ok(Some(record));
        }
        // The record with the batch's largest timestamp lies before `from`.
        from = found.header.next_offset();
    }
    Ok(None)
}

/// Returns timestamps and offsets of an entry's records.
fn timestamps(segment: &Segment, found: &Found) -> Result<Vec<(Millis, Offset)>> {
    let entry = Bytes::from(segment.read_entry(found)?);
    let damaged = |error: BatchError| Error::Damaged {
        path: segment.log().path(),
        position: found.position,
        reason: error.to_string(),
    };
    let of = |timestamp, offset| (Millis(timestamp), Offset(offset));
    if found.header.magic < 2 {
        let messages = record::messages(&entry, DECOMPRESSED_BYTES_MAX).map_err(damaged)?;
        return Ok(messages.iter().map(|message| of(message.timestamp, message.offset)).collect());
    }
    let records = record::iterate(&entry, DECOMPRESSED_BYTES_MAX).map_err(damaged)?;
    records.map(|record| record.map(|record| of(record.timestamp, record.offset)).map_err(damaged)).collect()
}
