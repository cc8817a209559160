//! The header of a log entry in any of the three formats, as far as the storage needs it: where the entry ends, which
//! offsets and timestamps it holds, who produced it.
//!
//! An entry is a v2 batch or one message of a v0 or v1 set. Nothing here looks at records.

use crate::types::{LeaderEpoch, Millis, Offset};

/// The v2 batch header.
pub(super) const BATCH_HEADER: usize = 61;
/// Bytes that tell the format of an entry; the magic is the last of them in all three.
pub(super) const MAGIC_END: usize = 17;
/// The least value of the length field in any format (Kafka: `LegacyRecord.RECORD_OVERHEAD_V0`).
const LEAST_LENGTH: i32 = 14;
const LEAST_LENGTH_V1: i32 = 22;
const LEAST_LENGTH_V2: i32 = 49;

const TRANSACTIONAL: i16 = 1 << 4;
const CONTROL: i16 = 1 << 5;
const DELETE_HORIZON: i16 = 1 << 6;

/// What the storage knows of an entry without reading its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHeader {
    /// The first offset; for a compressed v0 or v1 entry the last, since only that is in its header.
    pub base_offset: Offset,
    /// The last offset.
    pub last_offset: Offset,
    /// Bytes of the whole entry, its first field to its last record.
    pub size: u32,
    /// The format: 0, 1 or 2.
    pub magic: u8,
    /// The epoch of the leader that appended it; unknown before v2.
    pub leader_epoch: LeaderEpoch,
    /// The checksum as stored.
    pub crc: u32,
    /// The attribute bits; of v0 and v1 only the low eight.
    pub attributes: i16,
    /// The largest timestamp, −1 for none.
    pub max_timestamp: Millis,
    /// The base timestamp, or the delete horizon when its attribute bit is set; −1 before v1.
    pub base_timestamp: Millis,
    /// The producer, −1 for none.
    pub producer_id: i64,
    /// The producer's epoch, −1 for none.
    pub producer_epoch: i16,
    /// The sequence of the first record, −1 for none.
    pub base_sequence: i32,
    /// How many records the header promises; 1 before v2.
    pub record_count: i32,
}

/// What the bytes at the start of an entry turn out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// A header.
    Header(EntryHeader),
    /// More bytes are needed to tell.
    Short,
    /// No entry can begin like this.
    Invalid(&'static str),
}

