//! A partition as files: segments, their indexes, and what brings them back after a crash.
//!
//! Knows nothing of replication, requests or ZooKeeper.
//!
//! Start at [`LogManager`] (all logs of a broker) and [`PartitionLog`] (one). An append goes `append` → `validate` →
//! `segment`; a read goes `read` → `segment` and comes back as regions of files; a start goes `open` → `load` → `recover`.
//! Plain data without files: `entry_header`, `epoch_cache`, `producer_state`, `file_names`.

mod append;
mod background;
mod checkpoint;
mod chores;
mod cleaner;
mod clock;
mod config;
mod directory;
mod directory_lock;
mod durability;
mod entry_file;
mod entry_header;
mod epoch_cache;
mod error;
mod file_names;
mod handles;
mod load;
mod manager;
mod offset_index;
mod open;
mod options;
mod partition_log;
mod partition_metadata;
mod producer_snapshot;
mod producer_state;
mod properties;
mod read;
pub mod reader;
mod recover;
mod replay;
mod retire;
mod scan;
mod segment;
mod segment_files;
mod segment_lookup;
mod segments;
mod tail;
mod time_index;
mod time_lookup;
mod transaction_index;
mod truncate;
mod validate;

pub use crate::disk::FileRegion;
pub use append::{AppendInfo, AppendOptions};
pub use checkpoint::OffsetsByPartition;
pub use cleaner::CleanerOptions;
pub use clock::{Clock, system_clock};
pub use config::{LogConfig, TimestampType};
pub use directory::OnFailure;
pub use entry_header::{EntryHeader, Parsed};
pub use epoch_cache::EpochCache;
pub use error::{Error, Result, Severity};
pub use file_names::{DirectoryName, FileKind, FileState, SegmentFile};
pub use manager::{DirectoryReport, LogManager};
pub use options::{Intervals, LogManagerOptions};
pub use partition_log::PartitionLog;
pub use producer_state::Origin;
pub use properties::MetaProperties;
pub use read::{FetchedData, ReadLimits};
pub use time_lookup::TimestampOffset;
pub use transaction_index::AbortedTransaction;
