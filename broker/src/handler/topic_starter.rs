//! Topics that come into being because a client asked for them.

use std::fmt;

use ottla_protocol::message::ErrorCode;

/// Creates topics that clients name without creating them, and the internal ones that coordinators need.
pub trait TopicStarter: Send + Sync + fmt::Debug {
    /// Begins to create a topic with the broker's defaults, or an internal one with its own settings, and does not wait
    /// for it. A topic that is being created already is not begun again.
    ///
    /// # Errors
    /// Why it cannot be: INVALID_REPLICATION_FACTOR with too few brokers, INVALID_TOPIC_EXCEPTION when the name collides.
    fn start(&self, topic: &str) -> Result<(), ErrorCode>;
}
