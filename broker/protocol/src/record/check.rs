//! What a leader checks of a produced batch: every record is walked in place, nothing is copied or allocated but for
//! the decompression of compressed ones (Kafka: `LogValidator`).

use super::batch::{BATCH_HEADER_BYTES, BatchHeader, TimestampType};
use super::compression::{Decompressed, decompress};
use super::error::{BatchError, RecordError};
use super::iterate::Cursor;

/// What the topic demands of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordRules {
    /// Whether every record needs a key, as on compacted topics.
    pub needs_key: bool,
    /// The least and greatest timestamp taken, unless the leader's clock counts.
    pub timestamps: Option<(i64, i64)>,
    /// To how many bytes records may decompress.
    pub decompressed_bytes_max: usize,
}

/// What the walk over the records found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// The largest timestamp of the records, -1 for none.
    pub max_timestamp: i64,
    /// The offset of the first record that has it, counted from the base offset.
    pub max_timestamp_delta: i32,
}

/// Checks form, length and checksum of the batch at the beginning of `bytes`, and returns its header.
///
/// # Errors
/// When it is cut, of another magic, or damaged.
pub fn check_batch(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
    let header = BatchHeader::parse(bytes)?;
    let size = header.size();
    let records =
        bytes.get(BATCH_HEADER_BYTES..size).ok_or(BatchError::Short { wanted: size, left: bytes.len() })?;
    let computed = header.compute_crc(records);
    if computed != header.crc {
        return Err(BatchError::Crc { stored: header.crc, computed });
    }
    Ok(header)
}

/// Walks the records of a batch: as many as the header says, offsets one after the other, every length exact.
///
/// `records` is the section behind the header, compressed as the header says.
///
/// # Errors
/// The first record that is wrong, or data that does not decompress.
pub fn check_records(
    header: &BatchHeader,
    records: &[u8],
    rules: RecordRules,
) -> Result<Checked, BatchError> {
    match decompress(header.attributes.compression()?, records, rules.decompressed_bytes_max)? {
        Decompressed::Same => walk(header, records, rules),
        Decompressed::Bytes(bytes) => walk(header, &bytes, rules),
    }
}

fn walk(header: &BatchHeader, records: &[u8], rules: RecordRules) -> Result<Checked, BatchError> {
    let claimed = header.record_count;
    if claimed < 0 || i64::from(header.last_offset_delta) + 1 != i64::from(claimed) {
        return Err(BatchError::Record { index: 0, error: RecordError::Count { claimed } });
    }
    let mut cursor = Cursor { bytes: records };
    let mut checked = Checked { max_timestamp: -1, max_timestamp_delta: 0 };
    for index in 0..claimed {
        let timestamp =
            one(header, &mut cursor, index, rules).map_err(|error| BatchError::Record { index, error })?;
        if timestamp > checked.max_timestamp {
            checked = Checked { max_timestamp: timestamp, max_timestamp_delta: index };
        }
    }
    if !cursor.bytes.is_empty() {
        return Err(BatchError::Record { index: claimed, error: RecordError::Count { claimed } });
    }
    Ok(checked)
}

fn one(
    header: &BatchHeader,
    cursor: &mut Cursor<'_>,
    index: i32,
    rules: RecordRules,
) -> Result<i64, RecordError> {
    if cursor.bytes.is_empty() {
        return Err(RecordError::Count { claimed: header.record_count });
    }
    let fields = cursor.record()?;
    for _ in 0..fields.header_count {
        let (key, _) = cursor.header()?;
        if std::str::from_utf8(key).is_err() {
            return Err(RecordError::HeaderKey);
        }
    }
    if cursor.bytes.len() != fields.left_after {
        return Err(RecordError::Length);
    }
    if fields.offset_delta != index {
        return Err(RecordError::OffsetDelta { found: fields.offset_delta, expected: index });
    }
    if rules.needs_key && fields.key.is_none() {
        return Err(RecordError::NoKey);
    }
    let timestamp = header.base_timestamp.saturating_add(fields.timestamp_delta);
    let is_own = header.attributes.timestamp_type() == TimestampType::CreateTime;
    match rules.timestamps {
        Some((least, greatest)) if is_own && timestamp != -1 && !(least..=greatest).contains(&timestamp) => {
            Err(RecordError::Timestamp(timestamp))
        }
        _ => Ok(timestamp),
    }
}
