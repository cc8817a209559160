//! A partition as files: segments, their indexes, and what brings them back after a crash.
//!
//! Knows nothing of replication, requests or ZooKeeper.

mod checkpoint;
mod entry_file;
mod entry_header;
mod epoch_cache;
mod error;
mod file_names;
mod handles;
mod offset_index;
mod partition_metadata;
mod properties;
mod time_index;

pub use entry_header::{EntryHeader, Parsed};
pub use error::{Error, Result, Severity};
pub use file_names::{DirectoryName, FileKind, FileState, SegmentFile};
