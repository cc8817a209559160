//! The two clocks a group lives by.

use crate::types::Millis;

/// One moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// A clock that never steps back, from any beginning: sessions and rebalances are timed by it.
    pub steady: Millis,
    /// Time since the Unix epoch: what records carry and retention compares.
    pub wall: Millis,
}

impl Now {
    /// Returns the steady moment `duration` from now.
    #[must_use]
    pub fn after(self, duration: Millis) -> Millis {
        self.steady.plus(duration)
    }
}
