//! What outlives the process: transaction log, snapshots, recovery.

mod error;

pub use error::Error;
