//! Time as machines see it: a number that is passed in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment or a duration in milliseconds.
///
/// Moments in records, nodes and logs count from the Unix epoch. Moments given to a machine's `step` come from one
/// clock that never steps back; which one is the driver's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Returns the moment `duration` later, at the far end of time instead of past it.
    #[must_use]
    pub fn plus(self, duration: Self) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// Returns the time that passed since `earlier`; zero when `earlier` lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0).max(0))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
