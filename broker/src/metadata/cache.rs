//! The newest snapshot, and those who wait for the next.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use ottla_protocol::message::UpdateMetadataRequest;

use super::snapshot::{Applied, ClusterSnapshot};
use crate::purgatory::{Completion, DelayedOperation, Purgatory, PurgatoryOptions};

/// How many callers may wait for the cluster to change at one time.
const WAITERS_MAX: usize = 10_000;

/// Holds the newest snapshot.
#[derive(Debug)]
pub struct MetadataCache {
    current: ArcSwap<ClusterSnapshot>,
    /// Updates come one after the other.
    update: Mutex<()>,
    waiters: Purgatory<Changed, MetadataWait>,
}

/// Every waiter watches the same thing: that there is a newer snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Changed;

type Condition = Box<dyn FnMut(&ClusterSnapshot) -> bool + Send>;
type Answer = Box<dyn FnOnce(Completion) + Send>;

struct MetadataWait {
    cache: Arc<MetadataCache>,
    is_satisfied: Condition,
    answer: Answer,
}

impl MetadataCache {
    /// Returns a cache that knows of nothing yet.
    ///
    /// # Errors
    /// When the thread that ends waits cannot be started.
    pub fn new() -> std::io::Result<Self> {
        let options = PurgatoryOptions { name: "metadata", operations_max: WAITERS_MAX, purge_interval: 100 };
        Ok(Self { current: ArcSwap::default(), update: Mutex::new(()), waiters: Purgatory::start(options)? })
    }

    /// Returns the newest snapshot.
    #[must_use]
    pub fn load(&self) -> Arc<ClusterSnapshot> {
        self.current.load_full()
    }

    /// Applies a request of the controller and tells those who wait. What it changed is returned.
    pub fn apply(&self, request: &UpdateMetadataRequest) -> Applied {
        let applied = {
            let _one_at_a_time = self.update.lock().unwrap_or_else(PoisonError::into_inner);
            let applied = self.current.load().apply(request);
            self.current.store(Arc::clone(&applied.snapshot));
            applied
        };
        self.waiters.check(&Changed);
        applied
    }

    /// Calls `answer` once: as soon as `is_satisfied` holds for the newest snapshot, or after `wait`.
    pub fn wait_until(
        self: &Arc<Self>,
        wait: Duration,
        is_satisfied: impl FnMut(&ClusterSnapshot) -> bool + Send + 'static,
        answer: impl FnOnce(Completion) + Send + 'static,
    ) {
        let cache = Arc::clone(self);
        let operation =
            MetadataWait { cache, is_satisfied: Box::new(is_satisfied), answer: Box::new(answer) };
        self.waiters.submit(operation, vec![Changed], wait);
    }

    /// Ends every wait. Without it a cache that is waited for is never dropped.
    pub fn shutdown(&self) {
        self.waiters.shutdown();
    }
}

impl DelayedOperation for MetadataWait {
    fn is_satisfied(&mut self) -> bool {
        (self.is_satisfied)(&self.cache.current.load())
    }

    fn complete(self, completion: Completion) {
        (self.answer)(completion);
    }
}
