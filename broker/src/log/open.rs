//! Starting a log manager: take the directories, see whether they are this broker's, load what is in them; and ending it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use super::checkpoint::OffsetsByPartition;
use super::chores::{Chores, Removal};
use super::directory::LogDirectory;
use super::directory_lock::DirectoryLock;
use super::error::{Error, Result, Severity};
use super::file_names::{
    CLEAN_SHUTDOWN, CLEANER_OFFSETS, DirectoryName, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS,
};
use super::handles::{Handles, Location};
use super::load::{self, Expected};
use super::manager::LogManager;
use super::options::LogManagerOptions;
use super::partition_log::{Environment, PartitionLog};
use super::properties::MetaProperties;
use super::segment::Place;
use crate::disk;
use crate::types::{BrokerEpoch, Millis, Offset, TopicPartition};

/// What a directory's own files say about the logs in it.
#[derive(Debug, Default)]
struct Remembered {
    clean: bool,
    recovery_points: OffsetsByPartition,
    log_starts: OffsetsByPartition,
    high_watermarks: OffsetsByPartition,
    first_dirty: OffsetsByPartition,
}

/// A partition's directory that waits to be loaded.
struct Job {
    directory: Arc<LogDirectory>,
    expected: Expected,
}

impl LogManager {
    /// Takes the log directories and loads every log in them. A directory or a partition that fails is noted and left out;
    /// the others go on.
    ///
    /// # Errors
    /// [`Error::Refused`] when a directory is of another broker or cluster, is in use, or none can be used.
    pub fn open(options: LogManagerOptions) -> Result<Arc<Self>> {
        let handles = Handles::new(options.disk.clone(), options.open_files_max);
        let environment = Environment {
            clock: options.clock.clone(),
            chores: Arc::new(Chores::default()),
            producer_expiration_ms: options.producer_expiration_ms,
        };
        let new_directory = |path: &PathBuf| {
            LogDirectory::new(path.clone(), options.disk.clone(), options.on_directory_failure.clone())
        };
        let directories: Vec<_> = options.directories.iter().map(new_directory).collect();
        let mut locks = Vec::new();
        for directory in &directories {
            match take(directory, &options) {
                Ok(lock) => locks.push(lock),
                Err(error @ (Error::Refused { .. } | Error::Malformed { .. })) => return Err(error),
                Err(error) => directory.take_offline(error.to_string()),
            }
        }
        let manager = Self {
            options,
            directories,
            handles,
            environment,
            logs: RwLock::default(),
            failed: Mutex::default(),
            creating: Mutex::new(()),
            locks: Mutex::new(locks),
            cleaner: Arc::default(),
            background: Mutex::new(None),
        };
        if manager.online().next().is_none() {
            return Err(manager.no_directory());
        }
        manager.load_all();
        if manager.online().next().is_none() {
            return Err(manager.no_directory());
        }
        Ok(Arc::new(manager))
    }

    fn no_directory(&self) -> Error {
        let reasons: Vec<_> = self
            .offline_directories()
            .into_iter()
            .map(|(path, why)| format!("{}: {why}", path.display()))
            .collect();
        let path = self.options.directories.first().cloned().unwrap_or_default();
        Error::Refused { path, reason: format!("no log directory can be used: {}", reasons.join("; ")) }
    }

    /// Loads every partition directory, each log directory with its own threads.
    fn load_all(&self) {
        let threads = self.options.recovery_threads.max(1);
        thread::scope(|scope| {
            for directory in self.online() {
                let jobs = match self.jobs(directory) {
                    Ok(jobs) => Arc::new(Mutex::new(jobs)),
                    Err(error) => {
                        directory.take_offline(error.to_string());
                        continue;
                    }
                };
                for _ in 0..threads {
                    let jobs = jobs.clone();
                    scope.spawn(move || {
                        while let Some(job) = { jobs.lock().unwrap_or_else(PoisonError::into_inner).pop() } {
                            self.load_one(job);
                        }
                    });
                }
            }
        });
    }

