//! What logs leave to be done later, off the path of appends: syncing sealed segments, removing deleted files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::types::{Millis, TopicPartition};

/// Work that waits. Bounded by what exists: a log is in the set once, a file is removed once.
#[derive(Debug, Default)]
pub(super) struct Chores {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    logs: BTreeSet<TopicPartition>,
    removals: BTreeMap<Millis, Vec<Removal>>,
    stopped: bool,
}

/// A file or directory to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
}

/// What is to be done now.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) logs: BTreeSet<TopicPartition>,
    pub(super) removals: Vec<Removal>,
    pub(super) stopped: bool,
}

impl Chores {
    /// This log has left something to be done: a sealed segment to sync, a file to write, an index to rebuild.
    pub(super) fn attend(&self, partition: &TopicPartition) {
        self.lock().logs.insert(partition.clone());
        self.wake.notify_one();
    }

    /// Remove this at `due`.
    pub(super) fn remove(&self, due: Millis, removal: Removal) {
        self.lock().removals.entry(due).or_default().push(removal);
    }

    /// Whoever waits for chores is to end.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_all();
    }

    /// Waits until a log has left something, the end was called, or `timeout` has passed.
    pub(super) fn wait_for_work(&self, timeout: Duration) {
        let idle = |waiting: &mut Waiting| !waiting.stopped && waiting.logs.is_empty();
        drop(self.wake.wait_timeout_while(self.lock(), timeout, idle));
    }

    /// Returns when the next removal is due.
    pub(super) fn next_removal(&self) -> Option<Millis> {
        self.lock().removals.first_key_value().map(|(due, _)| *due)
    }

    /// Returns what is due.
    pub(super) fn due(&self, now: Millis) -> Due {
        let mut waiting = self.lock();
        let later = waiting.removals.split_off(&now.plus(Millis(1)));
        let removals = std::mem::replace(&mut waiting.removals, later);
        Due {
            logs: std::mem::take(&mut waiting.logs),
            removals: removals.into_values().flatten().collect(),
            stopped: waiting.stopped,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_waits_for_its_time_and_a_log_does_not() {
        let chores = Chores::default();
        let removal = Removal { path: "x".into(), is_directory: false };
        chores.remove(Millis(10), removal.clone());
        assert!(chores.due(Millis(9)).removals.is_empty());
        chores.attend(&TopicPartition::new("orders", 0));
        chores.attend(&TopicPartition::new("orders", 0));
        chores.wait_for_work(Duration::from_secs(600));
        let due = chores.due(Millis(10));
        assert_eq!((due.logs.len(), due.removals), (1, vec![removal]));
        assert!(chores.due(Millis(99)).removals.is_empty());
        chores.stop();
        chores.wait_for_work(Duration::from_secs(600));
        assert!(chores.due(Millis(0)).stopped);
    }
}
