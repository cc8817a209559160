//! The storage seam: everything that the store does to a disk, so that tests can tear, lose, fill and freeze it.

use std::fmt::Debug;
use std::io;

/// A directory of files.
pub trait Disk: Debug + Send + Sync {
    /// Returns what the directory is called in messages.
    fn name(&self) -> std::path::PathBuf;
    /// Lists the names of the files.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// Creates a file for appending; one of that name loses its content.
    ///
    /// # Errors
    /// When it cannot be created.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file for appending, cut to a length.
    ///
    /// # Errors
    /// When it cannot be opened or cut.
    fn open_at(&self, name: &str, length: u64) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name, in place of the file of that name.
    ///
    /// # Errors
    /// When the system refuses.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Deletes a file.
    ///
    /// # Errors
    /// When the system refuses.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and deletions durable.
    ///
    /// # Errors
    /// When the system refuses.
    fn sync_directory(&self) -> io::Result<()>;
}

/// A file that grows at its end.
pub trait DiskFile: Debug + Send {
    /// Appends bytes, all of them.
    ///
    /// # Errors
    /// When the disk is full or broken; part of the bytes may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was appended durable.
    ///
    /// # Errors
    /// When the disk is broken; nobody knows then what is there.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file to a length and appends there from now on.
    ///
    /// # Errors
    /// When the system refuses.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}
