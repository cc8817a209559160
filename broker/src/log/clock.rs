//! The wall clock, passed in so that tests decide what time it is.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::types::Millis;

/// Tells the time since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Returns the operating system's clock.
#[must_use]
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    })
}
