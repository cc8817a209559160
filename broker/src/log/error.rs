//! What can go wrong in a log, and what it means for the partition, its directory and the caller.

use std::io;
use std::path::{Path, PathBuf};

use crate::types::{LeaderEpoch, Offset, TopicPartition};

/// What the operations of a log answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a log refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{operation} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The log's directory has failed; nothing in it is served until the broker is started again.
    #[error("{partition}: log directory {} is offline: {reason}", directory.display())]
    Offline {
        /// The partition.
        partition: TopicPartition,
        /// The directory given in `log.dirs`.
        directory: PathBuf,
        /// Why it is offline.
        reason: String,
    },
    /// The log was closed or deleted.
    #[error("{partition}: the log is closed")]
    Closed {
        /// The partition.
        partition: TopicPartition,
    },
    /// The offset is not between log start and the upper bound.
    #[error("{partition}: offset {offset} is outside of {log_start}..={log_end}")]
    OffsetOutOfRange {
        /// The partition.
        partition: TopicPartition,
        /// What was asked for.
        offset: Offset,
        /// The log start offset.
        log_start: Offset,
        /// The log end offset.
        log_end: Offset,
    },
    /// A batch on disk is not what its length or checksum says.
    #[error("{}: damaged at byte {position}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged batch or entry begins.
        position: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A text file of the log directory cannot be understood.
    #[error("{}: line {line}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counted from 1; 0 for the file as a whole.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The produced bytes are not a batch, or its checksum does not match.
    #[error("{partition}: corrupt batch: {reason}")]
    CorruptBatch {
        /// The partition.
        partition: TopicPartition,
        /// What is wrong with it.
        reason: String,
    },
    /// The produced batch is compressed with a codec that there is not.
    #[error("{partition}: {reason}")]
    UnknownCompression {
        /// The partition.
        partition: TopicPartition,
        /// Which codec.
        reason: String,
    },
    /// The produced batch is well formed but not allowed here.
    #[error("{partition}: invalid record: {reason}")]
    InvalidRecord {
        /// The partition.
        partition: TopicPartition,
        /// Which rule it breaks.
        reason: String,
    },
    /// A record's timestamp is outside of what the topic allows.
    #[error("{partition}: timestamp {timestamp} is outside of {earliest}..={latest}")]
    InvalidTimestamp {
        /// The partition.
        partition: TopicPartition,
        /// The record's timestamp.
        timestamp: i64,
        /// The least that is allowed.
        earliest: i64,
        /// The most that is allowed.
        latest: i64,
    },
    /// The batch is larger than `max.message.bytes`.
    #[error("{partition}: batch of {size} bytes is larger than max.message.bytes {limit}")]
    BatchTooLarge {
        /// The partition.
        partition: TopicPartition,
        /// The batch's size.
        size: u64,
        /// The topic's limit.
        limit: u64,
    },
    /// The batch is larger than a whole segment may be.
    #[error("{partition}: batch of {size} bytes is larger than segment.bytes {limit}")]
    LargerThanSegment {
        /// The partition.
        partition: TopicPartition,
        /// The batch's size.
        size: u64,
        /// The topic's limit.
        limit: u64,
    },
    /// A sequence number does not follow the last one of its producer.
    #[error("{partition}: producer {producer_id}: sequence {sequence} does not follow {last_sequence}")]
    OutOfOrderSequence {
        /// The partition.
        partition: TopicPartition,
        /// The producer.
        producer_id: i64,
        /// The first sequence of the batch.
        sequence: i32,
        /// The last sequence known, −1 for none.
        last_sequence: i32,
    },
    /// A newer incarnation of the producer is known.
    #[error("{partition}: producer {producer_id}: epoch {epoch} is older than {current}")]
    ProducerFenced {
        /// The partition.
        partition: TopicPartition,
        /// The producer.
        producer_id: i64,
        /// The epoch it came with.
        epoch: i16,
        /// The epoch known.
        current: i16,
    },
    /// The batch does not fit the producer's open transaction.
    #[error("{partition}: producer {producer_id}: {reason}")]
    InvalidTransactionState {
        /// The partition.
        partition: TopicPartition,
        /// The producer.
        producer_id: i64,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A marker comes from a coordinator that was replaced.
    #[error(
        "{partition}: producer {producer_id}: marker of coordinator epoch {epoch} after one of {current}"
    )]
    CoordinatorFenced {
        /// The partition.
        partition: TopicPartition,
        /// The producer.
        producer_id: i64,
        /// The marker's epoch.
        epoch: i32,
        /// The epoch of the last marker.
        current: i32,
    },
    /// Replicated batches do not continue the log.
    #[error("{partition}: replicated offset {offset} does not continue the log, which ends at {log_end}")]
    OffsetsNotRising {
        /// The partition.
        partition: TopicPartition,
        /// The offset found.
        offset: Offset,
        /// Where the log ends.
        log_end: Offset,
    },
    /// The log on disk belongs to another topic of the same name.
    #[error("{partition}: the log belongs to topic id {found}, not {expected}")]
    TopicIdMismatch {
        /// The partition.
        partition: TopicPartition,
        /// The id in `partition.metadata`.
        found: uuid::Uuid,
        /// The id of the topic as the cluster knows it.
        expected: uuid::Uuid,
    },
    /// An epoch was to begin before the log or after its end.
    #[error("{partition}: leader epoch {epoch} cannot start at {start}: the log ends at {log_end}")]
    EpochOutOfRange {
        /// The partition.
        partition: TopicPartition,
        /// The epoch.
        epoch: LeaderEpoch,
        /// Its first offset.
        start: Offset,
        /// Where the log ends.
        log_end: Offset,
    },
    /// The log directory cannot be used by this broker.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// The directory or file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
}

/// What an I/O error means beyond the call that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// No room: the partition refuses appends until there is.
    DiskFull,
    /// The device or its mount has failed: the directory goes offline.
    Directory,
    /// A file of this partition is missing or in the way: only the partition suffers.
    Partition,
    /// The caller's request was at fault.
    Request,
}

impl Error {
    /// Says what was tried on what, for `map_err`.
    pub(super) fn io(operation: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, path: path.as_ref().to_owned(), source }
    }

    /// Returns what the error means beyond the call that met it.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Io { source, .. } => severity_of(source),
            Self::Offline { .. } => Severity::Directory,
            Self::Closed { .. } | Self::Damaged { .. } | Self::Malformed { .. } | Self::Refused { .. } => {
                Severity::Partition
            }
            _ => Severity::Request,
        }
    }

    /// Whether a file that was there a moment ago is gone: retention or a rename got it first.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

fn severity_of(error: &io::Error) -> Severity {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::DQUOT) => Severity::DiskFull,
        Some(Errno::IO | Errno::ROFS | Errno::NODEV | Errno::NXIO | Errno::STALE | Errno::SHUTDOWN) => {
            Severity::Directory
        }
        _ if error.kind() == io::ErrorKind::StorageFull || error.kind() == io::ErrorKind::WriteZero => {
            Severity::DiskFull
        }
        _ => Severity::Partition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_reaches_as_far_as_its_cause() {
        let cases = [
            (28, Severity::DiskFull),
            (122, Severity::DiskFull),
            (5, Severity::Directory),
            (30, Severity::Directory),
            (2, Severity::Partition),
            (13, Severity::Partition),
            (24, Severity::Partition),
        ];
        for (errno, expected) in cases {
            let error = Error::io("write", "x")(io::Error::from_raw_os_error(errno));
            assert_eq!(error.severity(), expected, "{error}");
        }
    }
}
