//! One thread that reads partitions whose leader this broker has become.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::coordinator::Surroundings;
use super::machine::{Config, Shard};
use super::partition::{Input, Partition, lock, random_seed};
use super::storage::Loaded;
use crate::types::LeaderEpoch;

/// How long a partition that could not be read is left alone before the next try.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// How many records are applied between two looks at whether the load is still wanted.
const CHECK_EVERY: usize = 1_000;

/// Partitions that are to be loaded, first come first served. A partition is in it at most once per epoch in which it
/// was elected.
#[derive(Debug, Default)]
pub(super) struct Loads {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: VecDeque<Load>,
    stopped: bool,
}

#[derive(Debug)]
struct Load {
    partition: Weak<Partition>,
    epoch: LeaderEpoch,
    not_before: Option<Instant>,
}

impl Loads {
    /// Asks for a partition to be loaded.
    pub(super) fn push(&self, partition: Weak<Partition>, epoch: LeaderEpoch) {
        self.push_load(Load { partition, epoch, not_before: None });
    }

    pub(super) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_all();
    }

    /// Loads what is asked for, until [`stop`](Self::stop).
    pub(super) fn run(&self, surroundings: &Surroundings) {
        while let Some(load) = self.next() {
            let Some(partition) = load.partition.upgrade() else { continue };
            if let Err(again) = load_one(&partition, load.epoch, surroundings, || self.is_stopped()) {
                tracing::warn!(error = %again, "groups could not be loaded, trying again");
                self.push_load(Load { not_before: Some(Instant::now() + RETRY_AFTER), ..load });
            }
        }
    }

    fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    fn push_load(&self, load: Load) {
        lock(&self.state).wanted.push_back(load);
        self.changed.notify_one();
    }

    fn next(&self) -> Option<Load> {
        let mut state = lock(&self.state);
        loop {
            if state.stopped {
                return None;
            }
            let now = Instant::now();
            let ready = state.wanted.iter().position(|load| load.not_before.is_none_or(|at| at <= now));
            if let Some(load) = ready.and_then(|index| state.wanted.remove(index)) {
                return Some(load);
            }
            let earliest = state.wanted.iter().filter_map(|load| load.not_before).min();
            state = match earliest {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let waited = self.changed.wait_timeout(state, at.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// Reads one partition and hands its shard over. A load that is no longer wanted ends early.
fn load_one(
    partition: &Partition,
    epoch: LeaderEpoch,
    surroundings: &Surroundings,
    is_stopped: impl Fn() -> bool,
) -> Result<(), super::storage::LoadError> {
    if !partition.wants_load(epoch) {
        return Ok(());
    }
    let start = Instant::now();
    let config: Config = surroundings.config.clone();
    let mut shard = Shard::new(config, random_seed());
    let mut count = 0_usize;
    let mut was_dropped = false;
    surroundings.storage.load(partition.number(), &mut |loaded| {
        count += 1;
        if count.is_multiple_of(CHECK_EVERY) && (is_stopped() || !partition.wants_load(epoch)) {
            was_dropped = true;
            return ControlFlow::Break(());
        }
        match loaded {
            Loaded::Record { record, producer } => shard.replay(&record, producer),
            Loaded::Marker { producer, committed } => shard.replay_marker(producer, committed),
        }
        ControlFlow::Continue(())
    })?;
    if !was_dropped {
        let took = start.elapsed();
        surroundings.metrics.loaded(took);
        tracing::debug!(partition = partition.number(), records = count, ?took, "partition is read");
        partition.submit(Input::Loaded { epoch, shard: Box::new(shard) });
    }
    Ok(())
}
