//! Finding offsets by timestamp.

use super::error::Result;
use super::partition_log::PartitionLog;
use super::scan::Found;
use super::segment::Segment;
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
            if let Some(found) = segment.find_timestamp(timestamp, from, size)? {
                let record = self.first_record_at(segment, &found, timestamp, from)?;
                return Ok(record.filter(|record| record.offset < upper));
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

    fn first_record_at(
        &self,
        _segment: &Segment,
        found: &Found,
        _timestamp: Millis,
        _from: Offset,
    ) -> Result<Option<TimestampOffset>> {
        Ok(Some(TimestampOffset {
            timestamp: found.header.max_timestamp,
            offset: found.header.base_offset,
            leader_epoch: self.epoch_for_offset(found.header.base_offset),
        }))
    }
}
