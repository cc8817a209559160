//! Who watches which key.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use super::operation::{Entry, WatchKey};

/// Keys are spread over this many locks, so that appends to different partitions rarely meet.
const SHARDS: usize = 32;

type Watchers<K, Op> = HashMap<K, Vec<Arc<Entry<K, Op>>>>;

/// The operations that watch each key, those that completed elsewhere included until they are swept out.
pub(super) struct WatchLists<K, Op> {
    hasher: RandomState,
    shards: Vec<Mutex<Watchers<K, Op>>>,
}

impl<K: WatchKey, Op> WatchLists<K, Op> {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect() }
    }

    pub(super) fn watch(&self, key: &K, entry: &Arc<Entry<K, Op>>) {
        self.with(key, |watchers| watchers.entry(key.clone()).or_default().push(Arc::clone(entry)));
    }

    /// Returns those who watch `key` and have not completed.
    pub(super) fn watchers(&self, key: &K) -> Vec<Arc<Entry<K, Op>>> {
        self.with(key, |watchers| {
            let Some(list) = watchers.get_mut(key) else { return Vec::new() };
            list.retain(|entry| !entry.is_completed());
            if list.is_empty() {
                watchers.remove(key);
                return Vec::new();
            }
            list.clone()
        })
    }

    /// Forgets every watcher that has completed.
    pub(super) fn sweep(&self) {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, list| {
                list.retain(|entry| !entry.is_completed());
                !list.is_empty()
            });
        }
    }

    /// Returns how many watchers the lists hold, completed ones included.
    pub(super) fn len(&self) -> usize {
        let lengths = self.shards.iter().map(|shard| {
            shard.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum::<usize>()
        });
        lengths.sum()
    }

    fn with<R>(&self, key: &K, act: impl FnOnce(&mut Watchers<K, Op>) -> R) -> R {
        let count = u64::try_from(self.shards.len()).expect("there are few shards");
        let number =
            usize::try_from(self.hasher.hash_one(key) % count).expect("less than the number of shards");
        let shard = self.shards.get(number).expect("less than the number of shards");
        act(&mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
