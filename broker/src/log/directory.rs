//! One of the directories in `log.dirs`: whose it is, whether it works, and the checkpoints of the logs in it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;

use super::checkpoint::{self, OffsetsByPartition};
use super::error::{Error, Result, Severity};
use super::file_names::{CLEANER_OFFSETS, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS};
use crate::disk::Disk;
use crate::types::{Offset, TopicPartition};

/// The offsets of a log that its directory's checkpoints hold. Written by the log, read by whoever writes a checkpoint.
#[derive(Debug)]
pub(super) struct CheckpointedOffsets {
    pub(super) recovery_point: AtomicI64,
    pub(super) log_start: AtomicI64,
    /// The base offset of the first segment.
    pub(super) first_base: AtomicI64,
    pub(super) high_watermark: AtomicI64,
    /// The recovery point as the checkpoint on disk has it: after a crash, what lies below is not looked at.
    pub(super) recovery_point_on_disk: AtomicI64,
    /// Up to where the log is compacted; −1 when it never was.
    pub(super) first_dirty: AtomicI64,
    /// The log start as the checkpoint on disk has it: after a crash, what lies below is not shown.
    pub(super) log_start_on_disk: AtomicI64,
}

/// Told once when a directory goes offline: its path and why.
pub type OnFailure = Arc<dyn Fn(&Path, &str) + Send + Sync>;

/// A directory of logs.
pub(super) struct LogDirectory {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Why the directory is offline.
    failure: ArcSwapOption<String>,
    offsets: Mutex<BTreeMap<TopicPartition, Arc<CheckpointedOffsets>>>,
    /// A log was removed whose offsets the checkpoints still have: they must not be taken for those of a new log.
    outdated: AtomicBool,
    on_failure: Option<OnFailure>,
    /// Held while a checkpoint is written, so that two writers do not share a temporary file.
    writing: Mutex<()>,
}

