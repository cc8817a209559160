//! Which partitions a thread fetches, and how it hears that they changed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::replica::manager::lock;
use crate::types::{LeaderEpoch, TopicPartition};

/// The partitions of one thread.
#[derive(Debug, Default)]
pub(super) struct Assignment {
    state: Mutex<State>,
    /// Counts additions and the order to stop: what a waiting fetch is given up for.
    version: AtomicU64,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    partitions: BTreeMap<TopicPartition, LeaderEpoch>,
    stopped: bool,
}

impl Assignment {
    /// Adds a partition, or lets it begin anew in another epoch.
    pub(super) fn add(&self, id: TopicPartition, leader_epoch: LeaderEpoch) {
        lock(&self.state).partitions.insert(id, leader_epoch);
        self.announce();
    }

    /// Takes a partition away. A fetch under way may still name it: its answer no longer counts.
    pub(super) fn remove(&self, id: &TopicPartition) {
        lock(&self.state).partitions.remove(id);
    }

    pub(super) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.announce();
    }

    pub(super) fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.state).partitions.is_empty()
    }

    pub(super) fn partitions(&self) -> Vec<TopicPartition> {
        lock(&self.state).partitions.keys().cloned().collect()
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Waits until the version is no longer `seen`.
    pub(super) async fn changed_since(&self, seen: u64) {
        loop {
            let notified = self.changed.notified();
            if self.version() != seen {
                return;
            }
            notified.await;
        }
    }

    fn announce(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }
}
