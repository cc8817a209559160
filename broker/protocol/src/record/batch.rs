//! The header of a batch v2, read from bytes and written to bytes.
//!
//! ```text
//!  0 base offset i64      12 leader epoch i32   21 attributes i16         35 max timestamp i64     57 record count i32
//!  8 length i32           16 magic i8 = 2       23 last offset delta i32  43 producer id i64       61 records
//!                         17 CRC-32C u32        27 base timestamp i64     51 producer epoch i16
//!                                                                         53 base sequence i32
//! ```
//! The checksum covers byte 21 to the end, so base offset, length and leader epoch may be rewritten freely
//! (KIP-98; Kafka: `DefaultRecordBatch`).

use super::compression::Compression;
use super::crc::crc32c;
use super::error::BatchError;

/// Bytes before the records.
pub const BATCH_HEADER_BYTES: usize = 61;
/// Bytes before what the length counts: base offset and length itself.
pub const LOG_OVERHEAD_BYTES: usize = 12;
/// Where what the checksum covers begins.
const CRC_COVERS_FROM: usize = 21;

/// Whose clock the timestamps are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimestampType {
    /// The producer's.
    #[default]
    CreateTime,
    /// The leader's, when it appended the batch.
    LogAppendTime,
}

/// The attribute bits of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(pub i16);

impl Attributes {
    const CODEC: i16 = 0b111;
    const LOG_APPEND_TIME: i16 = 1 << 3;
    const TRANSACTIONAL: i16 = 1 << 4;
    const CONTROL: i16 = 1 << 5;
    const DELETE_HORIZON: i16 = 1 << 6;

    /// Returns the codec of the records.
    ///
    /// # Errors
    /// When there is no such codec.
    pub fn compression(self) -> Result<Compression, BatchError> {
        let code = self.0 & Self::CODEC;
        Compression::from_code(code).ok_or(BatchError::Codec(code))
    }

    /// Returns whose clock the timestamps are from.
    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & Self::LOG_APPEND_TIME == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// Returns whether the batch is part of a transaction.
    pub fn is_transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// Returns whether the batch holds control records, which no consumer is shown.
    pub fn is_control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// Returns whether the base timestamp is the moment after which tombstones may go.
    pub fn has_delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// Returns the same with this codec.
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        Self(self.0 & !Self::CODEC | compression.code())
    }

    /// Returns the same with this clock.
    #[must_use]
    pub fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        match timestamp_type {
            TimestampType::CreateTime => Self(self.0 & !Self::LOG_APPEND_TIME),
            TimestampType::LogAppendTime => Self(self.0 | Self::LOG_APPEND_TIME),
        }
    }

    /// Returns the same as part of a transaction, or not.
    #[must_use]
    pub fn with_transactional(self, yes: bool) -> Self {
        if yes { Self(self.0 | Self::TRANSACTIONAL) } else { Self(self.0 & !Self::TRANSACTIONAL) }
    }

    /// Returns the same as a control batch, or not.
    #[must_use]
    pub fn with_control(self, yes: bool) -> Self {
        if yes { Self(self.0 | Self::CONTROL) } else { Self(self.0 & !Self::CONTROL) }
    }

    /// Returns the same with the base timestamp as a delete horizon, or not.
    #[must_use]
    pub fn with_delete_horizon(self, yes: bool) -> Self {
        if yes { Self(self.0 | Self::DELETE_HORIZON) } else { Self(self.0 & !Self::DELETE_HORIZON) }
    }
}

/// The header of a batch v2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset of its first record, at the time it was appended.
    pub base_offset: i64,
    /// Bytes after this field: 49 at least.
    pub length: i32,
    /// The epoch of the leader that appended it.
    pub partition_leader_epoch: i32,
    /// The checksum as stored.
    pub crc: u32,
    /// The attribute bits.
    pub attributes: Attributes,
    /// The last record's offset, counted from the base offset; stays when compaction takes that record away.
    pub last_offset_delta: i32,
    /// What records' timestamps are counted from, or the delete horizon; -1 for none.
    pub base_timestamp: i64,
    /// The largest timestamp of its records; -1 for none.
    pub max_timestamp: i64,
    /// The idempotent producer, -1 for none.
    pub producer_id: i64,
    /// Its epoch, -1 for none.
    pub producer_epoch: i16,
    /// The sequence number of the first record, -1 for none.
    pub base_sequence: i32,
    /// How many records there are.
    pub record_count: i32,
}

