//! Records for clients from before batches of magic 2: written down as messages of magic 0 or 1 (Kafka: down-conversion).
//!
//! Only here are records of a fetch read: what is sent is no longer what is stored.

use bytes::{BufMut, Bytes, BytesMut};
use ottla_protocol::message::ErrorCode;
use ottla_protocol::record::{BatchHeader, TimestampType, crc32, iterate, messages};

use crate::log::FetchedData;
use crate::types::Offset;

/// The first version that is given records as they are stored.
const NATIVE_VERSION: i16 = 4;
/// The first version whose messages have timestamps.
const TIMESTAMP_VERSION: i16 = 2;
/// Offset and length before each entry, whatever its magic.
const OVERHEAD: usize = 12;
const MAGIC_AT: usize = 16;
/// As much as one answer may decompress to.
const DECOMPRESSED_MAX: usize = 64 << 20;

/// A message to be written.
struct Message<'a> {
    offset: i64,
    timestamp: i64,
    timestamp_type: TimestampType,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
}

/// Returns the magic that a version's client understands at most; `None` for everything.
pub(super) fn magic_of(version: i16) -> Option<u8> {
    match version {
        NATIVE_VERSION.. => None,
        TIMESTAMP_VERSION.. => Some(1),
        _ => Some(0),
    }
}

/// Writes what was read for a client that knows no magic above `magic`, from offset `from` on.
///
/// # Errors
/// KAFKA_STORAGE_ERROR when the file cannot be read, CORRUPT_MESSAGE when what is in it is damaged.
pub(super) fn write_down(data: &FetchedData, magic: u8, from: Offset) -> Result<Bytes, ErrorCode> {
    let stored = stored_bytes(data)?;
    let mut set = BytesMut::new();
    let mut position = 0;
    while let Some(entry) = entry_at(&stored, position) {
        position += entry.len();
        match entry.get(MAGIC_AT).copied() {
            Some(stored) if stored <= magic => set.extend_from_slice(&entry),
            Some(2) => write_batch(&mut set, magic, &entry, from)?,
            Some(_) => write_messages(&mut set, magic, &entry, from)?,
            None => return Err(ErrorCode::CorruptMessage),
        }
    }
    Ok(set.freeze())
}

fn stored_bytes(data: &FetchedData) -> Result<Bytes, ErrorCode> {
    let mut bytes = BytesMut::zeroed(data.size);
    let mut position = 0;
    for region in &data.regions {
        let end = (position + region.size()).min(bytes.len());
        let part = bytes.get_mut(position..end).unwrap_or_default();
        if let Err(error) = region.read_at(part, 0) {
            tracing::warn!(%error, "cannot read records that are to be written down for an old client");
            return Err(ErrorCode::KafkaStorageError);
        }
        position = end;
    }
    Ok(bytes.freeze())
}

/// The whole entry at a position; a cut one at the end is none.
fn entry_at(stored: &Bytes, position: usize) -> Option<Bytes> {
    let length = stored.get(position + 8..position + OVERHEAD)?;
    let length = usize::try_from(i32::from_be_bytes(length.try_into().ok()?)).ok()?;
    let end = position.checked_add(OVERHEAD)?.checked_add(length)?;
    (end <= stored.len()).then(|| stored.slice(position..end))
}

/// Transaction markers are not for clients that know no transactions.
fn write_batch(set: &mut BytesMut, magic: u8, batch: &Bytes, from: Offset) -> Result<(), ErrorCode> {
    let header = BatchHeader::parse(batch).map_err(|_damaged| ErrorCode::CorruptMessage)?;
    if header.attributes.is_control() {
        return Ok(());
    }
    let timestamp_type = header.attributes.timestamp_type();
    let records = iterate(batch, DECOMPRESSED_MAX).map_err(|_damaged| ErrorCode::CorruptMessage)?;
    for record in records {
        let record = record.map_err(|_damaged| ErrorCode::CorruptMessage)?;
        if record.offset >= from.0 {
            let (offset, timestamp) = (record.offset, record.timestamp);
            let (key, value) = (record.key.as_deref(), record.value.as_deref());
            write(set, magic, &Message { offset, timestamp, timestamp_type, key, value });
        }
    }
    Ok(())
}

