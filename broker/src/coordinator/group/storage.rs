//! Where groups are remembered: the partitions of `__consumer_offsets`, as far as the coordinator needs them.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::machine::{ErrorCode, ProducerId, Record, Transaction};
use crate::types::Millis;

/// Called once with the outcome of an append, on any thread, perhaps before `append` returns.
pub type AppendDone = Box<dyn FnOnce(Result<(), ErrorCode>) + Send>;

/// The partitions of `__consumer_offsets`.
pub trait GroupStorage: Send + Sync + 'static {
    /// Returns how many partitions the topic has, or will have when it is created.
    fn partition_count(&self) -> i32;

    /// Appends records as one batch to a partition that this broker leads, and calls `done` when all in-sync replicas
    /// have them or when that failed. Appends of one partition come in the order of the calls.
    fn append(&self, partition: i32, batch: Batch, done: AppendDone);

    /// Reads a partition from its log start offset to its log end offset and gives `take` everything in order, until it
    /// breaks off. Waits for the disk.
    ///
    /// # Errors
    /// When the partition cannot be read. What was given so far is of no use then.
    fn load(&self, partition: i32, take: &mut dyn FnMut(Loaded) -> ControlFlow<()>) -> Result<(), LoadError>;
}

/// Records to append together.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The records.
    pub records: Arc<[Record]>,
    /// The transaction they belong to.
    pub transaction: Option<Transaction>,
    /// The time they carry.
    pub timestamp: Millis,
}

/// What is found in a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loaded {
    /// A record, perhaps of a producer's transaction.
    Record {
        /// The record.
        record: Record,
        /// Whose transaction.
        producer: Option<ProducerId>,
    },
    /// The end of a producer's transaction.
    Marker {
        /// Whose transaction.
        producer: ProducerId,
        /// Whether it was committed.
        committed: bool,
    },
}

/// Why a partition could not be read.
#[derive(Debug, thiserror::Error)]
#[error("read __consumer_offsets-{partition}: {reason}")]
pub struct LoadError {
    /// Which partition.
    pub partition: i32,
    /// What went wrong.
    pub reason: String,
}