impl BatchHeader {
    /// Reads the header at the beginning of `bytes`, which need not hold the whole batch. Nothing but its form is
    /// checked.
    ///
    /// # Errors
    /// When there are too few bytes, another magic, or a length below that of an empty batch.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        let short = || BatchError::Short { wanted: BATCH_HEADER_BYTES, left: bytes.len() };
        let magic = i8::from_be_bytes(field(bytes, 16).ok_or_else(short)?);
        if magic != 2 {
            return Err(BatchError::Magic(magic));
        }
        let header = Self::fields(bytes).ok_or_else(short)?;
        if header.length < 49 {
            return Err(BatchError::Length(header.length));
        }
        Ok(header)
    }

    fn fields(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            base_offset: i64::from_be_bytes(field(bytes, 0)?),
            length: i32::from_be_bytes(field(bytes, 8)?),
            partition_leader_epoch: i32::from_be_bytes(field(bytes, 12)?),
            crc: u32::from_be_bytes(field(bytes, 17)?),
            attributes: Attributes(i16::from_be_bytes(field(bytes, 21)?)),
            last_offset_delta: i32::from_be_bytes(field(bytes, 23)?),
            base_timestamp: i64::from_be_bytes(field(bytes, 27)?),
            max_timestamp: i64::from_be_bytes(field(bytes, 35)?),
            producer_id: i64::from_be_bytes(field(bytes, 43)?),
            producer_epoch: i16::from_be_bytes(field(bytes, 51)?),
            base_sequence: i32::from_be_bytes(field(bytes, 53)?),
            record_count: i32::from_be_bytes(field(bytes, 57)?),
        })
    }

    /// Returns the bytes of the whole batch.
    pub fn size(&self) -> usize {
        LOG_OVERHEAD_BYTES + usize::try_from(self.length).unwrap_or(0)
    }

    /// Returns the offset of its last record.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.saturating_add(i64::from(self.last_offset_delta))
    }

    /// Returns the sequence number of its last record, which wraps to 0 after 2^31 - 1; -1 for none.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return -1;
        }
        let last = i64::from(self.base_sequence) + i64::from(self.last_offset_delta);
        i32::try_from(last & i64::from(i32::MAX)).unwrap_or(-1)
    }

    /// Writes the header, the checksum as it is in `self`. Allocates nothing.
    pub fn encode(&self) -> [u8; BATCH_HEADER_BYTES] {
        let mut bytes = [0; BATCH_HEADER_BYTES];
        put(
            &mut bytes,
            &[
                &self.base_offset.to_be_bytes(),
                &self.length.to_be_bytes(),
                &self.partition_leader_epoch.to_be_bytes(),
                &[2],
                &self.crc.to_be_bytes(),
                &self.covered(),
            ],
        );
        bytes
    }

    /// The part of the header that the checksum covers.
    fn covered(&self) -> [u8; BATCH_HEADER_BYTES - CRC_COVERS_FROM] {
        let mut bytes = [0; BATCH_HEADER_BYTES - CRC_COVERS_FROM];
        put(
            &mut bytes,
            &[
                &self.attributes.0.to_be_bytes(),
                &self.last_offset_delta.to_be_bytes(),
                &self.base_timestamp.to_be_bytes(),
                &self.max_timestamp.to_be_bytes(),
                &self.producer_id.to_be_bytes(),
                &self.producer_epoch.to_be_bytes(),
                &self.base_sequence.to_be_bytes(),
                &self.record_count.to_be_bytes(),
            ],
        );
        bytes
    }

    /// Returns the checksum that fits this header and these record bytes.
    pub fn compute_crc(&self, records: &[u8]) -> u32 {
        crc32c(&[&self.covered(), records])
    }

    /// Returns the header as a leader writes it: with the offset it assigns and its epoch. The checksum still fits.
    #[must_use]
    pub fn assigned(self, base_offset: i64, partition_leader_epoch: i32) -> Self {
        Self { base_offset, partition_leader_epoch, ..self }
    }

    /// Returns the header with another clock or largest timestamp, and the checksum that then fits `records`, which
    /// are not touched.
    #[must_use]
    pub fn with_timestamps(self, timestamp_type: TimestampType, max_timestamp: i64, records: &[u8]) -> Self {
        let attributes = self.attributes.with_timestamp_type(timestamp_type);
        if attributes == self.attributes && max_timestamp == self.max_timestamp {
            return self;
        }
        let mut changed = Self { attributes, max_timestamp, ..self };
        changed.crc = changed.compute_crc(records);
        changed
    }
}

/// Puts fields one after the other into exactly the place they need.
fn put(place: &mut [u8], fields: &[&[u8]]) {
    debug_assert_eq!(place.len(), fields.iter().map(|field| field.len()).sum::<usize>());
    for (here, byte) in place.iter_mut().zip(fields.iter().copied().flatten()) {
        *here = *byte;
    }
}

/// Returns the `N` bytes at `position`.
pub(super) fn field<const N: usize>(bytes: &[u8], position: usize) -> Option<[u8; N]> {
    bytes.get(position..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers: (i64, i32, u32, i16, i32), times: (i64, i64), producer: (i64, i16, i32), count: i32, length in 49..i32::MAX,
        ) {
            let header = BatchHeader {
                base_offset: numbers.0, length, partition_leader_epoch: numbers.1, crc: numbers.2,
                attributes: Attributes(numbers.3), last_offset_delta: numbers.4, base_timestamp: times.0,
                max_timestamp: times.1, producer_id: producer.0, producer_epoch: producer.1,
                base_sequence: producer.2, record_count: count,
            };
            prop_assert_eq!(BatchHeader::parse(&header.encode()), Ok(header));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            BatchHeader::parse(&bytes).ok();
        }
    }

    #[test]
    fn sequences_wrap() {
        let header = BatchHeader::parse(&{
            let mut bytes = [0; BATCH_HEADER_BYTES];
            bytes[11] = 49;
            bytes[16] = 2;
            bytes
        })
        .unwrap();
        let header = BatchHeader { base_sequence: i32::MAX, last_offset_delta: 2, ..header };
        assert_eq!(header.last_sequence(), 1);
        assert_eq!(BatchHeader { base_sequence: -1, ..header }.last_sequence(), -1);
    }
}
