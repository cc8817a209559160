//! One thread that knows by when each partition must be looked at.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use crate::types::Millis;

/// Deadlines by partition. There are as many as the topic has partitions, so the earliest is found by looking at all.
#[derive(Debug)]
pub(super) struct Deadlines {
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    by_partition: BTreeMap<i32, Millis>,
    stopped: bool,
}

impl Deadlines {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Sets, moves or forgets a partition's deadline.
    pub(super) fn set(&self, partition: i32, deadline: Option<Millis>) {
        let mut state = self.lock();
        let earliest = state.by_partition.values().min().copied();
        match deadline {
            Some(deadline) => state.by_partition.insert(partition, deadline),
            None => state.by_partition.remove(&partition),
        };
        // A deadline that moved away is noticed when the sleeper wakes up.
        if deadline.is_some_and(|deadline| earliest.is_none_or(|earliest| deadline < earliest)) {
            self.changed.notify_one();
        }
    }

    /// Calls `tick` for every partition whose deadline has come, until [`stop`](Self::stop).
    pub(super) fn run(&self, tick: impl Fn(i32)) {
        while let Some(due) = self.wait() {
            due.into_iter().for_each(&tick);
        }
    }

    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Waits until deadlines have come and takes them.
    fn wait(&self) -> Option<Vec<i32>> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            let now = self.clock.steady();
            let due = state.by_partition.iter().filter(|(_, deadline)| **deadline <= now);
            let due: Vec<i32> = due.map(|(partition, _)| *partition).collect();
            if !due.is_empty() {
                state.by_partition.retain(|partition, _| !due.contains(partition));
                return Some(due);
            }
            let earliest = state.by_partition.values().min().copied();
            state = match earliest {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(earliest) => {
                    let wait = Duration::from_millis(u64::try_from(earliest.since(now).0).unwrap_or(0));
                    let waited = self.changed.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