impl fmt::Debug for LogDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogDirectory").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LogDirectory {
    pub(super) fn new(path: PathBuf, disk: Arc<dyn Disk>, on_failure: Option<OnFailure>) -> Arc<Self> {
        Arc::new(Self {
            path,
            disk,
            failure: ArcSwapOption::empty(),
            offsets: Mutex::default(),
            outdated: AtomicBool::new(false),
            on_failure,
            writing: Mutex::new(()),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Returns why the directory is offline, if it is.
    pub(super) fn failure(&self) -> Option<Arc<String>> {
        self.failure.load_full()
    }

    /// Takes the directory offline if the error means that. Returns the error.
    pub(super) fn note(&self, error: Error) -> Error {
        if error.severity() == Severity::Directory {
            self.take_offline(error.to_string());
        }
        error
    }

    pub(super) fn take_offline(&self, reason: String) {
        let reason = Arc::new(reason);
        let before = self.failure.compare_and_swap(&None::<Arc<String>>, Some(reason.clone()));
        if before.is_some() {
            return;
        }
        tracing::error!(directory = %self.path.display(), %reason, "log directory is offline");
        if let Some(told) = &self.on_failure {
            told(&self.path, &reason);
        }
    }

    /// Fails when the directory is offline.
    pub(super) fn check_online(&self, partition: &TopicPartition) -> Result<()> {
        match &*self.failure.load() {
            None => Ok(()),
            Some(reason) => Err(Error::Offline {
                partition: partition.clone(),
                directory: self.path.clone(),
                reason: reason.to_string(),
            }),
        }
    }

    pub(super) fn add(&self, partition: &TopicPartition, offsets: &Arc<CheckpointedOffsets>) {
        self.lock_offsets().insert(partition.clone(), offsets.clone());
    }

    pub(super) fn remove(&self, partition: &TopicPartition) {
        self.lock_offsets().remove(partition);
        self.outdated.store(true, Ordering::Release);
    }

    /// Rewrites the checkpoints when they have entries of removed logs, as must be before a log is made.
    pub(super) fn checkpoint_if_outdated(&self) -> Result<()> {
        if self.outdated.swap(false, Ordering::AcqRel)
            && let Err(error) = self.checkpoint_all()
        {
            self.outdated.store(true, Ordering::Release);
            return Err(error);
        }
        Ok(())
    }

    /// Writes all checkpoints.
    pub(super) fn checkpoint_all(&self) -> Result<()> {
        self.checkpoint_recovery_points()?;
        self.checkpoint_log_starts()?;
        self.checkpoint_cleaner_offsets()?;
        self.checkpoint_high_watermarks()
    }

    pub(super) fn log_count(&self) -> usize {
        self.lock_offsets().len()
    }

    /// Writes the recovery point of every log.
    pub(super) fn checkpoint_recovery_points(&self) -> Result<()> {
        let recovery_point = |log: &CheckpointedOffsets| Some(log.recovery_point.load(Ordering::Acquire));
        self.checkpoint(RECOVERY_POINTS, recovery_point, |log, point| {
            log.recovery_point_on_disk.store(point.unwrap_or(0), Ordering::Release);
        })
    }

    /// Writes the log start of every log that does not begin at a segment.
    pub(super) fn checkpoint_log_starts(&self) -> Result<()> {
        let log_start = |log: &CheckpointedOffsets| {
            let start = log.log_start.load(Ordering::Acquire);
            (start > log.first_base.load(Ordering::Acquire)).then_some(start)
        };
        self.checkpoint(LOG_STARTS, log_start, |log, start| {
            log.log_start_on_disk.store(start.unwrap_or(0), Ordering::Release);
        })
    }

    /// Writes the high watermark of every log.
    pub(super) fn checkpoint_high_watermarks(&self) -> Result<()> {
        let high_watermark = |log: &CheckpointedOffsets| Some(log.high_watermark.load(Ordering::Acquire));
        self.checkpoint(HIGH_WATERMARKS, high_watermark, |_, _| {})
    }

    /// Writes up to where every log is compacted.
    pub(super) fn checkpoint_cleaner_offsets(&self) -> Result<()> {
        let first_dirty = |log: &CheckpointedOffsets| {
            Some(log.first_dirty.load(Ordering::Acquire)).filter(|first_dirty| *first_dirty >= 0)
        };
        self.checkpoint(CLEANER_OFFSETS, first_dirty, |_, _| {})
    }

    fn checkpoint(
        &self,
        name: &str,
        offset: impl Fn(&CheckpointedOffsets) -> Option<i64>,
        written: impl Fn(&CheckpointedOffsets, Option<i64>),
    ) -> Result<()> {
        let _one_writer = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let logs = self.lock_offsets().clone();
        let offsets: Vec<_> = logs.iter().map(|(name, log)| (name, log, offset(log))).collect();
        let lines =
            offsets.iter().filter_map(|(name, _, offset)| Some(((*name).clone(), Offset((*offset)?))));
        self.write(name, &lines.collect())?;
        for (_, log, offset) in offsets {
            written(log, offset);
        }
        Ok(())
    }

    fn write(&self, name: &str, offsets: &OffsetsByPartition) -> Result<()> {
        checkpoint::write_offsets(self.disk(), &self.path.join(name), offsets)
            .map_err(|error| self.note(error))
    }

    /// Reads a checkpoint. One that cannot be understood has no entries: everything it would have spared is looked at.
    pub(super) fn read_checkpoint(&self, name: &str) -> Result<OffsetsByPartition> {
        match checkpoint::read_offsets(self.disk(), &self.path.join(name)) {
            Err(error @ Error::Malformed { .. }) => {
                tracing::warn!(%error, "checkpoint is damaged and taken for empty");
                Ok(OffsetsByPartition::new())
            }
            read => read.map_err(|error| self.note(error)),
        }
    }

    fn lock_offsets(&self) -> std::sync::MutexGuard<'_, BTreeMap<TopicPartition, Arc<CheckpointedOffsets>>> {
        self.offsets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckpointedOffsets {
    pub(super) fn recovery_point(&self) -> Offset {
        Offset(self.recovery_point.load(Ordering::Acquire))
    }

    pub(super) fn log_start(&self) -> Offset {
        Offset(self.log_start.load(Ordering::Acquire))
    }

    pub(super) fn high_watermark(&self) -> Offset {
        Offset(self.high_watermark.load(Ordering::Acquire))
    }
}
