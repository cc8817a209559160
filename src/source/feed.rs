//! Where sources put their updates.

use tokio::sync::mpsc;

use crate::model::{SourceHealth, SourceName, SourceUpdate, Update};

/// How many updates wait for the model at most. A source that is faster waits itself: nothing is lost and memory does
/// not grow.
pub const UPDATES_MAX: usize = 8_192;

/// The way from sources and effects to the model.
#[derive(Debug, Clone)]
pub struct Feed {
    updates: mpsc::Sender<Update>,
}

impl Feed {
    /// Returns a feed and the end at which its updates come out.
    pub fn new() -> (Self, mpsc::Receiver<Update>) {
        let (updates, taken) = mpsc::channel(UPDATES_MAX);
        (Self { updates }, taken)
    }

    /// Says what became known, waiting while the model is behind. Nobody listening any more is no error: the source is
    /// about to be dropped.
    pub async fn say(&self, update: Update) {
        self.updates.send(update).await.ok();
    }

    /// Says that a source delivered.
    pub async fn fresh(&self, source: SourceName) {
        self.health(source, SourceHealth::Fresh).await;
    }

    /// Says that a source cannot be read, and why.
    pub async fn stale(&self, source: SourceName, why: impl std::fmt::Display) {
        self.health(source, SourceHealth::Stale { why: why.to_string() }).await;
    }

    /// Says that a source is not read any more.
    pub async fn closed(&self, source: SourceName) {
        self.health(source, SourceHealth::Closed).await;
    }

    async fn health(&self, source: SourceName, health: SourceHealth) {
        self.say(Update::Source(SourceUpdate { source, health })).await;
    }
}
