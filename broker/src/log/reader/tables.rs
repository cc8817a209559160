//! The small files beside the batches: indexes, snapshots, checkpoints.

use std::path::Path;

use uuid::Uuid;

use crate::disk::{Disk, OpenMode, RealDisk};
use crate::log::checkpoint::{self, OffsetsByPartition};
use crate::log::error::{Error, Result};
use crate::log::file_names::SegmentFile;
pub use crate::log::offset_index::OffsetEntry;
pub use crate::log::time_index::TimeEntry;
use crate::log::transaction_index::{self, AbortedTransaction};
use crate::log::{offset_index, partition_metadata, producer_snapshot, time_index};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// Larger than any index that can be configured.
const INDEX_BYTES_MAX: usize = i32::MAX as usize;

/// What a snapshot says about a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerSummary {
    /// Its id.
    pub producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// The sequence of its last record, −1 for none.
    pub last_sequence: i32,
    /// The offset of its last record, −1 for none.
    pub last_offset: Offset,
    /// When it was last heard of.
    pub last_timestamp: Millis,
    /// The epoch of the coordinator that wrote its last marker, −1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction began.
    pub transaction_start: Option<Offset>,
}

/// Reads an offset index. Zeros at the end of an active segment's are left out.
///
/// # Errors
/// What the operating system answered, or that the file is not an index by its name.
pub fn read_offset_index(path: &Path) -> Result<Vec<OffsetEntry>> {
    let (base_offset, content) = read_index(path)?;
    let (entries, _) = content.as_chunks::<{ offset_index::ENTRY }>();
    let entries = entries.iter().map(|entry| offset_index::decode(base_offset, entry));
    Ok(entries.take_while(|entry| entry.position != 0).collect())
}

/// Reads a time index. Zeros at the end of an active segment's are left out.
///
/// # Errors
/// What the operating system answered, or that the file is not an index by its name.
pub fn read_time_index(path: &Path) -> Result<Vec<TimeEntry>> {
    let (base_offset, content) = read_index(path)?;
    let (entries, _) = content.as_chunks::<{ time_index::ENTRY }>();
    let mut found: Vec<TimeEntry> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let decoded = time_index::decode(base_offset, entry);
        let rises = found.last().is_none_or(|last| decoded.timestamp > last.timestamp);
        if !rises || (at == 0 && *entry == [0; time_index::ENTRY]) {
            break;
        }
        found.push(decoded);
    }
    Ok(found)
}

/// Reads a transaction index.
///
/// # Errors
/// What the operating system answered, or that the file is not an index by its name.
pub fn read_aborted_transactions(path: &Path) -> Result<Vec<AbortedTransaction>> {
    let (_, content) = read_index(path)?;
    let (entries, _) = content.as_chunks::<{ transaction_index::ENTRY }>();
    Ok(entries.iter().map(transaction_index::decode).collect())
}

/// Reads a snapshot of producers, by rising id.
///
/// # Errors
/// [`Error::Damaged`] when it is torn, and what the operating system answered.
pub fn read_producers(path: &Path) -> Result<Vec<ProducerSummary>> {
    let states = producer_snapshot::read(&RealDisk, path)?;
    let summary = |(id, entry): (&i64, &crate::log::producer_state::ProducerEntry)| {
        let last = entry.batches.last();
        ProducerSummary {
            producer_id: *id,
            epoch: entry.epoch,
            last_sequence: last.map_or(-1, |batch| batch.last_sequence),
            last_offset: last.map_or(Offset(-1), |batch| batch.last_offset),
            last_timestamp: entry.last_timestamp,
            coordinator_epoch: entry.coordinator_epoch,
            transaction_start: entry.transaction_start,
        }
    };
    Ok(states.producers().iter().map(summary).collect())
}

/// Reads one of a log directory's checkpoints; a file that does not exist has no entries.
///
/// # Errors
/// [`Error::Malformed`] with the line, and what the operating system answered.
pub fn read_offset_checkpoint(path: &Path) -> Result<Vec<(TopicPartition, Offset)>> {
    let offsets: OffsetsByPartition = checkpoint::read_offsets(&RealDisk, path)?;
    Ok(offsets.into_iter().collect())
}

/// Reads the leader epochs of a partition's directory.
///
/// # Errors
/// [`Error::Malformed`] with the line, and what the operating system answered.
pub fn read_leader_epochs(directory: &Path) -> Result<Vec<(LeaderEpoch, Offset)>> {
    checkpoint::read_epochs(&RealDisk, &directory.join(crate::log::file_names::EPOCH_CHECKPOINT))
}

/// Reads the topic id of a partition's directory, if it has one.
///
/// # Errors
/// [`Error::Malformed`] with the line, and what the operating system answered.
pub fn read_topic_id(directory: &Path) -> Result<Option<Uuid>> {
    partition_metadata::read_topic_id(&RealDisk, directory)
}

fn read_index(path: &Path) -> Result<(Offset, Vec<u8>)> {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(SegmentFile::parse);
    let Some(name) = name else {
        return Err(Error::Refused { path: path.to_owned(), reason: "not the name of an index".to_owned() });
    };
    let file = RealDisk.open(path, OpenMode::Read).map_err(Error::io("open", path))?;
    let content = file.read_all(INDEX_BYTES_MAX).map_err(Error::io("read", path))?;
    Ok((name.base_offset, content))
}