fn write_messages(set: &mut BytesMut, magic: u8, entry: &Bytes, from: Offset) -> Result<(), ErrorCode> {
    let messages = messages(entry, DECOMPRESSED_MAX).map_err(|_damaged| ErrorCode::CorruptMessage)?;
    for message in messages.iter().filter(|message| message.offset >= from.0) {
        let (key, value) = (message.key.as_deref(), message.value.as_deref());
        let timestamp_type = TimestampType::CreateTime;
        let (offset, timestamp) = (message.offset, message.timestamp);
        write(set, magic, &Message { offset, timestamp, timestamp_type, key, value });
    }
    Ok(())
}

fn write(set: &mut BytesMut, magic: u8, message: &Message<'_>) {
    let mut body = BytesMut::new();
    body.put_u8(magic);
    let by_broker = magic == 1 && message.timestamp_type == TimestampType::LogAppendTime;
    body.put_u8(u8::from(by_broker) << 3);
    if magic == 1 {
        body.put_i64(message.timestamp);
    }
    for field in [message.key, message.value] {
        match field {
            Some(bytes) => {
                body.put_i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
                body.put_slice(bytes);
            }
            None => body.put_i32(-1),
        }
    }
    set.put_i64(message.offset);
    set.put_i32(i32::try_from(body.len() + 4).unwrap_or(i32::MAX));
    set.put_u32(crc32(&body));
    set.put_slice(&body);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ottla_protocol::record::{BatchBuilder, Compression, NewRecord, entries};

    use super::*;
    use crate::disk::{Disk, FileRegion, OpenMode, RealDisk};

    /// What a read of a file with these bytes returns.
    fn stored(directory: &std::path::Path, bytes: &[u8]) -> FetchedData {
        let path = directory.join("segment");
        std::fs::write(&path, bytes).unwrap();
        let file = RealDisk.open(&path, OpenMode::Read).unwrap();
        let size = u32::try_from(bytes.len()).unwrap();
        let region = FileRegion::new(file, 0, size);
        FetchedData { regions: vec![Arc::new(region)], size: bytes.len(), ..FetchedData::default() }
    }

    fn batch(compression: Compression) -> Bytes {
        let mut builder = BatchBuilder::new().compression(compression);
        for value in ["a", "b", "c"] {
            builder.add(NewRecord {
                timestamp: 7,
                key: Some(b"k"),
                value: Some(value.as_bytes()),
                headers: &[],
            });
        }
        builder.build_at(10, 3).unwrap()
    }

    #[test]
    fn batches_become_messages_from_the_offset_on() {
        let directory = tempfile::tempdir().unwrap();
        for compression in [Compression::None, Compression::Gzip] {
            let mut bytes = batch(compression).to_vec();
            // A batch that is cut at the end of the read is left out.
            bytes.extend_from_slice(&batch(compression)[..20]);
            let data = stored(directory.path(), &bytes);
            for (version, magic, timestamp) in [(0, 0, -1), (1, 0, -1), (2, 1, 7), (3, 1, 7)] {
                let set = write_down(&data, magic_of(version).unwrap(), Offset(11)).unwrap();
                let entries = entries(&set).unwrap();
                let offsets: Vec<_> = entries.iter().map(|entry| entry.offset).collect();
                assert_eq!(offsets, [11, 12], "version {version}");
                assert!(entries.iter().all(|entry| entry.magic == magic && entry.timestamp == timestamp));
                assert_eq!(entries[1].value.as_deref(), Some(&b"c"[..]));
            }
        }
        assert_eq!(magic_of(4), None);
    }

    #[test]
    fn old_entries_are_sent_as_they_are_unless_they_are_too_new() {
        let directory = tempfile::tempdir().unwrap();
        let mut set = BytesMut::new();
        let timestamp_type = TimestampType::CreateTime;
        let message = Message { offset: 5, timestamp: 9, timestamp_type, key: None, value: Some(b"v") };
        write(&mut set, 1, &message);
        let data = stored(directory.path(), &set);
        assert_eq!(write_down(&data, 1, Offset(0)).unwrap(), set);
        let older = write_down(&data, 0, Offset(0)).unwrap();
        let entries = entries(&older).unwrap();
        assert_eq!((entries[0].magic, entries[0].offset, entries[0].timestamp), (0, 5, -1));
    }
}
