//! Making batches: for coordinators, tools and tests.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::batch::{Attributes, BATCH_HEADER_BYTES, BatchHeader, LOG_OVERHEAD_BYTES, TimestampType};
use super::compression::{Compression, compress};
use super::error::CompressionError;
use crate::wire::{Writer, varint_size, varlong_size};

/// A record to be put into a batch, its bytes borrowed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewRecord<'a> {
    /// Its timestamp, -1 for none.
    pub timestamp: i64,
    /// Its key, or null.
    pub key: Option<&'a [u8]>,
    /// Its value, or null.
    pub value: Option<&'a [u8]>,
    /// Its headers, in order: key, and value or null.
    pub headers: &'a [(&'a str, Option<&'a [u8]>)],
}

/// Collects records into a batch v2.
#[derive(Debug)]
pub struct BatchBuilder {
    records: Writer,
    count: i32,
    base_timestamp: i64,
    max_timestamp: i64,
    attributes: Attributes,
    producer: (i64, i16, i32),
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchBuilder {
    /// Starts an empty batch without compression or producer.
    pub fn new() -> Self {
        Self {
            records: Writer::new(),
            count: 0,
            base_timestamp: -1,
            max_timestamp: -1,
            attributes: Attributes::default(),
            producer: (-1, -1, -1),
        }
    }

    /// Compresses the records.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.attributes = self.attributes.with_compression(compression);
        self
    }

    /// Sets whose clock the timestamps are from.
    #[must_use]
    pub fn timestamp_type(mut self, timestamp_type: TimestampType) -> Self {
        self.attributes = self.attributes.with_timestamp_type(timestamp_type);
        self
    }

    /// Sets the idempotent producer, its epoch, and the sequence number of the first record.
    #[must_use]
    pub fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> Self {
        self.producer = (id, epoch, base_sequence);
        self
    }

    /// Makes the batch part of a transaction.
    #[must_use]
    pub fn transactional(mut self) -> Self {
        self.attributes = self.attributes.with_transactional(true);
        self
    }

    /// Makes it a control batch.
    #[must_use]
    pub fn control(mut self) -> Self {
        self.attributes = self.attributes.with_control(true);
        self
    }

    /// Returns how many records it has.
    pub fn count(&self) -> i32 {
        self.count
    }

    /// Returns the bytes of the batch so far, before compression.
    pub fn size(&self) -> usize {
        BATCH_HEADER_BYTES + self.records.size()
    }

    /// Adds a record.
    pub fn add(&mut self, record: NewRecord<'_>) {
        if self.count == 0 {
            self.base_timestamp = record.timestamp;
        }
        self.max_timestamp = self.max_timestamp.max(record.timestamp);
        let timestamp_delta = record.timestamp.saturating_sub(self.base_timestamp);
        let length = 1
            + varlong_size(timestamp_delta)
            + varint_size(self.count)
            + nullable_size(record.key)
            + nullable_size(record.value)
            + varint_size(saturate(record.headers.len()))
            + record
                .headers
                .iter()
                .map(|(key, value)| nullable_size(Some(key.as_bytes())) + nullable_size(*value))
                .sum::<usize>();
        self.records.varint(saturate(length));
        self.records.raw(&[0]);
        self.records.varlong(timestamp_delta);
        self.records.varint(self.count);
        put_nullable(&mut self.records, record.key);
        put_nullable(&mut self.records, record.value);
        self.records.varint(saturate(record.headers.len()));
        for (key, value) in record.headers {
            put_nullable(&mut self.records, Some(key.as_bytes()));
            put_nullable(&mut self.records, *value);
        }
        self.count += 1;
    }

    /// Finishes the batch with base offset 0 and no leader epoch, as a producer sends it.
    ///
    /// # Errors
    /// When the codec fails.
    pub fn build(self) -> Result<Bytes, CompressionError> {
        self.build_at(0, -1)
    }