    fn load_one(&self, job: Job) {
        let Job { directory, expected } = job;
        if directory.failure().is_some() {
            return;
        }
        let name = expected.name.clone();
        let place = Place { handles: self.handles.clone(), location: Location::new(expected.path.clone()) };
        match load::load(expected, &directory, &self.environment, place) {
            Ok(log) => self.admit(log),
            Err(error) if error.severity() == Severity::Directory => drop(directory.note(error)),
            Err(error) => {
                tracing::error!(partition = %name, %error, "a log could not be loaded; the partition is offline");
                self.lock_failed().insert(name, error.to_string());
            }
        }
    }

    /// Takes a loaded log in. Of two of the same partition, left by a failed move, the longer one is kept.
    fn admit(&self, log: Arc<PartitionLog>) {
        let name = log.name().clone();
        let mut logs = self.lock_logs();
        let Some(other) = logs.insert(name.clone(), log.clone()) else { return };
        let (kept, aside) =
            if other.log_end_offset() > log.log_end_offset() { (other, log) } else { (log, other) };
        tracing::error!(
            partition = %name, kept = %kept.path().display(), set_aside = %aside.path().display(),
            "a partition has logs in two directories; the longer one is kept"
        );
        logs.insert(name.clone(), kept);
        drop(logs);
        if let Err(error) = aside.rename_directory(&DirectoryName::stray(&name)) {
            tracing::error!(%error, "a log could not be set aside");
        }
        aside.directory.remove(&name);
    }

    fn jobs(&self, directory: &Arc<LogDirectory>) -> Result<Vec<Job>> {
        let remembered = self.remembered(directory)?;
        let names = directory.disk().list(directory.path()).map_err(Error::io("list", directory.path()))?;
        let mut jobs = Vec::new();
        for entry in names.into_iter().filter(|entry| entry.is_directory) {
            let path = directory.path().join(&entry.name);
            match DirectoryName::parse(&entry.name) {
                DirectoryName::Partition(name) => {
                    let expected = self.expected(&remembered, name, path);
                    jobs.push(Job { directory: directory.clone(), expected });
                }
                DirectoryName::Deleted => {
                    let due = (self.environment.clock)().plus(Millis(self.options.delete_delay_ms));
                    self.environment.chores.remove(due, Removal { path, is_directory: true });
                }
                DirectoryName::Future(_) | DirectoryName::Stray => {
                    tracing::info!(directory = %path.display(), "left alone: not a log in use");
                }
                DirectoryName::Foreign => {
                    tracing::warn!(directory = %path.display(), "left alone: not the name of a partition");
                }
            }
        }
        // Taken from the end; the first in the alphabet are loaded first.
        jobs.reverse();
        Ok(jobs)
    }

    fn expected(&self, remembered: &Remembered, name: TopicPartition, path: PathBuf) -> Expected {
        let of = |offsets: &OffsetsByPartition| offsets.get(&name).copied().unwrap_or(Offset::ZERO);
        Expected {
            path,
            config: self.options.config_for(&name.topic),
            clean: remembered.clean,
            recovery_point: remembered.recovery_points.get(&name).copied(),
            log_start: of(&remembered.log_starts),
            high_watermark: of(&remembered.high_watermarks),
            first_dirty: remembered.first_dirty.get(&name).copied().unwrap_or(Offset::UNKNOWN),
            name,
        }
    }

    fn remembered(&self, directory: &LogDirectory) -> Result<Remembered> {
        let marker = directory.path().join(CLEAN_SHUTDOWN);
        let clean = directory.disk().attributes(&marker).is_ok();
        if clean {
            // Before anything is loaded: a crash while loading is no clean stop.
            directory.disk().remove_file(&marker).map_err(Error::io("remove", &marker))?;
            directory.disk().sync_directory(directory.path()).map_err(Error::io("sync", directory.path()))?;
        }
        Ok(Remembered {
            clean,
            recovery_points: directory.read_checkpoint(RECOVERY_POINTS)?,
            log_starts: directory.read_checkpoint(LOG_STARTS)?,
            high_watermarks: directory.read_checkpoint(HIGH_WATERMARKS)?,
            first_dirty: directory.read_checkpoint(CLEANER_OFFSETS)?,
        })
    }

