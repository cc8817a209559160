//! What can be wrong with a data directory.

use std::io;
use std::path::{Path, PathBuf};

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file operation failed.
    #[error("{operation} {}: {source}", path.display())]
    Io {
        /// What was done.
        operation: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process, or another server of this one, uses the directory.
    #[error(
        "data directory {} is in use by another server; stop that one or choose another directory",
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// Something that was acknowledged cannot be read, so going on would lose it.
    #[error(
        "{} is damaged at byte {position}: {problem}; restore the directory from a copy, or move this file and the \
         later ones away to go on without what they hold",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// What is wrong there.
        problem: String,
    },
}

impl Error {
    pub(super) fn io(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Error::Io { operation, path: path.to_owned(), source }
    }
}