impl EntryHeader {
    /// Reads the header at the start of `bytes`.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Parsed {
        let Some(length) = field(bytes, 8).map(i32::from_be_bytes) else { return Parsed::Short };
        if length < LEAST_LENGTH {
            return Parsed::Invalid("length below that of the least entry");
        }
        match bytes.get(MAGIC_END - 1) {
            None => Parsed::Short,
            Some(0) => complete(Self::legacy(bytes, length, 0)),
            Some(1) if length < LEAST_LENGTH_V1 => Parsed::Invalid("length below that of a v1 entry"),
            Some(1) => complete(Self::legacy(bytes, length, 1)),
            Some(2) if length < LEAST_LENGTH_V2 => Parsed::Invalid("length below that of a v2 batch"),
            Some(2) => match Self::batch(bytes, length) {
                Some(header) if header.last_offset < header.base_offset || header.record_count < 0 => {
                    Parsed::Invalid("negative last offset delta or record count")
                }
                found => complete(found),
            },
            Some(_) => Parsed::Invalid("unknown magic"),
        }
    }

    fn batch(bytes: &[u8], length: i32) -> Option<Self> {
        let base_offset = i64::from_be_bytes(field(bytes, 0)?);
        let last_offset_delta = i32::from_be_bytes(field(bytes, 23)?);
        Some(Self {
            base_offset: Offset(base_offset),
            last_offset: Offset(base_offset.saturating_add(last_offset_delta.into())),
            size: total(length),
            magic: 2,
            leader_epoch: LeaderEpoch(i32::from_be_bytes(field(bytes, 12)?)),
            crc: u32::from_be_bytes(field(bytes, 17)?),
            attributes: i16::from_be_bytes(field(bytes, 21)?),
            base_timestamp: Millis(i64::from_be_bytes(field(bytes, 27)?)),
            max_timestamp: Millis(i64::from_be_bytes(field(bytes, 35)?)),
            producer_id: i64::from_be_bytes(field(bytes, 43)?),
            producer_epoch: i16::from_be_bytes(field(bytes, 51)?),
            base_sequence: i32::from_be_bytes(field(bytes, 53)?),
            record_count: i32::from_be_bytes(field(bytes, 57)?),
        })
    }

    fn legacy(bytes: &[u8], length: i32, magic: u8) -> Option<Self> {
        let offset = Offset(i64::from_be_bytes(field(bytes, 0)?));
        let timestamp = if magic == 0 { -1 } else { i64::from_be_bytes(field(bytes, 18)?) };
        Some(Self {
            base_offset: offset,
            last_offset: offset,
            size: total(length),
            magic,
            leader_epoch: LeaderEpoch::UNKNOWN,
            crc: u32::from_be_bytes(field(bytes, 12)?),
            attributes: i16::from(*bytes.get(17)?),
            base_timestamp: Millis(timestamp),
            max_timestamp: Millis(timestamp),
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
            record_count: 1,
        })
    }

    /// Returns the offset after the last one.
    #[must_use]
    pub fn next_offset(&self) -> Offset {
        self.last_offset.plus(1)
    }

    /// Whether an idempotent or transactional producer wrote it.
    #[must_use]
    pub fn has_producer(&self) -> bool {
        self.producer_id >= 0
    }

    /// Whether it belongs to a transaction.
    #[must_use]
    pub fn is_transactional(&self) -> bool {
        self.magic == 2 && self.attributes & TRANSACTIONAL != 0
    }

    /// Whether it holds a control record instead of data.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.magic == 2 && self.attributes & CONTROL != 0
    }

    /// Whether the base timestamp is the moment after which tombstones may go.
    #[must_use]
    pub fn has_delete_horizon(&self) -> bool {
        self.magic == 2 && self.attributes & DELETE_HORIZON != 0
    }

    /// Returns the sequence of the last record, −1 for none. Sequences wrap from the largest to 0.
    #[must_use]
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 { -1 } else { sequence_after(self.base_sequence, self.offset_delta()) }
    }

    /// Returns the last offset relative to the first.
    #[must_use]
    pub fn offset_delta(&self) -> i32 {
        i32::try_from(self.last_offset.0.saturating_sub(self.base_offset.0)).unwrap_or(i32::MAX)
    }
}

/// Returns the sequence `count` after `sequence`, wrapping from 2147483647 to 0 (Kafka: `incrementSequence`).
pub(super) fn sequence_after(sequence: i32, count: i32) -> i32 {
    let sum = i64::from(sequence) + i64::from(count);
    i32::try_from(sum % (i64::from(i32::MAX) + 1)).unwrap_or(-1)
}

fn complete(header: Option<EntryHeader>) -> Parsed {
    header.map_or(Parsed::Short, Parsed::Header)
}

fn total(length: i32) -> u32 {
    length.unsigned_abs().saturating_add(12)
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(name: &str) -> Vec<u8> {
        std::fs::read(format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn header(bytes: &[u8]) -> EntryHeader {
        match EntryHeader::parse(bytes) {
            Parsed::Header(header) => header,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_batch_tells_its_offsets_producer_and_size() {
        let bytes = vector("v2-sequence-wrap.log");
        let header = header(&bytes);
        assert_eq!((header.base_offset, header.last_offset), (Offset(0), Offset(2)));
        assert_eq!((header.producer_id, header.producer_epoch), (9, 3));
        assert_eq!((header.base_sequence, header.last_sequence()), (2_147_483_646, 0));
        assert_eq!(header.size as usize, bytes.len());
        for cut in 0..BATCH_HEADER {
            assert_eq!(EntryHeader::parse(&bytes[..cut]), Parsed::Short, "{cut} bytes");
        }
    }

    #[test]
    fn legacy_entries_are_batches_of_their_own() {
        for (name, magic, timestamp) in [("v0.log", 0, -1), ("v1.log", 1, 1_700_000_000_000)] {
            let header = header(&vector(name));
            assert_eq!((header.magic, header.max_timestamp.0), (magic, timestamp));
            assert_eq!((header.base_offset, header.next_offset()), (Offset(10), Offset(11)));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let whole = vector("v2-none.log");
        for (at, value) in [(11, 13_u8), (16, 3), (8, 0xFF), (23, 0xFF), (57, 0xFF)] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if at == 11 {
                bytes[8..11].fill(0);
            }
            assert!(matches!(EntryHeader::parse(&bytes), Parsed::Invalid(_)), "byte {at}");
        }
    }
}
