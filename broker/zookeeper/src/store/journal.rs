//! The store as the server uses it: recover once, then append.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::compaction::compact;
use super::disk::Disk;
use super::error::Error;
use super::layout::Files;
use super::log::Log;
use super::recovery::{Recovered, Until, recover};
use crate::types::Zxid;

/// A log goes on in a new file at this size too, so that no file grows without bound.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// How the store behaves.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Transactions between two snapshots.
    pub snapshot_count: u64,
    /// Whether an append is durable when it returns.
    pub force_sync: bool,
    /// Random; tells the first new log from all others.
    pub salt: u64,
}

/// The open store.
#[derive(Debug)]
pub struct Journal {
    disk: Arc<dyn Disk>,
    options: Options,
    log: Log,
    last_zxid: Zxid,
    since_snapshot: u64,
    retry_at: u64,
    compaction: Option<JoinHandle<()>>,
}

/// Why transactions are not in the log.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The log is as it was before; trying again later may work.
    #[error("append to the transaction log: {0}")]
    Again(#[source] io::Error),
    /// Nobody knows what is in the log. Nothing may be acknowledged any more.
    #[error("make the transaction log durable: {0}")]
    Broken(#[source] io::Error),
}

impl Journal {
    /// Recovers the state and opens the log behind it.
    ///
    /// # Errors
    /// When the disk cannot be read or written, or something that was acknowledged cannot be read.
    pub fn open(disk: Arc<dyn Disk>, options: Options) -> Result<(Recovered, Journal), Error> {
        let recovered = recover(&*disk, Until::End)?;
        let (state, recovery) = (&recovered.state, &recovered.recovery);
        remove_unfinished(&*disk)?;
        let mut journal_options = options;
        let next = state.last_zxid.next();
        let opened = match recovery.tail {
            Some(tail) => Log::open(&*disk, tail.first, tail.salt, tail.length, recovery.cut_bytes > 0),
            None => Log::create(&*disk, next, take_salt(&mut journal_options)),
        };
        let path = disk.name();
        let log = opened.map_err(|source| Error::io("open the transaction log in", &path, source))?;
        let journal = Journal {
            disk,
            options: journal_options,
            log,
            last_zxid: state.last_zxid,
            since_snapshot: recovery.replayed,
            retry_at: 0,
            compaction: None,
        };
        Ok((recovered, journal))
    }

    /// Appends transactions, the last of which is `last`, as one batch. With `force_sync` they are durable when this
    /// returns.
    ///
    /// # Errors
    /// [`AppendError`] says whether the same may be tried again.
    pub fn append(&mut self, transactions: &[u8], count: u64, last: Zxid) -> Result<(), AppendError> {
        self.log.append(transactions).map_err(AppendError::Again)?;
        if self.options.force_sync {
            self.log.sync().map_err(AppendError::Broken)?;
        }
        self.last_zxid = last;
        self.since_snapshot = self.since_snapshot.saturating_add(count);
        if self.is_due() {
            self.roll();
        }
        Ok(())
    }

    /// Makes everything appended durable.
    ///
    /// # Errors
    /// When the disk is broken.
    pub fn sync(&mut self) -> Result<(), AppendError> {
        self.log.sync().map_err(AppendError::Broken)
    }

    /// Waits until no compaction is running.
    pub fn wait_for_compaction(&mut self) {
        if let Some(compaction) = self.compaction.take() {
            // A panic in there was reported by the thread itself, and the next compaction makes up for it.
            let _panicked = compaction.join();
        }
    }

    fn is_due(&self) -> bool {
        let full = self.since_snapshot >= self.options.snapshot_count || self.log.length() >= LOG_BYTES_MAX;
        let idle = self.compaction.as_ref().is_none_or(JoinHandle::is_finished);
        full && idle && self.since_snapshot >= self.retry_at
    }

    /// Goes on in a new log and has the old ones compacted. When there is no room for that the old log grows on.
    fn roll(&mut self) {
        self.wait_for_compaction();
        match self.start_log() {
            Ok(log) => {
                self.log = log;
                self.since_snapshot = 0;
                self.retry_at = 0;
                self.compaction = spawn_compaction(Arc::clone(&self.disk), self.last_zxid);
            }
            Err(error) => {
                let retry_after = self.options.snapshot_count / 10 + 1;
                self.retry_at = self.since_snapshot.saturating_add(retry_after);
                tracing::warn!(%error, "cannot start a new transaction log, the old one goes on");
            }
        }
    }

    fn start_log(&mut self) -> io::Result<Log> {
        // A log that another one follows must be whole.
        self.log.sync()?;
        Log::create(&*self.disk, self.last_zxid.next(), take_salt(&mut self.options))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.wait_for_compaction();
    }
}

fn take_salt(options: &mut Options) -> [u8; 8] {
    options.salt =
        options.salt.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    options.salt.to_be_bytes()
}

fn spawn_compaction(disk: Arc<dyn Disk>, last: Zxid) -> Option<JoinHandle<()>> {
    let compaction =
        thread::Builder::new().name("zookeeper-compact".to_owned()).spawn(move || {
            match compact(&*disk, last) {
                Ok(()) => tracing::info!(zxid = %last, "wrote a snapshot"),
                Err(error) => tracing::warn!(%error, "cannot write a snapshot, the old files stay"),
            }
        });
    compaction.map_err(|error| tracing::warn!(%error, "cannot start writing a snapshot")).ok()
}

fn remove_unfinished(disk: &dyn Disk) -> Result<(), Error> {
    let names = disk.list().map_err(|source| Error::io("list", &disk.name(), source))?;
    for name in Files::sort(&names).unfinished {
        let path = disk.name().join(&name);
        disk.remove(&name).map_err(|source| Error::io("delete", &path, source))?;
    }
    Ok(())
}

/// Returns the bytes of logs and of snapshots, for the administrator.
#[must_use]
pub fn sizes(directory: &std::path::Path) -> (u64, u64) {
    let (mut logs, mut snapshots) = (0_u64, 0_u64);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        match entry.file_name().to_str() {
            Some(name) if name.starts_with("log.") => logs = logs.saturating_add(bytes),
            Some(name) if name.starts_with("snapshot.") => snapshots = snapshots.saturating_add(bytes),
            _ => {}
        }
    }
    (logs, snapshots)
}
