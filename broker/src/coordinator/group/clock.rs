//! The two clocks, read.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::machine::Now;
use crate::types::Millis;

/// Reads both clocks; the steady one counts from the coordinator's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts the steady clock at zero.
    pub(super) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(super) fn now(self) -> Now {
        // A wall clock before 1970 is as good as 1970.
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { steady: self.steady(), wall: Millis(i64::try_from(wall.as_millis()).unwrap_or(i64::MAX)) }
    }

    pub(super) fn steady(self) -> Millis {
        Millis(i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}