    /// Finishes the batch as it would lie in a log.
    ///
    /// # Errors
    /// When the codec fails.
    pub fn build_at(self, base_offset: i64, partition_leader_epoch: i32) -> Result<Bytes, CompressionError> {
        let plain = self.records.into_bytes();
        let codec = self.attributes.compression().unwrap_or(Compression::None);
        let records = if codec == Compression::None { plain } else { Bytes::from(compress(codec, &plain)?) };
        let (producer_id, producer_epoch, base_sequence) = self.producer;
        let mut header = BatchHeader {
            base_offset,
            length: saturate(BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES + records.len()),
            partition_leader_epoch,
            crc: 0,
            attributes: self.attributes,
            last_offset_delta: (self.count - 1).max(0),
            base_timestamp: self.base_timestamp,
            max_timestamp: self.max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            record_count: self.count,
        };
        header.crc = header.compute_crc(&records);
        let mut batch = BytesMut::with_capacity(header.size());
        batch.put_slice(&header.encode());
        batch.put_slice(&records);
        Ok(batch.freeze())
    }
}

/// Lengths beyond 2^31 do not come about: whoever collects records stops at a batch's size long before.
fn saturate(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

fn nullable_size(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(varint_size(-1), |bytes| varint_size(saturate(bytes.len())) + bytes.len())
}

fn put_nullable(writer: &mut Writer, bytes: Option<&[u8]>) {
    match bytes {
        None => writer.varint(-1),
        Some(bytes) => {
            writer.varint(saturate(bytes.len()));
            writer.raw(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{RecordRules, check_batch, check_records, iterate};
    use super::*;

    const RULES: RecordRules =
        RecordRules { needs_key: false, timestamps: None, decompressed_bytes_max: 1 << 20 };

    proptest! {
        #[test]
        fn what_is_built_passes_the_checks_and_reads_back(
            records in prop::collection::vec((0..2_000_000_000_000_i64, prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
                prop::option::of(prop::collection::vec(any::<u8>(), 0..200)), prop::collection::vec(("[a-z]{0,5}", prop::option::of(prop::collection::vec(any::<u8>(), 0..9))), 0..3)), 1..20),
            codec in 0..5_i16,
        ) {
            let mut builder = BatchBuilder::new().compression(Compression::from_code(codec).unwrap());
            for (timestamp, key, value, headers) in &records {
                let headers: Vec<_> = headers.iter().map(|(key, value)| (key.as_str(), value.as_deref())).collect();
                builder.add(NewRecord { timestamp: *timestamp, key: key.as_deref(), value: value.as_deref(), headers: &headers });
            }
            let batch = builder.build_at(100, 3).unwrap();
            let header = check_batch(&batch).unwrap();
            let checked = check_records(&header, &batch[BATCH_HEADER_BYTES..], RULES).unwrap();
            prop_assert_eq!(checked.max_timestamp, records.iter().map(|record| record.0).max().unwrap());
            let read: Vec<_> = iterate(&batch, 1 << 20).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), records.len());
            for (index, (read, (timestamp, key, value, headers))) in read.iter().zip(&records).enumerate() {
                prop_assert_eq!(read.offset, 100 + index as i64);
                prop_assert_eq!(read.timestamp, *timestamp);
                prop_assert_eq!(read.key.as_deref(), key.as_deref());
                prop_assert_eq!(read.value.as_deref(), value.as_deref());
                prop_assert_eq!(read.headers.len(), headers.len());
            }
        }

        #[test]
        fn damage_is_found_or_harmless_and_never_a_panic(position in 0..150_usize, bits in 1..=255_u8) {
            let mut builder = BatchBuilder::new();
            for number in 0..4_u8 {
                builder.add(NewRecord { timestamp: 5, key: Some(&[number]), value: Some(b"some value"), headers: &[("h", None)] });
            }
            let mut batch = builder.build().unwrap().to_vec();
            let position = position % batch.len();
            batch[position] ^= bits;
            if position >= 21 {
                prop_assert!(check_batch(&batch).is_err(), "the checksum covers byte {}", position);
            }
            let batch = Bytes::from(batch);
            if let Ok(header) = BatchHeader::parse(&batch) {
                check_records(&header, batch.get(BATCH_HEADER_BYTES..).unwrap(), RULES).ok();
            }
            if let Ok(records) = iterate(&batch, 1 << 20) {
                records.for_each(drop);
            }
        }
    }
}
