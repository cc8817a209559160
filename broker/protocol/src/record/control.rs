//! Control records: what a transaction's end looks like in a log.
//!
//! One record per batch; key = version i16 · type i16, value of markers = version i16 · coordinator epoch i32.

use bytes::Bytes;

use super::build::{BatchBuilder, NewRecord};
use super::error::CompressionError;
use super::iterate::Record;

/// What a control record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRecord {
    /// The end of a transaction.
    EndTransaction(EndTransactionMarker),
    /// Something of a later Kafka, or of KRaft, by its type.
    Other(i16),
}

/// The end of a transaction in one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTransactionMarker {
    /// Whether it was committed.
    pub committed: bool,
    /// The epoch of the coordinator that decided.
    pub coordinator_epoch: i32,
}

impl ControlRecord {
    /// Reads a record of a control batch; `None` when it is not one that can be read.
    pub fn parse(record: &Record) -> Option<Self> {
        let kind = i16::from_be_bytes(*record.key.as_ref()?.get(2..)?.first_chunk()?);
        let committed = match kind {
            0 => false,
            1 => true,
            other => return Some(Self::Other(other)),
        };
        let coordinator_epoch = i32::from_be_bytes(*record.value.as_ref()?.get(2..)?.first_chunk()?);
        Some(Self::EndTransaction(EndTransactionMarker { committed, coordinator_epoch }))
    }
}

/// Makes the batch that ends a transaction of this producer.
///
/// # Errors
/// Never, as nothing is compressed; the builder's signature says it could.
pub fn build_marker(
    marker: EndTransactionMarker,
    producer_id: i64,
    producer_epoch: i16,
    timestamp: i64,
) -> Result<Bytes, CompressionError> {
    let [high, low] = i16::from(marker.committed).to_be_bytes();
    let [e0, e1, e2, e3] = marker.coordinator_epoch.to_be_bytes();
    let mut builder = BatchBuilder::new().transactional().control().producer(producer_id, producer_epoch, -1);
    builder.add(NewRecord {
        timestamp,
        key: Some(&[0, 0, high, low]),
        value: Some(&[0, 0, e0, e1, e2, e3]),
        headers: &[],
    });
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::super::{check_batch, iterate};
    use super::*;

    #[test]
    fn a_marker_reads_back_and_is_as_long_as_kafkas() {
        for committed in [false, true] {
            let marker = EndTransactionMarker { committed, coordinator_epoch: 7 };
            let batch = build_marker(marker, 4, 1, 1_000).unwrap();
            assert_eq!(batch.len(), 78);
            let header = check_batch(&batch).unwrap();
            assert!(header.attributes.is_control() && header.attributes.is_transactional());
            let record = iterate(&batch, 100).unwrap().next().unwrap().unwrap();
            assert_eq!(ControlRecord::parse(&record), Some(ControlRecord::EndTransaction(marker)));
        }
    }
}