    /// Ends an orderly life: every log is closed, the checkpoints are written, and a directory whose logs all did well is
    /// marked as clean. The directories are let go.
    pub fn shutdown(&self, broker_epoch: BrokerEpoch) {
        self.stop_background();
        let failed = self.close_all();
        for directory in self.online() {
            let all_closed = !failed.iter().any(|log| Arc::ptr_eq(&log.directory, directory));
            if let Err(error) = self.finish_directory(directory, broker_epoch, all_closed) {
                tracing::error!(%error, "a log directory could not be left in order; the next start recovers it");
            }
        }
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.drain(..).for_each(DirectoryLock::remove);
    }

    /// Lets the directories go and leaves everything in them as it is, as if the process had been killed. For tests of what
    /// the next start makes of it; the manager and its logs must not be used afterwards.
    #[doc(hidden)]
    pub fn abandon(&self) {
        self.stop_background();
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn close_all(&self) -> Vec<Arc<PartitionLog>> {
        let logs: Vec<_> = std::mem::take::<HashMap<_, _>>(&mut self.lock_logs()).into_values().collect();
        let mut failed = Vec::new();
        for log in logs {
            if let Err(error) = log.close() {
                tracing::error!(partition = %log.name(), %error, "a log could not be closed in order");
                failed.push(log);
            }
        }
        failed
    }

    fn finish_directory(
        &self,
        directory: &LogDirectory,
        broker_epoch: BrokerEpoch,
        all_closed: bool,
    ) -> Result<()> {
        directory.checkpoint_all()?;
        let all_loaded =
            !self.lock_failed().keys().any(|name| directory.path().join(name.to_string()).exists());
        if all_closed && all_loaded {
            let marker = directory.path().join(CLEAN_SHUTDOWN);
            let content = format!("{{\"version\":0,\"brokerEpoch\":{broker_epoch}}}");
            disk::replace(directory.disk(), &marker, content.as_bytes())
                .map_err(Error::io("write", &marker))?;
        }
        Ok(())
    }
}

/// Takes a log directory for this broker: makes it, locks it, checks or writes `meta.properties`.
fn take(directory: &LogDirectory, options: &LogManagerOptions) -> Result<DirectoryLock> {
    let path = directory.path();
    directory.disk().create_directory(path).map_err(Error::io("create", path))?;
    let lock = DirectoryLock::take(path)?;
    let found = MetaProperties::read(directory.disk(), path)?;
    let wanted = MetaProperties {
        broker_id: Some(options.broker_id),
        cluster_id: Some(options.cluster_id.clone()),
        ..found.clone().unwrap_or_default()
    };
    if let Some(found) = &found {
        check_owner(path, found, options)?;
    }
    if found.as_ref() != Some(&wanted) {
        wanted.write(directory.disk(), path)?;
    }
    Ok(lock)
}

fn check_owner(path: &Path, found: &MetaProperties, options: &LogManagerOptions) -> Result<()> {
    let refuse = |reason: String| Err(Error::Refused { path: path.to_owned(), reason });
    if found.version != 0 {
        return refuse(format!(
            "meta.properties has version {}, of a broker without ZooKeeper",
            found.version
        ));
    }
    match (&found.cluster_id, found.broker_id) {
        (Some(cluster), _) if *cluster != options.cluster_id => refuse(format!(
            "belongs to cluster {cluster}, not to {}; use another directory or the right ZooKeeper",
            options.cluster_id
        )),
        (_, Some(broker)) if broker != options.broker_id => refuse(format!(
            "belongs to broker {broker}, not to {}; use another directory or the right broker.id",
            options.broker_id
        )),
        _ => Ok(()),
    }
}
