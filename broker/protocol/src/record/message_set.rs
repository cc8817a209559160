//! Message sets of magic 0 and 1: what old clients send and old segments hold.
//!
//! ```text
//! offset i64 · size i32 · CRC-32 u32 (over what follows) · magic i8 · attributes i8 · [timestamp i64] · key · value
//! ```
//! Key and value are an `i32` length (-1 for null) and bytes. A compressed entry's value is a set itself, and its own
//! offset is that of the last message inside (Kafka: `AbstractLegacyRecordBatch`).

use bytes::Bytes;

use super::batch::{TimestampType, field};
use super::build::{BatchBuilder, NewRecord};
use super::compression::{Compression, Decompressed, decompress};
use super::crc::crc32;
use super::error::BatchError;

const OVERHEAD: usize = 12;
const LEAST_V0: i32 = 14;
const LEAST_V1: i32 = 22;

/// One entry of a set: a message, or a compressed set of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyEntry {
    /// Its offset; of a compressed one that of the last message inside.
    pub offset: i64,
    /// 0 or 1.
    pub magic: i8,
    /// The codec of its value.
    pub compression: Compression,
    /// Whose clock the timestamp is from; always the producer's in magic 0.
    pub timestamp_type: TimestampType,
    /// Its timestamp, -1 in magic 0.
    pub timestamp: i64,
    /// Its key, or null.
    pub key: Option<Bytes>,
    /// Its value, or null.
    pub value: Option<Bytes>,
}

/// A message, taken out of whatever it was compressed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyMessage {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp, -1 for none.
    pub timestamp: i64,
    /// Its key, or null.
    pub key: Option<Bytes>,
    /// Its value, or null.
    pub value: Option<Bytes>,
}

/// Splits a set into its entries, with checksums checked. A cut entry at the end is left out, as old fetch responses
/// end in one.
///
/// # Errors
/// The first entry that is damaged or of another magic.
pub fn entries(set: &Bytes) -> Result<Vec<LegacyEntry>, BatchError> {
    let mut entries = Vec::new();
    let mut position = 0;
    while let Some((entry, size)) = entry_at(set, position)? {
        entries.push(entry);
        position += size;
    }
    Ok(entries)
}

fn entry_at(set: &Bytes, position: usize) -> Result<Option<(LegacyEntry, usize)>, BatchError> {
    let rest = set.get(position..).unwrap_or_default();
    let (Some(offset), Some(size)) = (field(rest, 0), field(rest, 8)) else { return Ok(None) };
    let length = i32::from_be_bytes(size);
    if length < LEAST_V0 {
        return Err(BatchError::Length(length));
    }
    let size = OVERHEAD + usize::try_from(length).unwrap_or(0);
    let Some(bytes) = rest.get(..size) else { return Ok(None) };
    let entry = parse(&set.slice_ref(bytes), i64::from_be_bytes(offset), length)?;
    Ok(Some((entry, size)))
}

fn parse(bytes: &Bytes, offset: i64, length: i32) -> Result<LegacyEntry, BatchError> {
    let short = || BatchError::Short { wanted: bytes.len() + 1, left: bytes.len() };
    let [magic] = field(bytes, 16).ok_or_else(short)?;
    let magic = i8::from_be_bytes([magic]);
    if !matches!(magic, 0 | 1) {
        return Err(BatchError::Magic(magic));
    }
    if magic == 1 && length < LEAST_V1 {
        return Err(BatchError::Length(length));
    }
    let stored = u32::from_be_bytes(field(bytes, 12).ok_or_else(short)?);
    let computed = crc32(bytes.get(16..).unwrap_or_default());
    if stored != computed {
        return Err(BatchError::Crc { stored, computed });
    }
    let [attributes] = field(bytes, 17).ok_or_else(short)?;
    let code = i16::from(attributes & 0b111);
    // Zstandard came after these formats.
    let compression = Compression::from_code(code).filter(|codec| *codec != Compression::Zstd);
    let compression = compression.ok_or(BatchError::Codec(code))?;
    let by_broker = magic == 1 && attributes & 0b1000 != 0;
    let timestamp = if magic == 1 { i64::from_be_bytes(field(bytes, 18).ok_or_else(short)?) } else { -1 };
    let (key, behind) = nullable(bytes, if magic == 1 { 26 } else { 18 }).ok_or_else(short)?;
    let (value, end) = nullable(bytes, behind).ok_or_else(short)?;
    if end != bytes.len() {
        return Err(BatchError::Length(length));
    }
    let timestamp_type = if by_broker { TimestampType::LogAppendTime } else { TimestampType::CreateTime };
    Ok(LegacyEntry { offset, magic, compression, timestamp_type, timestamp, key, value })
}

