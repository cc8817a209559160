//! The two traits between the log and the operating system.

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use crate::types::Millis;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, for reading only.
    Read,
    /// An existing file, for reading and writing.
    ReadWrite,
    /// For reading and writing; made when it does not exist, kept as it is when it does.
    Create,
    /// For reading and writing, empty: what was there is gone.
    Truncate,
}

/// What is known of a name without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Bytes in the file.
    pub size: u64,
    /// When its content last changed, since the Unix epoch.
    pub modified: Millis,
    /// Whether the name is a directory.
    pub is_directory: bool,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name alone. A name that is not UTF-8 is none of ours and is not listed.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Names: what the log does to directories and to files as a whole.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Opens a file.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file or a directory another name; an existing file of that name is replaced in one step.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Handles that are open on it go on reading.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory and its missing parents.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a directory, sorted.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// Makes creations, renames and removals in a directory durable.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns what is known of a name.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn attributes(&self, path: &Path) -> io::Result<Attributes>;
}

/// Bytes: an open file. All positions are explicit, so that one handle serves any number of threads.
pub trait DiskFile: Debug + Send + Sync + 'static {
    /// Fills `buffer` from `position`; fewer bytes mean that the file ends there.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;

    /// Writes some or all of `parts` at `position` in one system call and returns how many bytes went out.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn write_at(&self, parts: &[IoSlice<'_>], position: u64) -> io::Result<usize>;

    /// Cuts or extends the file.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Makes content and size durable.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn sync(&self) -> io::Result<()>;

    /// Returns what is known of the file.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn attributes(&self) -> io::Result<Attributes>;

    /// Sets when the content is said to have last changed.
    ///
    /// # Errors
    /// Whatever the operating system answers.
    fn set_modified(&self, modified: Millis) -> io::Result<()>;

    /// Returns the descriptor, for `sendfile`.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Writes all of `parts` at `position`. On an error an unknown prefix of them may have been written.
    ///
    /// # Errors
    /// Whatever the operating system answers; [`io::ErrorKind::WriteZero`] when it takes no more bytes.
    fn write_all_at(&self, mut parts: &mut [IoSlice<'_>], mut position: u64) -> io::Result<()> {
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match self.write_at(parts, position) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    position += written as u64;
                    IoSlice::advance_slices(&mut parts, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the whole content, refusing a file larger than `limit` bytes.
    ///
    /// # Errors
    /// Whatever the operating system answers; [`io::ErrorKind::FileTooLarge`] above the limit.
    fn read_all(&self, limit: usize) -> io::Result<Vec<u8>> {
        let size = usize::try_from(self.attributes()?.size).unwrap_or(usize::MAX);
        if size > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut content = vec![0; size];
        let read = self.read_at(&mut content, 0)?;
        content.truncate(read);
        Ok(content)
    }
}
