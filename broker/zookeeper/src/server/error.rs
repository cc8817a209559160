//! What can keep a server from starting, or end it.

use std::io;
use std::net::SocketAddr;

/// Why a server could not start, or why it ended by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value that cannot work.
    #[error("setting {name}: {problem}")]
    Setting {
        /// The builder method that sets it.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The address cannot be listened on.
    #[error("listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The data directory cannot be used.
    #[error(transparent)]
    Store(#[from] crate::store::Error),
    /// The log cannot be written any more, so nothing can be acknowledged.
    #[error(transparent)]
    Log(crate::store::AppendError),
    /// The system did not give a thread, an event queue or random bytes.
    #[error("{operation}: {source}")]
    System {
        /// What was asked of the system.
        operation: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The server's thread ended in a panic, which is a defect of this crate.
    #[error("the server's thread panicked")]
    Panicked,
}
