//! The thread that completes what has waited long enough, and sweeps up behind those who completed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::operation::{Completion, DelayedOperation, Entry, Shared, WatchKey, lock};
use super::timer_wheel::{TimerKey, TimerWheel};
use crate::types::Millis;

/// A timer wheel with a clock, and the thread that waits on it.
pub(super) struct Timer<T> {
    started: Instant,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    wheel: TimerWheel<T>,
    /// Until when the reaper sleeps; an earlier deadline must wake it. `None`: it is awake, or sleeps without limit.
    sleeps_until: Option<Millis>,
    sleeping: bool,
    woken: bool,
    stopped: bool,
}

/// What the reaper is to do next.
enum Work<T> {
    /// These have waited long enough.
    Due(Vec<T>),
    /// Somebody asked for a look round.
    Sweep,
    /// The end: these are left.
    Stop(Vec<T>),
}

impl<T> Timer<T> {
    pub(super) fn new() -> Self {
        let state = State {
            wheel: TimerWheel::new(Millis(0)),
            sleeps_until: None,
            sleeping: false,
            woken: false,
            stopped: false,
        };
        Self { started: Instant::now(), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Keeps `value` for `wait`; `None` when the timer has stopped.
    pub(super) fn insert(&self, wait: Duration, value: T) -> Option<TimerKey> {
        let deadline = self.now().plus(Millis(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)));
        let mut state = lock(&self.state);
        if state.stopped {
            return None;
        }
        let key = state.wheel.insert(deadline, value);
        let earlier = state.sleeps_until.is_none_or(|until| deadline < until);
        if state.sleeping && earlier {
            self.changed.notify_one();
        }
        Some(key)
    }

    pub(super) fn cancel(&self, key: TimerKey) {
        drop(lock(&self.state).wheel.cancel(key));
    }

    pub(super) fn wake(&self) {
        lock(&self.state).woken = true;
        self.changed.notify_one();
    }

    pub(super) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_one();
    }

    fn now(&self) -> Millis {
        Millis(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    fn next_work(&self) -> Work<T> {
        let mut due = Vec::new();
        let mut state = lock(&self.state);
        loop {
            if state.stopped {
                state.wheel.advance(Millis(i64::MAX), &mut due);
                return Work::Stop(due);
            }
            let now = self.now();
            state.wheel.advance(now, &mut due);
            if !due.is_empty() {
                return Work::Due(due);
            }
            if std::mem::take(&mut state.woken) {
                return Work::Sweep;
            }
            state.sleeps_until = state.wheel.next_deadline();
            state.sleeping = true;
            state = match state.sleeps_until {
                Some(until) => {
                    // One more than the rest: the clock is cut to whole milliseconds.
                    let rest = u64::try_from(until.since(now).0).unwrap_or(0) + 1;
                    let waited = self.changed.wait_timeout(state, Duration::from_millis(rest));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.sleeping = false;
        }
    }
}

/// Runs until the purgatory shuts down.
pub(super) fn run<K: WatchKey, Op: DelayedOperation>(shared: &Arc<Shared<K, Op>>) {
    loop {
        match shared.timer.next_work() {
            Work::Due(entries) => complete(shared, &entries, Completion::Expired),
            Work::Sweep => {}
            Work::Stop(entries) => {
                complete(shared, &entries, Completion::Shutdown);
                return;
            }
        }
        if shared.stale.load(Ordering::Acquire) >= shared.options.purge_interval {
            shared.stale.store(0, Ordering::Release);
            shared.lists.sweep();
        }
    }
}

fn complete<K: WatchKey, Op: DelayedOperation>(
    shared: &Shared<K, Op>,
    entries: &[Arc<Entry<K, Op>>],
    completion: Completion,
) {
    for entry in entries {
        shared.complete_anyway(entry, completion);
    }
}
