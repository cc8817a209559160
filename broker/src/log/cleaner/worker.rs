//! The threads that clean: take the dirtiest log, clean it, pause when there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::round::Outcome;
use super::target::Target;
use crate::log::error::{Error, Result, Severity};
use crate::log::manager::LogManager;
use crate::log::partition_log::PartitionLog;
use crate::types::TopicPartition;

/// How a broker cleans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanerOptions {
    /// `log.cleaner.threads`; none when `log.cleaner.enable` is off.
    pub threads: usize,
    /// `log.cleaner.dedupe.buffer.size`: memory for keys, over all threads.
    pub dedupe_buffer_bytes: usize,
    /// `log.cleaner.backoff.ms`: the pause when no log is dirty enough.
    pub backoff_ms: u64,
}

impl Default for CleanerOptions {
    /// Kafka's defaults.
    fn default() -> Self {
        Self { threads: 1, dedupe_buffer_bytes: 128 << 20, backoff_ms: 15_000 }
    }
}

/// What the cleaning threads share.
#[derive(Debug, Default)]
pub(in crate::log) struct Cleaner {
    state: Mutex<State>,
    wake: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct State {
    /// Logs that a thread is working on.
    busy: BTreeSet<TopicPartition>,
    /// Logs that met an error, and which; they are left alone until the next start.
    uncleanable: BTreeMap<TopicPartition, String>,
    stopped: bool,
}

impl Cleaner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::log) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a cleaner thread had ended in a panic");
            }
        }
    }

    /// Waits for the end of a pause. Returns whether the thread is to go on.
    fn pause(&self, pause: Duration) -> bool {
        let running = |state: &mut State| !state.stopped;
        let (state, _) =
            self.wake.wait_timeout_while(self.lock(), pause, running).unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }
}

impl LogManager {
    /// Starts the cleaning threads.
    pub(in crate::log) fn start_cleaner(self: &Arc<Self>) -> Result<()> {
        let mut threads = self.cleaner.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for number in 0..self.options.cleaner.threads {
            let (manager, cleaner) = (Arc::downgrade(self), self.cleaner.clone());
            let builder = thread::Builder::new().name(format!("log-cleaner-{number}"));
            let thread = builder.spawn(move || run(&manager, &cleaner));
            threads.push(thread.map_err(Error::io("start a cleaner thread of", "logs"))?);
        }
        Ok(())
    }

    /// Cleans the log that needs it most, if any does. Returns whether there was one.
    pub fn clean_dirtiest(&self) -> bool {
        let Some((log, target)) = self.take_dirtiest() else { return false };
        let share = self.options.cleaner.dedupe_buffer_bytes / self.options.cleaner.threads.max(1);
        let cleaned = log.clean(target, share);
        let mut state = self.cleaner.lock();
        state.busy.remove(log.name());
        match cleaned {
            Ok(Outcome::CleanTo(offset)) => {
                tracing::info!(partition = %log.name(), %offset, dirty_ratio = target.dirty_ratio, "cleaned a log");
            }
            Ok(Outcome::Overtaken) | Err(Error::Closed { .. } | Error::Offline { .. }) => {}
            Err(error) if error.severity() == Severity::DiskFull => {
                tracing::warn!(partition = %log.name(), %error, "no room to clean a log; it is tried again");
                // Not again at once: the pause is that of a log without work.
                return false;
            }
            Err(error) => {
                let error = log.directory.note(error);
                tracing::error!(partition = %log.name(), %error, "a log cannot be cleaned and is left as it is until the next start");
                state.uncleanable.insert(log.name().clone(), error.to_string());
            }
        }
        true
    }

    fn take_dirtiest(&self) -> Option<(Arc<PartitionLog>, Target)> {
        let mut best: Option<(Arc<PartitionLog>, Target)> = None;
        for log in self.logs() {
            let is_free = {
                let state = self.cleaner.lock();
                !state.busy.contains(log.name()) && !state.uncleanable.contains_key(log.name())
            };
            if !is_free || log.check_usable().is_err() {
                continue;
            }
            let Ok(Some(target)) = log.clean_target() else { continue };
            let is_better = best.as_ref().is_none_or(|(_, known)| target.dirty_ratio > known.dirty_ratio);
            if target.is_due && is_better {
                best = Some((log, target));
            }
        }
        let (log, target) = best?;
        // Another thread may have been as fast.
        self.cleaner.lock().busy.insert(log.name().clone()).then_some((log, target))
    }

    /// Returns the logs that cannot be cleaned, and why.
    #[must_use]
    pub fn uncleanable_partitions(&self) -> BTreeMap<TopicPartition, String> {
        self.cleaner.lock().uncleanable.clone()
    }
}

fn run(manager: &Weak<LogManager>, cleaner: &Cleaner) {
    loop {
        let Some(manager) = manager.upgrade() else { return };
        let found = manager.clean_dirtiest();
        let pause =
            if found { Duration::ZERO } else { Duration::from_millis(manager.options.cleaner.backoff_ms) };
        drop(manager);
        if !cleaner.pause(pause) {
            return;
        }
    }
}
