//! That a broker cannot go on, for those who wait for it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Tells those who wait that the broker cannot go on.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    reason: Mutex<Option<String>>,
    changed: Condvar,
}

impl Ended {
    /// The broker cannot go on; only the first reason counts.
    pub(crate) fn end(&self, reason: String) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.changed.notify_all();
    }

    /// Waits for the reason.
    pub(crate) fn wait(&self) -> String {
        let mut reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(reason) = reason.as_ref() {
                return reason.clone();
            }
            reason = self.changed.wait(reason).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells when a broker cannot go on.
#[derive(Debug, Clone)]
pub struct Ending(pub(crate) Arc<Ended>);

impl Ending {
    /// Waits until the broker cannot go on, and returns why. A broker that is well is waited for without end.
    #[must_use]
    pub fn wait(&self) -> String {
        self.0.wait()
    }
}
