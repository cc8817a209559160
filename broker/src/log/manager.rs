//! All logs of a broker: found at start, made and deleted on command.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use uuid::Uuid;

use super::checkpoint::OffsetsByPartition;
use super::chores::Removal;
use super::cleaner::Cleaner;
use super::config::LogConfig;
use super::directory::LogDirectory;
use super::directory_lock::DirectoryLock;
use super::error::{Error, Result};
use super::file_names::{DirectoryName, HIGH_WATERMARKS};
use super::handles::{Handles, Location};
use super::load::{self, Expected};
use super::options::LogManagerOptions;
use super::partition_log::{Environment, PartitionLog};
use super::segment::Place;
use crate::types::{Millis, Offset, TopicPartition};

/// All logs of a broker. All methods can be called from any thread.
pub struct LogManager {
    pub(super) options: LogManagerOptions,
    pub(super) directories: Vec<Arc<LogDirectory>>,
    pub(super) handles: Arc<Handles>,
    pub(super) environment: Environment,
    pub(super) logs: RwLock<HashMap<TopicPartition, Arc<PartitionLog>>>,
    /// Partitions whose directory could not be loaded, and why.
    pub(super) failed: Mutex<BTreeMap<TopicPartition, String>>,
    /// Held while a log is made, so that two callers do not make the same one.
    pub(super) creating: Mutex<()>,
    pub(super) locks: Mutex<Vec<DirectoryLock>>,
    pub(super) cleaner: Arc<Cleaner>,
    pub(super) background: Mutex<Option<JoinHandle<()>>>,
}

/// A log directory as an operator sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryReport {
    /// Its absolute path.
    pub path: PathBuf,
    /// Why it is offline, if it is.
    pub failure: Option<String>,
    /// Bytes of the volume and bytes free for the broker, if they could be asked.
    pub volume: Option<(u64, u64)>,
    /// The logs in it and the bytes of their batches.
    pub logs: Vec<(TopicPartition, u64)>,
}

impl LogManager {
    /// Returns a partition's log, if this broker has it.
    #[must_use]
    pub fn get(&self, partition: &TopicPartition) -> Option<Arc<PartitionLog>> {
        self.logs.read().unwrap_or_else(PoisonError::into_inner).get(partition).cloned()
    }

    /// Returns a partition's log, making it when this broker does not have it.
    ///
    /// `is_new` says that the partition cannot have a log anywhere yet. When it is not and a directory is offline, nothing
    /// is made: the log may be there.
    ///
    /// # Errors
    /// [`Error::TopicIdMismatch`] when the log is of another topic of the same name, [`Error::Offline`] or
    /// [`Error::Refused`] when it cannot be made or could not be loaded, and what the operating system answered.
    pub fn get_or_create(
        &self,
        partition: &TopicPartition,
        topic_id: Option<Uuid>,
        config: LogConfig,
        is_new: bool,
    ) -> Result<Arc<PartitionLog>> {
        let log = match self.get(partition) {
            Some(log) => {
                log.check_usable()?;
                log
            }
            None => self.create(partition, config, is_new)?,
        };
        if let Some(topic_id) = topic_id {
            log.assign_topic_id(topic_id)?;
        }
        Ok(log)
    }

    fn create(
        &self,
        partition: &TopicPartition,
        config: LogConfig,
        is_new: bool,
    ) -> Result<Arc<PartitionLog>> {
        let _one_at_a_time = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = self.get(partition) {
            return Ok(log);
        }
        if let Some(reason) = self.lock_failed().get(partition) {
            let (path, reason) = (PathBuf::from(partition.to_string()), reason.clone());
            return Err(Error::Refused { path, reason });
        }
        let directory = self.choose_directory(partition, is_new)?;
        directory.checkpoint_if_outdated()?;
        let path = directory.path().join(partition.to_string());
        let place = Place { handles: self.handles.clone(), location: Location::new(path.clone()) };
        let expected = Expected {
            name: partition.clone(),
            path,
            config,
            clean: true,
            recovery_point: None,
            log_start: Offset::ZERO,
            high_watermark: Offset::ZERO,
            first_dirty: Offset::UNKNOWN,
        };
        let log = load::load(expected, &directory, &self.environment, place)
            .map_err(|error| directory.note(error))?;
        self.lock_logs().insert(partition.clone(), log.clone());
        Ok(log)
    }

    /// Returns the directory with the fewest logs that is online.
    fn choose_directory(&self, partition: &TopicPartition, is_new: bool) -> Result<Arc<LogDirectory>> {
        if !is_new {
            // The missing log may be in a directory that is offline; an empty one in its place would lose it.
            self.directories.iter().try_for_each(|directory| directory.check_online(partition))?;
        }
        let online = self.directories.iter().filter(|directory| directory.failure().is_none());
        match online.min_by_key(|directory| directory.log_count()) {
            Some(directory) => Ok(directory.clone()),
            None => Err(Error::Refused {
                path: PathBuf::from(partition.to_string()),
                reason: "all log directories are offline".to_owned(),
            }),
        }
    }

