//! The thread that does what can wait: syncing, removing, retention, checkpoints.

use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::chores::{Due, Removal};
use super::error::{Error, Result};
use super::manager::LogManager;
use super::partition_log::PartitionLog;

/// The longest sleep: removals that were added meanwhile are seen by then.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Something to be looked at again and again.
struct Task {
    due: Instant,
    every: Duration,
    run: Run,
}

type Run = fn(&LogManager);

impl LogManager {
    /// Starts the background thread and those that clean. They end at [`shutdown`](Self::shutdown).
    ///
    /// # Errors
    /// What the operating system answered when asked for a thread.
    pub fn start_background(self: &Arc<Self>) -> Result<()> {
        let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        if background.is_some() {
            return Ok(());
        }
        let manager = Arc::downgrade(self);
        let thread = thread::Builder::new().name("log-background".to_owned()).spawn(move || run(&manager));
        *background = Some(thread.map_err(Error::io("start the background thread of", "logs"))?);
        self.start_cleaner()
    }

    pub(super) fn stop_background(&self) {
        self.cleaner.stop();
        self.environment.chores.stop();
        let thread = self.background.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the background thread of the logs had ended in a panic");
        }
    }

    fn tasks(&self, now: Instant) -> Vec<Task> {
        let intervals = &self.options.intervals;
        let after = |ms: u64| now.checked_add(Duration::from_millis(ms));
        let first = after(intervals.initial_delay_ms).unwrap_or(now);
        let tasks: [(u64, Run); 6] = [
            (intervals.retention_check_ms, Self::apply_retention),
            (intervals.flush_scheduler_ms, Self::flush_old),
            (intervals.recovery_point_checkpoint_ms, |manager| {
                note(manager.checkpoint_recovery_points());
            }),
            (intervals.log_start_checkpoint_ms, |manager| {
                note(manager.online().try_for_each(|directory| directory.checkpoint_log_starts()));
            }),
            (intervals.high_watermark_checkpoint_ms, |manager| note(manager.checkpoint_high_watermarks())),
            (intervals.producer_expiration_check_ms, Self::expire_producers),
        ];
        // One that would be due after the end of time is never due.
        let task = |(every, run): (u64, Run)| {
            after(every).map(|_| Task { due: first, every: Duration::from_millis(every), run })
        };
        tasks.into_iter().filter(|(every, _)| *every < u64::MAX / 2).filter_map(task).collect()
    }

    /// Applies retention to every log now.
    pub fn apply_retention(&self) {
        self.for_each("apply retention to", |log| log.apply_retention().map(drop));
    }

    fn flush_old(&self) {
        self.for_each("flush", PartitionLog::flush_if_old);
    }

    fn expire_producers(&self) {
        self.logs().iter().for_each(|log| log.expire_producers());
    }

    /// Does for every log; one that fails does not keep the others from it.
    fn for_each(&self, what: &str, run: impl Fn(&PartitionLog) -> Result<()>) {
        for log in self.logs() {
            match run(&log) {
                Ok(()) | Err(Error::Closed { .. } | Error::Offline { .. }) => {}
                Err(error) => {
                    let error = log.directory.note(error);
                    tracing::warn!(partition = %log.name(), %error, "could not {what} a log");
                }
            }
        }
    }

    /// Does what logs have left to be done, as far as it is due.
    pub(super) fn do_chores(&self, due: Due) {
        for name in due.logs {
            let Some(log) = self.get(&name) else { continue };
            match log.attend() {
                Ok(()) | Err(Error::Closed { .. } | Error::Offline { .. }) => {}
                Err(error) => tracing::warn!(partition = %name, %error, "could not finish a log's work"),
            }
        }
        due.removals.iter().for_each(|removal| self.remove(removal));
    }

    fn remove(&self, removal: &Removal) {
        let disk = &*self.options.disk;
        let removed = if removal.is_directory {
            disk.remove_directory(&removal.path)
        } else {
            disk.remove_file(&removal.path)
        };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %removal.path.display(), %error, "could not remove what was deleted");
            }
            _ => {}
        }
    }
}

fn run(manager: &Weak<LogManager>) {
    let Some(mut tasks) = manager.upgrade().map(|manager| manager.tasks(Instant::now())) else { return };
    loop {
        // Not held while waiting, so that a manager that is dropped without a shutdown is dropped.
        let Some(chores) = manager.upgrade().map(|manager| manager.environment.chores.clone()) else {
            return;
        };
        let Some(clock) = manager.upgrade().map(|manager| manager.environment.clock.clone()) else { return };
        let next_task = tasks.iter().map(|task| task.due).min();
        let until_task = next_task.map_or(LONGEST_WAIT, |due| due.saturating_duration_since(Instant::now()));
        let until_removal = chores.next_removal().map_or(LONGEST_WAIT, |due| {
            Duration::from_millis(u64::try_from(due.since(clock()).0).unwrap_or(0).saturating_add(1))
        });
        chores.wait_for_work(until_task.min(until_removal).min(LONGEST_WAIT));
        let Some(manager) = manager.upgrade() else { return };
        let due = chores.due(clock());
        let stopped = due.stopped;
        manager.do_chores(due);
        if stopped {
            return;
        }
        let now = Instant::now();
        for task in tasks.iter_mut().filter(|task| task.due <= now) {
            (task.run)(&manager);
            task.due = now.checked_add(task.every).unwrap_or(task.due);
        }
    }
}

fn note(result: Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "a checkpoint could not be written; it is tried again");
    }
}
