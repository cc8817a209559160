//! Reading a partition of `__consumer_offsets` from its beginning to its end.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use ottla_protocol::record::{BatchHeader, ControlRecord, iterate, messages};

use super::machine::ProducerId;
use super::record_codec::decode;
use super::storage::Loaded;
use crate::log::{PartitionLog, ReadLimits};
use crate::types::Offset;

/// How large a batch may become when it is decompressed: far more than the largest group.
const DECOMPRESSED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes in front of an entry of any magic: base offset and length; the length counts what follows them.
const ENTRY_OVERHEAD_BYTES: usize = 12;

/// Where the magic byte is, in every format.
const MAGIC_POSITION: usize = 16;

/// Reads everything in order, `buffer_bytes` at a time, until `take` breaks off. Records that cannot be understood are
/// reported and left out: one of them must not take all groups of the partition away.
pub(super) fn read_log(
    log: &PartitionLog,
    buffer_bytes: u32,
    take: &mut dyn FnMut(Loaded) -> ControlFlow<()>,
) -> Result<(), ReadLogError> {
    let mut next = log.log_start_offset();
    while next < log.log_end_offset() {
        let limits = ReadLimits {
            max_bytes: buffer_bytes,
            at_least_one: true,
            upper: log.log_end_offset(),
            aborted_transactions: false,
        };
        let data = log.read(next, limits)?;
        if data.size == 0 {
            // Compaction may have left nothing before the end.
            break;
        }
        let entries = Entries { rest: copy(&data.regions, data.size)? };
        let before = next;
        for entry in entries {
            let entry = Entry::read(&entry)?;
            if entry.last_offset >= next {
                next = entry.last_offset.plus(1);
                if entry.give(take).is_break() {
                    return Ok(());
                }
            }
        }
        if next == before {
            return Err(ReadLogError::NoProgress { offset: next });
        }
    }
    Ok(())
}

/// Why a partition cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadLogError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] crate::log::Error),
    /// A segment could not be read.
    #[error("read a segment: {0}")]
    Io(#[from] std::io::Error),
    /// A batch is damaged.
    #[error("read a batch: {0}")]
    Batch(#[from] ottla_protocol::record::BatchError),
    /// There is nothing where something should be.
    #[error("found no whole batch at offset {offset}")]
    NoProgress {
        /// Where.
        offset: Offset,
    },
}

fn copy(regions: &[std::sync::Arc<crate::disk::FileRegion>], size: usize) -> std::io::Result<Bytes> {
    let mut bytes = BytesMut::zeroed(size);
    let mut position = 0;
    for region in regions {
        let end = (position + region.size()).min(size);
        let read = region.read_at(bytes.get_mut(position..end).unwrap_or_default(), 0)?;
        position += read;
    }
    bytes.truncate(position);
    Ok(bytes.freeze())
}

/// Whole entries one after the other; a cut one at the end is left out.
struct Entries {
    rest: Bytes,
}

impl Iterator for Entries {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let length = self.rest.get(8..)?.first_chunk()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        let size = ENTRY_OVERHEAD_BYTES.checked_add(length)?;
        (size <= self.rest.len() && size > MAGIC_POSITION).then(|| self.rest.split_to(size))
    }
}

/// What one batch, or one entry of an old message set, holds.
struct Entry {
    last_offset: Offset,
    /// Of a transaction.
    producer: Option<ProducerId>,
    is_control: bool,
    records: Vec<ottla_protocol::record::Record>,
}

impl Entry {
    fn read(entry: &Bytes) -> Result<Self, ReadLogError> {
        let magic = entry.get(MAGIC_POSITION).copied().unwrap_or_default();
        if magic < 2 { Self::read_legacy(entry) } else { Self::read_batch(entry) }
    }

    fn read_batch(entry: &Bytes) -> Result<Self, ReadLogError> {
        let header = BatchHeader::parse(entry)?;
        let records = iterate(entry, DECOMPRESSED_BYTES_MAX)?;
        let is_transactional = header.attributes.is_transactional();
        Ok(Self {
            last_offset: Offset(header.last_offset()),
            producer: is_transactional.then_some(ProducerId(header.producer_id)),
            is_control: header.attributes.is_control(),
            records: records.collect::<Result<_, _>>()?,
        })
    }

    /// Partitions that an old broker wrote can begin with entries of magic 0 or 1.
    fn read_legacy(entry: &Bytes) -> Result<Self, ReadLogError> {
        let offset = entry.first_chunk().map_or(-1, |offset| i64::from_be_bytes(*offset));
        let records = messages(entry, DECOMPRESSED_BYTES_MAX)?.into_iter().map(|message| {
            ottla_protocol::record::Record {
                offset: message.offset,
                timestamp: message.timestamp,
                sequence: -1,
                key: message.key,
                value: message.value,
                headers: Vec::new(),
            }
        });
        Ok(Self {
            last_offset: Offset(offset),
            producer: None,
            is_control: false,
            records: records.collect(),
        })
    }