fn nullable(bytes: &Bytes, position: usize) -> Option<(Option<Bytes>, usize)> {
    let length = i32::from_be_bytes(field(bytes, position)?);
    let start = position + 4;
    if length == -1 {
        return Some((None, start));
    }
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(start..end)?;
    Some((Some(bytes.slice(start..end)), end))
}

/// Returns all messages of a set in order, taken out of compressed entries, with absolute offsets.
///
/// # Errors
/// The first entry that is damaged, or when all entries together decompress to more than `limit` bytes.
pub fn messages(set: &Bytes, limit: usize) -> Result<Vec<LegacyMessage>, BatchError> {
    let mut all = Vec::new();
    let mut room = limit;
    for entry in entries(set)? {
        if entry.compression == Compression::None {
            let LegacyEntry { offset, timestamp, key, value, .. } = entry;
            all.push(LegacyMessage { offset, timestamp, key, value });
        } else {
            let value = entry.value.clone().unwrap_or_default();
            let set = match decompress(entry.compression, &value, room)? {
                Decompressed::Same => value,
                Decompressed::Bytes(bytes) => bytes,
            };
            room = room.saturating_sub(set.len());
            all.extend(inner(&entry, &set)?);
        }
    }
    Ok(all)
}

/// The messages of the decompressed set inside a wrapper.
fn inner(wrapper: &LegacyEntry, set: &Bytes) -> Result<Vec<LegacyMessage>, BatchError> {
    let inner = entries(set)?;
    if let Some(odd) = inner.iter().find(|entry| entry.magic != wrapper.magic) {
        return Err(BatchError::Magic(odd.magic));
    }
    if inner.iter().any(|entry| entry.compression != Compression::None) {
        return Err(wrapper.compression.damaged("a compressed message inside a compressed message").into());
    }
    let last = inner.last().map_or(0, |entry| entry.offset);
    // Magic 1 counts inside from 0 and the wrapper has the last offset; an old librdkafka left the wrapper at 0.
    let base = match wrapper.magic {
        0 => 0,
        _ if wrapper.offset == 0 => 0,
        _ => wrapper.offset.saturating_sub(last),
    };
    let by_broker = wrapper.timestamp_type == TimestampType::LogAppendTime;
    let message = |entry: LegacyEntry| LegacyMessage {
        offset: base.saturating_add(entry.offset),
        timestamp: if by_broker { wrapper.timestamp } else { entry.timestamp },
        key: entry.key,
        value: entry.value,
    };
    Ok(inner.into_iter().map(message).collect())
}

/// Converts a set that an old producer sent into one batch v2, numbered from 0, as brokers since protocol 3.0 do. It is
/// compressed as the set was.
///
/// # Errors
/// When the set is damaged, or decompresses to more than `limit` bytes.
pub fn convert_to_batch(set: &Bytes, limit: usize) -> Result<Bytes, BatchError> {
    let codec = entries(set)?
        .iter()
        .map(|entry| entry.compression)
        .find(|codec| *codec != Compression::None)
        .unwrap_or(Compression::None);
    let mut builder = BatchBuilder::new().compression(codec);
    for message in messages(set, limit)? {
        builder.add(NewRecord {
            timestamp: message.timestamp,
            key: message.key.as_deref(),
            value: message.value.as_deref(),
            headers: &[],
        });
    }
    Ok(builder.build()?)
}
