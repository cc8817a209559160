//! Logical positions in a partition.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A logical position in a partition: the number of a record, never a byte position in a file.
///
/// An end offset is exclusive: the log end offset is the offset of the next record to be appended, and the high
/// watermark the offset of the first record that is not yet committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Offset(pub i64);

impl Offset {
    /// The first offset of a partition that never lost its beginning.
    pub const ZERO: Self = Self(0);
    /// Not known, or none.
    pub const UNKNOWN: Self = Self(-1);

    /// Returns the offset `count` records later.
    #[must_use]
    pub fn plus(self, count: i64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// Returns how many offsets lie from `earlier` up to this one; zero when `earlier` is ahead.
    #[must_use]
    pub fn distance_from(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i64> for Offset {
    fn from(value: i64) -> Self {
        Self(value)
    }
}
