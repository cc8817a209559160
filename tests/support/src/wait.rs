//! Waiting for a condition, never for luck.

use std::thread;
use std::time::{Duration, Instant};

/// Enough for anything that happens inside one machine, even a busy one.
pub const SHORT: Duration = Duration::from_secs(30);
/// Enough for a cluster to start, fail over and heal on a busy machine.
pub const LONG: Duration = Duration::from_secs(120);

/// Looks until `look` finds what it looks for.
///
/// # Panics
/// When the deadline passes first; the message says what was awaited.
pub fn wait_until<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < deadline, "waited {deadline:?} in vain for: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Says visibly that a test does not run here, and how to make it run.
pub fn skip(test: &str, missing: &str, remedy: &str) {
    eprintln!("SKIPPED {test}: {missing} is not installed; {remedy}");
}
