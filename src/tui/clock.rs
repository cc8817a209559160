//! The moment, as updates are stamped with it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ottla_broker::types::Millis;

/// Milliseconds since the Unix epoch that never step back: the wall clock is read once, then time is only added.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    epoch: Millis,
    started: Instant,
}

impl Clock {
    /// Starts the clock at the wall clock's time.
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let epoch = Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX));
        Self { epoch, started: Instant::now() }
    }

    /// Returns the moment.
    pub fn now(&self) -> Millis {
        self.epoch.plus(Millis(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns when a moment will be on the clock that sleeping goes by.
    pub(super) fn instant(&self, at: Millis) -> Instant {
        let after = u64::try_from(at.since(self.epoch).0).unwrap_or(0);
        self.started + std::time::Duration::from_millis(after)
    }
}
