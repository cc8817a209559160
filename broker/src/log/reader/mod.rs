//! Reading log directories from outside of the broker that owns them, for the console and for tools.
//!
//! Only reads, takes no lock, maps no file: a file that its broker cuts, replaces or deletes meanwhile is an answer, never a
//! signal. [`SegmentReader`] follows a segment that is being written; [`verify_segment`] says precisely where one is damaged.

mod files;
mod segment;
mod tables;
mod verify;

pub use files::{PartitionDirectory, SegmentFiles, list_partitions, list_segments};
pub use segment::{Next, SegmentReader, StoredBatch};
pub use tables::{
    OffsetEntry, ProducerSummary, TimeEntry, read_aborted_transactions, read_leader_epochs,
    read_offset_checkpoint, read_offset_index, read_producers, read_time_index, read_topic_id,
};
pub use verify::{Finding, verify_segment};
