//! The records of a batch as bytes: what is kept is copied, not encoded anew.

use ottla_protocol::record::RecordError;

/// A record, its bytes borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRecord<'a> {
    /// All its bytes, the length in front included.
    pub(super) bytes: &'a [u8],
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i64,
    pub(super) key: Option<&'a [u8]>,
    pub(super) has_value: bool,
    attributes: u8,
    /// What follows the timestamp delta.
    rest: &'a [u8],
}

/// Walks the uncompressed records section of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRecords<'a> {
    bytes: &'a [u8],
}

impl<'a> RawRecords<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn step(&mut self) -> Result<RawRecord<'a>, RecordError> {
        let whole = self.bytes;
        let (length, body) = varint(whole)?;
        let length = usize::try_from(length).map_err(|_negative| RecordError::Length)?;
        let (body, after) = body.split_at_checked(length).ok_or(RecordError::Length)?;
        let (attributes, fields) = body.split_first().ok_or(RecordError::Length)?;
        let (timestamp_delta, rest) = varint(fields)?;
        let (offset_delta, fields) = varint(rest)?;
        let (key, fields) = sized(fields)?;
        let (value, _) = sized(fields)?;
        self.bytes = after;
        Ok(RawRecord {
            bytes: whole.get(..whole.len() - after.len()).unwrap_or_default(),
            timestamp_delta,
            offset_delta,
            key,
            has_value: value.is_some(),
            attributes: *attributes,
            rest,
        })
    }
}

impl<'a> Iterator for RawRecords<'a> {
    type Item = Result<RawRecord<'a>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let record = self.step();
        if record.is_err() {
            self.bytes = &[];
        }
        Some(record)
    }
}

impl RawRecord<'_> {
    /// Appends the record with another timestamp delta.
    pub(super) fn write_with(&self, timestamp_delta: i64, out: &mut Vec<u8>) {
        let mut delta = Vec::with_capacity(10);
        put_varint(timestamp_delta, &mut delta);
        let length = 1 + delta.len() + self.rest.len();
        put_varint(i64::try_from(length).unwrap_or(i64::MAX), out);
        out.push(self.attributes);
        out.extend(delta);
        out.extend(self.rest);
    }
}

fn sized(bytes: &[u8]) -> Result<(Option<&[u8]>, &[u8]), RecordError> {
    let (length, rest) = varint(bytes)?;
    if length == -1 {
        return Ok((None, rest));
    }
    let length = usize::try_from(length).map_err(|_negative| RecordError::Length)?;
    let (field, rest) = rest.split_at_checked(length).ok_or(RecordError::Length)?;
    Ok((Some(field), rest))
}

/// Reads a zig-zag number of seven bits a byte, the low ones first.
fn varint(bytes: &[u8]) -> Result<(i64, &[u8]), RecordError> {
    let mut raw = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        raw |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            let value = (raw >> 1).cast_signed() ^ -(raw & 1).cast_signed();
            return Ok((value, bytes.get(at + 1..).unwrap_or_default()));
        }
    }
    Err(if bytes.len() < 10 { RecordError::Length } else { RecordError::Varint })
}

fn put_varint(value: i64, out: &mut Vec<u8>) {
    let mut raw = ((value << 1) ^ (value >> 63)).cast_unsigned();
    loop {
        let [low, ..] = raw.to_le_bytes();
        raw >>= 7;
        if raw == 0 {
            out.push(low & 0x7F);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_walked_and_written_with_another_time() {
        let batch =
            std::fs::read(format!("{}/tests/vectors/v2-none.log", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let records: Vec<_> = RawRecords::new(&batch[61..]).map(Result::unwrap).collect();
        let shown: Vec<_> = records
            .iter()
            .map(|record| (record.offset_delta, record.timestamp_delta, record.has_value))
            .collect();
        assert_eq!(
            shown,
            [(0, 0, true), (1, 5, true), (2, -3, false), (3, 9, true), (4, 10_000_000_000, true)]
        );
        assert_eq!(records.iter().map(|record| record.bytes.len()).sum::<usize>(), batch.len() - 61);
        let mut copy = Vec::new();
        records.iter().for_each(|record| record.write_with(record.timestamp_delta, &mut copy));
        assert_eq!(copy, batch[61..]);
        let mut moved = Vec::new();
        records[4].write_with(-1_000_000_000_000, &mut moved);
        let again = RawRecords::new(&moved).next().unwrap().unwrap();
        assert_eq!(
            (again.timestamp_delta, again.offset_delta, again.key),
            (-1_000_000_000_000, 4, records[4].key)
        );
        let first = records[0].bytes.len();
        for cut in 1..first {
            assert!(RawRecords::new(&copy[..cut]).next().unwrap().is_err(), "{cut} of {first} bytes");
        }
    }
}
