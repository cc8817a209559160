//! What can be wrong with a data directory.

use std::io;
use std::path::PathBuf;

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file operation failed.
    #[error("{operation} {path}: {source}", path = path.display())]
    Io {
        /// What was done.
        operation: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process, or another server of this one, uses the directory.
    #[error("data directory {} is in use by another server; stop that one or choose another directory", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A file that cannot be read was not the torn end of the log, so state would be lost by going on.
    #[error("{path} is damaged at byte {position}: {problem}; restore the directory from a copy, or move the file away and lose what it holds", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// What is wrong there.
        problem: String,
    },
}
