//! A partition as files: segments, their indexes, and what brings them back after a crash.
//!
//! Knows nothing of replication, requests or ZooKeeper.

mod checkpoint;
mod entry_file;
mod entry_header;
mod config;
mod directory_lock;
mod epoch_cache;
mod error;
mod file_names;
mod handles;
mod offset_index;
mod partition_metadata;
mod producer_snapshot;
mod producer_state;
mod properties;
mod scan;
mod segment;
mod time_index;
mod transaction_index;

pub use entry_header::{EntryHeader, Parsed};
pub use error::{Error, Result, Severity};
pub use file_names::{DirectoryName, FileKind, FileState, SegmentFile};
