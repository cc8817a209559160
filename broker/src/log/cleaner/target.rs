//! Which part of a log could be cleaned, and how much it needs to be.

use std::sync::atomic::Ordering;

use crate::log::error::Result;
use crate::log::partition_log::PartitionLog;
use crate::types::{Millis, Offset};

/// What a round of cleaning would work on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    /// Keys are collected from here on.
    pub(super) first_dirty: Offset,
    /// Nothing from here on is touched.
    pub(super) first_uncleanable: Offset,
    /// The dirty share of what could be rewritten.
    pub(super) dirty_ratio: f64,
    /// Whether it is to be done now.
    pub(super) is_due: bool,
}

impl PartitionLog {
    /// Returns what could be cleaned; `None` when the topic is not compacted or nothing could.
    pub(super) fn clean_target(&self) -> Result<Option<Target>> {
        let config = self.config.load_full();
        if !config.compact {
            return Ok(None);
        }
        let segments = self.segments.load_full();
        let (log_start, log_end) = (self.log_start_offset(), self.log_end_offset());
        let checkpointed = Offset(self.offsets.first_dirty.load(Ordering::Acquire));
        // One that lies outside of the log is of an earlier life of it.
        let first_dirty =
            if (log_start..=log_end).contains(&checkpointed) { checkpointed } else { log_start };
        let now = self.now();
        let mut first_uncleanable = self.last_stable_offset().min(segments.active().base_offset());
        let dirty = segments.tail_from(first_dirty).iter();
        let sealed = dirty.filter(|segment| segment.base_offset() < segments.active().base_offset());
        let mut is_overdue = false;
        for segment in sealed {
            if config.min_compaction_lag_ms > 0
                && segment.retention_timestamp()? > Millis(now.0.saturating_sub(config.min_compaction_lag_ms))
            {
                first_uncleanable = first_uncleanable.min(segment.base_offset());
                break;
            }
            let first = segment.first_timestamp()?;
            is_overdue |= first >= Millis(0) && now.since(first) > Millis(config.max_compaction_lag_ms);
        }
        if first_uncleanable <= first_dirty {
            return Ok(None);
        }
        let (mut clean, mut dirty) = (0_u64, 0_u64);
        let considered = segments.iter().enumerate();
        for (place, segment) in
            considered.take_while(|(_, segment)| segment.base_offset() < first_uncleanable)
        {
            // A segment that is clean up to its middle is dirty.
            let is_clean = segments.end_of(place, log_end) <= first_dirty;
            *(if is_clean { &mut clean } else { &mut dirty }) += segment.size();
        }
        let dirty_ratio = ratio(dirty, clean + dirty);
        let is_due = dirty > 0 && (dirty_ratio > config.min_cleanable_dirty_ratio || is_overdue);
        Ok(Some(Target { first_dirty, first_uncleanable, dirty_ratio, is_due }))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share, compared with a setting of a few digits")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