    /// Deletes a partition's log: it vanishes at once, its files after a while. Does nothing when there is none.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn delete(&self, partition: &TopicPartition) -> Result<()> {
        let delay = Millis(self.options.delete_delay_ms);
        self.take_away(partition, &DirectoryName::deleted(partition), Some(delay))
    }

    /// Sets a partition's log aside, as one of a topic that the cluster does not have. Its files are kept for the operator.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn set_aside(&self, partition: &TopicPartition) -> Result<()> {
        self.take_away(partition, &DirectoryName::stray(partition), None)
    }

    fn take_away(&self, partition: &TopicPartition, name: &str, remove_after: Option<Millis>) -> Result<()> {
        let _one_at_a_time = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(log) = self.get(partition) else { return Ok(()) };
        log.rename_directory(name)?;
        self.lock_logs().remove(partition);
        log.directory.remove(partition);
        if let Some(delay) = remove_after {
            let due = (self.environment.clock)().plus(delay);
            self.environment.chores.remove(due, Removal { path: log.path(), is_directory: true });
        }
        Ok(())
    }

    /// Returns all logs, in no particular order.
    #[must_use]
    pub fn logs(&self) -> Vec<Arc<PartitionLog>> {
        self.logs.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Returns the partitions whose directory could not be loaded, and why.
    #[must_use]
    pub fn failed_partitions(&self) -> BTreeMap<TopicPartition, String> {
        self.lock_failed().clone()
    }

    /// Returns the directories that are offline, and why.
    #[must_use]
    pub fn offline_directories(&self) -> Vec<(PathBuf, String)> {
        let failure = |directory: &Arc<LogDirectory>| {
            directory.failure().map(|reason| (directory.path().to_owned(), reason.to_string()))
        };
        self.directories.iter().filter_map(failure).collect()
    }

    /// Returns how many files are held open.
    #[must_use]
    pub fn open_files(&self) -> usize {
        self.handles.open_count()
    }

    /// Returns the settings of a topic as they were given at start.
    #[must_use]
    pub fn initial_config(&self, topic: &str) -> LogConfig {
        self.options.config_for(topic)
    }

    /// Returns the high watermarks as the checkpoints on disk have them.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn read_high_watermarks(&self) -> Result<OffsetsByPartition> {
        let mut all = OffsetsByPartition::new();
        for directory in self.online() {
            all.extend(directory.read_checkpoint(HIGH_WATERMARKS)?);
        }
        Ok(all)
    }

    /// Writes the high watermarks that the logs were told.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn checkpoint_high_watermarks(&self) -> Result<()> {
        self.online().try_for_each(|directory| directory.checkpoint_high_watermarks())
    }

    /// Writes the recovery points of all logs.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn checkpoint_recovery_points(&self) -> Result<()> {
        self.online().try_for_each(|directory| directory.checkpoint_recovery_points())
    }

    /// Returns each directory with its logs and the room on its volume.
    #[must_use]
    pub fn report(&self) -> Vec<DirectoryReport> {
        let logs = self.logs();
        let report = |directory: &Arc<LogDirectory>| {
            let own = logs.iter().filter(|log| Arc::ptr_eq(&log.directory, directory));
            let volume = rustix::fs::statvfs(directory.path()).ok().map(|volume| {
                let bytes = |blocks: u64| blocks.saturating_mul(volume.f_frsize);
                (bytes(volume.f_blocks), bytes(volume.f_bavail))
            });
            DirectoryReport {
                path: directory.path().to_owned(),
                failure: directory.failure().map(|reason| reason.to_string()),
                volume,
                logs: own.map(|log| (log.name().clone(), log.size_bytes())).collect(),
            }
        };
        self.directories.iter().map(report).collect()
    }

    pub(super) fn online(&self) -> impl Iterator<Item = &Arc<LogDirectory>> {
        self.directories.iter().filter(|directory| directory.failure().is_none())
    }

    pub(super) fn lock_logs(
        &self,
    ) -> std::sync::RwLockWriteGuard<'_, HashMap<TopicPartition, Arc<PartitionLog>>> {
        self.logs.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_failed(&self) -> std::sync::MutexGuard<'_, BTreeMap<TopicPartition, String>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartitionLog {
    /// Closes the log without bringing it to an end and gives its directory another name.
    pub(super) fn rename_directory(&self, name: &str) -> Result<()> {
        let _appender = self.lock();
        let from = self.place.location.directory();
        let to = self.directory.path().join(name);
        self.directory.disk().rename(&from, &to).map_err(Error::io("rename", &*from))?;
        self.mark_closed();
        self.place.location.moved_to(to);
        self.segments.load().iter().for_each(|segment| segment.close_files());
        Ok(())
    }
}

impl fmt::Debug for LogManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogManager").field("directories", &self.directories).finish_non_exhaustive()
    }
}
