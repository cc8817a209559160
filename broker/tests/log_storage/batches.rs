//! Batches written out by hand, without the code under test.

use bytes::Bytes;

/// A batch as it was read: base offset, last offset, bytes.
pub(crate) type Stored = (i64, i64, Vec<u8>);

/// Timestamp, key, value.
type Record = (i64, Option<Vec<u8>>, Option<Vec<u8>>);

/// A batch to be built.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) base_offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) attributes: i16,
    pub(crate) producer: (i64, i16, i32),
    pub(crate) records: Vec<Record>,
}

impl Batch {
    /// A batch of `count` records of `size` bytes each at one timestamp, as a producer sends it.
    pub(crate) fn of(count: usize, size: usize, timestamp: i64) -> Self {
        let record = (timestamp, Some(b"key".to_vec()), Some(vec![b'v'; size]));
        Self {
            base_offset: 0,
            leader_epoch: -1,
            attributes: 0,
            producer: (-1, -1, -1),
            records: vec![record; count],
        }
    }

    pub(crate) fn by_producer(mut self, id: i64, epoch: i16, sequence: i32) -> Self {
        self.producer = (id, epoch, sequence);
        self
    }

    pub(crate) fn transactional(mut self) -> Self {
        self.attributes |= 1 << 4;
        self
    }

    /// A marker that ends a transaction.
    pub(crate) fn marker(id: i64, epoch: i16, commit: bool) -> Self {
        let key = [0, 0, 0, u8::from(commit)];
        Self {
            base_offset: 0,
            leader_epoch: -1,
            attributes: 3 << 4,
            producer: (id, epoch, -1),
            records: vec![(1, Some(key.to_vec()), Some(vec![0; 6]))],
        }
    }

    /// As a leader would send it to a follower.
    pub(crate) fn at(mut self, base_offset: i64, leader_epoch: i32) -> Self {
        self.base_offset = base_offset;
        self.leader_epoch = leader_epoch;
        self
    }

    pub(crate) fn bytes(&self) -> Bytes {
        let first = self.records[0].0;
        let largest = self.records.iter().map(|record| record.0).max().unwrap();
        let mut tail = Vec::new();
        tail.extend(self.attributes.to_be_bytes());
        tail.extend((self.records.len() as i32 - 1).to_be_bytes());
        tail.extend(first.to_be_bytes());
        tail.extend(largest.to_be_bytes());
        tail.extend(self.producer.0.to_be_bytes());
        tail.extend(self.producer.1.to_be_bytes());
        tail.extend(self.producer.2.to_be_bytes());
        tail.extend((self.records.len() as i32).to_be_bytes());
        for (delta, (timestamp, key, value)) in self.records.iter().enumerate() {
            tail.extend(record(delta as i64, timestamp - first, key.as_deref(), value.as_deref()));
        }
        let mut batch = Vec::new();
        batch.extend(self.base_offset.to_be_bytes());
        batch.extend((tail.len() as i32 + 9).to_be_bytes());
        batch.extend(self.leader_epoch.to_be_bytes());
        batch.push(2);
        batch.extend(crc_fast::crc32_iscsi(&tail).to_be_bytes());
        batch.extend(tail);
        batch.into()
    }
}

fn record(offset_delta: i64, timestamp_delta: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Vec<u8> {
    let mut body = vec![0];
    varint(&mut body, timestamp_delta);
    varint(&mut body, offset_delta);
    for field in [key, value] {
        varint(&mut body, field.map_or(-1, |bytes| bytes.len() as i64));
        body.extend(field.unwrap_or_default());
    }
    varint(&mut body, 0);
    let mut whole = Vec::new();
    varint(&mut whole, body.len() as i64);
    whole.extend(body);
    whole
}

fn varint(out: &mut Vec<u8>, number: i64) {
    let mut zigzag = ((number << 1) ^ (number >> 63)) as u64;
    while zigzag > 0x7F {
        out.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    out.push(zigzag as u8);
}

/// Splits bytes as read from a log into whole batches: base offset, last offset, bytes.
pub(crate) fn split(bytes: &[u8]) -> Vec<Stored> {
    let mut batches = Vec::new();
    let mut rest = bytes;
    while rest.len() >= 61 {
        let base = i64::from_be_bytes(rest[..8].try_into().unwrap());
        let size = i32::from_be_bytes(rest[8..12].try_into().unwrap()) as usize + 12;
        let delta = i32::from_be_bytes(rest[23..27].try_into().unwrap());
        let Some(batch) = rest.get(..size) else { break };
        batches.push((base, base + i64::from(delta), batch.to_vec()));
        rest = &rest[size..];
    }
    batches
}
