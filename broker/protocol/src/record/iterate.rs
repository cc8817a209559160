//! Records inside a batch v2.
//!
//! ```text
//! length varint · attributes i8 · timestamp delta varlong · offset delta varint · key · value · header count varint · headers
//! ```
//! Keys and values are a varint length (-1 for null) and bytes.

use bytes::Bytes;

use super::batch::{BATCH_HEADER_BYTES, BatchHeader, TimestampType};
use super::compression::{Decompressed, decompress};
use super::error::{BatchError, RecordError};

/// A record's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its key.
    pub key: String,
    /// Its value, or null.
    pub value: Option<Bytes>,
}

/// A record with what its batch says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp, or that of the batch with log append time; -1 for none.
    pub timestamp: i64,
    /// Its sequence number, -1 for none.
    pub sequence: i32,
    /// Its key, or null.
    pub key: Option<Bytes>,
    /// Its value, or null.
    pub value: Option<Bytes>,
    /// Its headers, in order.
    pub headers: Vec<Header>,
}

/// Iterates over the records of a whole batch v2, which are decompressed to at most `limit` bytes. The checksum is not
/// looked at.
///
/// # Errors
/// When the bytes are no batch or do not decompress.
pub fn iterate(batch: &Bytes, limit: usize) -> Result<RecordIter, BatchError> {
    let header = BatchHeader::parse(batch)?;
    let size = header.size();
    if batch.len() < size {
        return Err(BatchError::Short { wanted: size, left: batch.len() });
    }
    let records = batch.slice(BATCH_HEADER_BYTES..size);
    let records = match decompress(header.attributes.compression()?, &records, limit)? {
        Decompressed::Same => records,
        Decompressed::Bytes(bytes) => bytes,
    };
    Ok(RecordIter { header, records, position: 0, index: 0 })
}

/// The records of a batch, one after the other; ends after the first that is damaged.
#[derive(Debug)]
pub struct RecordIter {
    header: BatchHeader,
    records: Bytes,
    position: usize,
    index: i32,
}

impl RecordIter {
    /// Returns the header of the batch.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    fn record(&mut self) -> Result<Record, RecordError> {
        let mut cursor = Cursor { bytes: self.records.get(self.position..).unwrap_or_default() };
        let before = cursor.bytes.len();
        let fields = cursor.record()?;
        let headers = (0..fields.header_count).map(|_| self.header_at(&mut cursor)).collect::<Result<_, _>>();
        let record = Record {
            offset: self.header.base_offset.saturating_add(i64::from(fields.offset_delta)),
            timestamp: timestamp(&self.header, fields.timestamp_delta),
            sequence: sequence(&self.header, fields.offset_delta),
            key: fields.key.map(|key| self.records.slice_ref(key)),
            value: fields.value.map(|value| self.records.slice_ref(value)),
            headers: headers?,
        };
        if cursor.bytes.len() != fields.left_after {
            return Err(RecordError::Length);
        }
        self.position += before - cursor.bytes.len();
        Ok(record)
    }

    fn header_at(&self, cursor: &mut Cursor<'_>) -> Result<Header, RecordError> {
        let (key, value) = cursor.header()?;
        let key = std::str::from_utf8(key).map_err(|_not_text| RecordError::HeaderKey)?;
        Ok(Header { key: key.to_owned(), value: value.map(|value| self.records.slice_ref(value)) })
    }
}

impl Iterator for RecordIter {
    type Item = Result<Record, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index >= self.header.record_count {
            return None;
        }
        let index = self.index;
        match self.record() {
            Ok(record) => {
                self.index += 1;
                Some(Ok(record))
            }
            Err(error) => {
                self.index = self.header.record_count;
                Some(Err(BatchError::Record { index, error }))
            }
        }
    }
}

/// With log append time every record has the batch's time, whatever it says itself.
fn timestamp(header: &BatchHeader, delta: i64) -> i64 {
    match header.attributes.timestamp_type() {
        TimestampType::LogAppendTime => header.max_timestamp,
        TimestampType::CreateTime => header.base_timestamp.saturating_add(delta),
    }
}

fn sequence(header: &BatchHeader, offset_delta: i32) -> i32 {
    BatchHeader { last_offset_delta: offset_delta, ..*header }.last_sequence()
}

/// The fixed fields of a record, its bytes borrowed.
pub(super) struct Fields<'a> {
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i32,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) header_count: i32,
    /// How many bytes of the section must be left when the record is through.
    pub(super) left_after: usize,
}

/// Walks over record bytes without copying or allocating.
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Reads a record up to its headers.
    pub(super) fn record(&mut self) -> Result<Fields<'a>, RecordError> {
        let length = usize::try_from(self.varint()?).map_err(|_negative| RecordError::Length)?;
        let left_after = self.bytes.len().checked_sub(length).ok_or(RecordError::Length)?;
        self.take(1)?;
        let timestamp_delta = self.varlong()?;
        let offset_delta = self.varint()?;
        let key = self.nullable()?;
        let value = self.nullable()?;
        let header_count = self.varint()?;
        // A header takes two bytes at least.
        let room = i32::try_from(self.bytes.len() / 2).unwrap_or(i32::MAX);
        if header_count < 0 || header_count > room || self.bytes.len() < left_after {
            return Err(RecordError::Length);
        }
        Ok(Fields { timestamp_delta, offset_delta, key, value, header_count, left_after })
    }

    /// Reads a header: key and value.
    pub(super) fn header(&mut self) -> Result<(&'a [u8], Option<&'a [u8]>), RecordError> {
        let key = self.nullable()?.ok_or(RecordError::HeaderKey)?;
        Ok((key, self.nullable()?))
    }

    fn nullable(&mut self) -> Result<Option<&'a [u8]>, RecordError> {
        match self.varint()? {
            -1 => Ok(None),
            length => self.take(usize::try_from(length).map_err(|_negative| RecordError::Length)?).map(Some),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], RecordError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(RecordError::Length)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<i32, RecordError> {
        let value = self.varlong_of(5)?;
        i32::try_from(value).map_err(|_too_large| RecordError::Varint)
    }

    fn varlong(&mut self) -> Result<i64, RecordError> {
        self.varlong_of(10)
    }

    fn varlong_of(&mut self, bytes_max: usize) -> Result<i64, RecordError> {
        let mut raw = 0_u64;
        for (index, byte) in self.bytes.iter().take(bytes_max).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if index == 9 && bits > 1 {
                return Err(RecordError::Varint);
            }
            raw |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.bytes = self.bytes.get(index + 1..).unwrap_or_default();
                return Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed());
            }
        }
        Err(if self.bytes.len() < bytes_max { RecordError::Length } else { RecordError::Varint })
    }
}