    fn give(self, take: &mut dyn FnMut(Loaded) -> ControlFlow<()>) -> ControlFlow<()> {
        for record in &self.records {
            let loaded = if self.is_control { self.marker(record) } else { self.record(record) };
            if let Some(loaded) = loaded {
                take(loaded)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn marker(&self, record: &ottla_protocol::record::Record) -> Option<Loaded> {
        match ControlRecord::parse(record)? {
            ControlRecord::EndTransaction(marker) => {
                Some(Loaded::Marker { producer: self.producer?, committed: marker.committed })
            }
            ControlRecord::Other(_) => None,
        }
    }

    fn record(&self, record: &ottla_protocol::record::Record) -> Option<Loaded> {
        let Some(key) = &record.key else {
            tracing::warn!(offset = record.offset, "a record of __consumer_offsets has no key, left out");
            return None;
        };
        match decode(key, record.value.as_ref()) {
            Ok(Some(decoded)) => Some(Loaded::Record { record: decoded, producer: self.producer }),
            Ok(None) => {
                let offset = record.offset;
                tracing::warn!(offset, "a record of __consumer_offsets is of a later version, left out");
                None
            }
            Err(error) => {
                tracing::error!(offset = record.offset, %error, "a record of __consumer_offsets is broken, left out");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ottla_protocol::record::{BatchBuilder, Compression, EndTransactionMarker, NewRecord, build_marker};

    use super::super::machine::{CommittedOffset, Record, Transaction};
    use super::super::record_codec::encode_batch;
    use super::super::storage::Batch;
    use super::*;
    use crate::log::{AppendOptions, LogConfig, LogManager, LogManagerOptions, Origin};
    use crate::types::{BrokerId, LeaderEpoch, Millis, TopicPartition};

    const COORDINATOR: AppendOptions = AppendOptions { origin: Origin::Coordinator };

    struct World {
        log: Arc<PartitionLog>,
        _manager: Arc<LogManager>,
        _directory: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let options = LogManagerOptions::new(vec![directory.path().to_owned()], BrokerId(1), "cluster");
            let manager = LogManager::open(options).unwrap();
            let partition = TopicPartition::new("__consumer_offsets", 0);
            let config = LogConfig { segment_bytes: 4_000, ..LogConfig::default() };
            let log = manager.get_or_create(&partition, None, config, true).unwrap();
            Self { log, _manager: manager, _directory: directory }
        }

        fn append(&self, bytes: &Bytes) {
            self.log.append_as_leader(bytes, LeaderEpoch(0), COORDINATOR).unwrap();
        }

        fn read(&self, buffer_bytes: u32) -> Vec<Loaded> {
            let mut all = Vec::new();
            let mut take = |loaded| {
                all.push(loaded);
                ControlFlow::Continue(())
            };
            read_log(&self.log, buffer_bytes, &mut take).unwrap();
            all
        }
    }

    fn offsets(from: i64, count: i64) -> Vec<Record> {
        let record = |offset| Record::Offset {
            group: "g".into(),
            topic_partition: TopicPartition::new("t", 0),
            value: Some(CommittedOffset {
                offset: Offset(offset),
                leader_epoch: LeaderEpoch::UNKNOWN,
                metadata: "".into(),
                commit_timestamp: Millis(1),
                expire_timestamp: None,
            }),
        };
        (from..from + count).map(record).collect()
    }

    fn batch(records: Vec<Record>, transaction: Option<Transaction>) -> Bytes {
        let batch = Batch { records: records.into(), transaction, timestamp: Millis(1_700_000_000_000) };
        encode_batch(&batch, Compression::None).unwrap()
    }

    #[test]
    fn everything_comes_in_order_whatever_the_buffer() {
        let world = World::new();
        let mut expected = Vec::new();
        for batch_number in 0..40 {
            let records = offsets(batch_number * 5, 5);
            world.append(&batch(records.clone(), None));
            expected.extend(records.into_iter().map(|record| Loaded::Record { record, producer: None }));
        }
        assert!(world.log.segment_count() > 1);
        for buffer_bytes in [1, 700, 5_000, 5_242_880] {
            assert_eq!(world.read(buffer_bytes), expected, "{buffer_bytes}");
        }
    }

    #[test]
    fn transactions_come_with_their_markers() {
        let world = World::new();
        let transaction = Transaction { producer_id: ProducerId(9), producer_epoch: 2 };
        world.append(&batch(offsets(1, 1), Some(transaction)));
        let marker = EndTransactionMarker { committed: true, coordinator_epoch: 0 };
        world.append(&build_marker(marker, 9, 2, 1_700_000_000_000).unwrap());
        let record = offsets(1, 1).remove(0);
        let producer = ProducerId(9);
        assert_eq!(
            world.read(5_000),
            [
                Loaded::Record { record, producer: Some(producer) },
                Loaded::Marker { producer, committed: true }
            ]
        );
    }

    #[test]
    fn what_cannot_be_understood_is_left_out() {
        let world = World::new();
        let mut builder = BatchBuilder::new();
        for key in [b"\x00\x63later".as_slice(), b"\x00\x01broken", b""] {
            builder.add(NewRecord { timestamp: 1, key: Some(key), value: Some(b"x"), headers: &[] });
        }
        world.append(&builder.build().unwrap());
        world.append(&batch(offsets(1, 1), None));
        assert_eq!(world.read(5_000).len(), 1);
    }

    #[test]
    fn a_reader_that_has_enough_stops() {
        let world = World::new();
        world.append(&batch(offsets(0, 5), None));
        let mut count = 0;
        let mut take = |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        read_log(&world.log, 5_000, &mut take).unwrap();
        assert_eq!(count, 2);
    }

    #[test]
    fn an_empty_log_has_nothing() {
        assert_eq!(World::new().read(5_000), []);
    }
}
