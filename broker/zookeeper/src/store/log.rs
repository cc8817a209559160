//! One log file, open for appending.

use std::io;

use super::batch::{self, Salt};
use super::disk::{Disk, DiskFile};
use super::layout;
use crate::types::Zxid;

/// The log that transactions go to.
#[derive(Debug)]
pub(super) struct Log {
    file: Box<dyn DiskFile>,
    salt: Salt,
    length: u64,
}

impl Log {
    /// Creates a log and makes its existence durable.
    pub(super) fn create(disk: &dyn Disk, first: Zxid, salt: Salt) -> io::Result<Log> {
        let name = layout::log(first);
        let unfinished = layout::unfinished(&name);
        let header = batch::header(salt, first);
        let mut file = disk.create(&unfinished)?;
        file.append(&header)?;
        file.sync()?;
        disk.rename(&unfinished, &name)?;
        if let Err(error) = disk.sync_directory() {
            // The log before it goes on, and must not have one after it.
            let _also_refused = disk.remove(&name);
            return Err(error);
        }
        Ok(Log { file, salt, length: header.len() as u64 })
    }

    /// Opens a log to go on after its first `length` bytes.
    pub(super) fn open(disk: &dyn Disk, first: Zxid, salt: Salt, length: u64, cut: bool) -> io::Result<Log> {
        let mut file = disk.open_at(&layout::log(first), length)?;
        if cut {
            file.sync()?;
        }
        Ok(Log { file, salt, length })
    }

    /// Appends transactions as one batch. When that fails the file is as it was before, as far as the disk lets it.
    pub(super) fn append(&mut self, transactions: &[u8]) -> io::Result<()> {
        let batch = batch::frame(self.salt, self.length, transactions)
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "a batch of more than 4 GiB"))?;
        if let Err(error) = self.file.append(&batch) {
            self.file.truncate(self.length)?;
            return Err(error);
        }
        self.length = self.length.saturating_add(batch.len() as u64);
        Ok(())
    }

    /// Makes what was appended durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    /// Returns the bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
}
