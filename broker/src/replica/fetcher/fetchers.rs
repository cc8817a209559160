//! Which thread fetches what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;

use super::assignment::Assignment;
use super::thread;
use crate::replica::manager::{ReplicaManager, lock};
use crate::types::{BrokerId, LeaderEpoch, TopicPartition};

/// Names a thread: its leader, and one of `num.replica.fetchers`.
pub(super) type FetcherId = (BrokerId, usize);

/// The threads that fetch, and which partition belongs to which.
#[derive(Debug)]
pub struct Fetchers {
    manager: Weak<ReplicaManager>,
    per_leader: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    threads: BTreeMap<FetcherId, Fetcher>,
    places: BTreeMap<TopicPartition, FetcherId>,
    stopped: bool,
}

#[derive(Debug)]
struct Fetcher {
    assignment: Arc<Assignment>,
    thread: JoinHandle<()>,
}

impl Fetchers {
    pub(in crate::replica) fn new(manager: Weak<ReplicaManager>, per_leader: usize) -> Self {
        Self { manager, per_leader: per_leader.max(1), state: Mutex::default() }
    }

    /// Gives a partition to the thread of its leader, which is started when there is none.
    pub(in crate::replica) fn add(&self, id: &TopicPartition, leader: BrokerId, leader_epoch: LeaderEpoch) {
        let fetcher = (leader, fetcher_index(id, self.per_leader));
        let mut state = lock(&self.state);
        if state.stopped {
            return;
        }
        state.forget(id);
        state.places.insert(id.clone(), fetcher);
        if let Some(running) = state.threads.get(&fetcher)
            && !running.thread.is_finished()
        {
            running.assignment.add(id.clone(), leader_epoch);
            return;
        }
        let assignment = Arc::new(Assignment::default());
        assignment.add(id.clone(), leader_epoch);
        match thread::spawn(self.manager.clone(), fetcher, Arc::clone(&assignment)) {
            Ok(thread) => {
                state.threads.insert(fetcher, Fetcher { assignment, thread });
            }
            Err(error) => tracing::error!(%leader, %error, "cannot start a fetcher thread"),
        }
    }

    /// Takes a partition away from whoever fetches it.
    pub(in crate::replica) fn remove(&self, id: &TopicPartition) {
        lock(&self.state).forget(id);
    }

    /// Returns how many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        lock(&self.state).threads.len()
    }

    /// Ends a thread that has had nothing to do; called by that thread. Returns whether it may go.
    pub(super) fn retire(&self, fetcher: FetcherId, assignment: &Arc<Assignment>) -> bool {
        let mut state = lock(&self.state);
        let is_idle = assignment.is_empty();
        let is_mine =
            state.threads.get(&fetcher).is_some_and(|known| Arc::ptr_eq(&known.assignment, assignment));
        if is_idle && is_mine {
            // Nobody joins it: it has nothing left to do.
            state.threads.remove(&fetcher);
        }
        is_idle
    }

    /// Ends all threads and waits for them.
    pub(in crate::replica) fn shutdown(&self) {
        let threads = {
            let mut state = lock(&self.state);
            state.stopped = true;
            state.places.clear();
            std::mem::take(&mut state.threads)
        };
        threads.values().for_each(|fetcher| fetcher.assignment.stop());
        for ((leader, _), fetcher) in threads {
            let is_self = fetcher.thread.thread().id() == std::thread::current().id();
            if !is_self && fetcher.thread.join().is_err() {
                tracing::error!(%leader, "fetcher thread ended by a panic");
            }
        }
    }
}

impl State {
    fn forget(&mut self, id: &TopicPartition) {
        if let Some(fetcher) = self.places.remove(id)
            && let Some(known) = self.threads.get(&fetcher)
        {
            known.assignment.remove(id);
        }
    }
}

/// Spreads partitions over a leader's threads as Kafka's `AbstractFetcherManager` does.
fn fetcher_index(id: &TopicPartition, per_leader: usize) -> usize {
    let hash =
        id.topic.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let mixed = hash.wrapping_mul(31).wrapping_add(id.partition);
    let positive = if mixed == i32::MIN { 0 } else { mixed.unsigned_abs() };
    usize::try_from(positive).unwrap_or(0) % per_leader
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_spread_as_in_kafka() {
        // "orders".hashCode() in Java.
        let hash: i32 = -1_008_770_331;
        for partition in 0..5 {
            let expected =
                usize::try_from(hash.wrapping_mul(31).wrapping_add(partition).unsigned_abs()).unwrap() % 3;
            assert_eq!(fetcher_index(&TopicPartition::new("orders", partition), 3), expected);
        }
    }
}
