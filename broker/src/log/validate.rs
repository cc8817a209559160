//! What a leader checks of produced batches, and what a follower checks of replicated ones (Kafka: `LogValidator`,
//! `UnifiedLog.analyzeAndValidateRecords`).

use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};

use super::config::{LogConfig, TimestampType};
use super::entry_header::{BATCH_HEADER, EntryHeader, Parsed};
use super::error::{Error, Result};
use super::producer_state::{Marker, Origin};
use super::scan::marker_of;
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// A produced batch that may be appended, its header apart so that it can be rewritten without touching the records.
#[derive(Debug)]
pub(super) struct Validated {
    pub(super) header: EntryHeader,
    pub(super) header_bytes: [u8; BATCH_HEADER],
    pub(super) records: Bytes,
    pub(super) marker: Option<Marker>,
    pub(super) log_append_time: Option<Millis>,
}

impl Validated {
    /// Gives the batch its offsets and leader epoch. Both lie outside of what the checksum covers.
    pub(super) fn place_at(&mut self, base_offset: Offset, epoch: LeaderEpoch) {
        let delta = i64::from(self.header.offset_delta());
        self.header.base_offset = base_offset;
        self.header.last_offset = base_offset.plus(delta);
        self.header.leader_epoch = epoch;
        self.put(0, &base_offset.0.to_be_bytes());
        self.put(12, &epoch.0.to_be_bytes());
    }

    /// Replaces what a leader may correct: timestamp type and largest timestamp. The checksum follows.
    fn set_timestamps(&mut self, attributes: i16, max_timestamp: Millis) {
        if (attributes, max_timestamp) == (self.header.attributes, self.header.max_timestamp) {
            return;
        }
        self.header.attributes = attributes;
        self.header.max_timestamp = max_timestamp;
        self.put(21, &attributes.to_be_bytes());
        self.put(35, &max_timestamp.0.to_be_bytes());
        self.header.crc = checksum(&self.header_bytes, &self.records);
        self.put(17, &self.header.crc.to_be_bytes());
    }

    fn put(&mut self, at: usize, value: &[u8]) {
        if let Some(field) = self.header_bytes.get_mut(at..at + value.len()) {
            field.copy_from_slice(value);
        }
    }
}

/// Checks what was sent to this leader.
pub(super) fn produced(
    partition: &TopicPartition,
    records: &Bytes,
    config: &LogConfig,
    origin: Origin,
    now: Millis,
) -> Result<Validated> {
    let corrupt =
        |reason: &str| Error::CorruptBatch { partition: partition.clone(), reason: reason.to_owned() };
    let invalid =
        |reason: &str| Error::InvalidRecord { partition: partition.clone(), reason: reason.to_owned() };
    let header = match EntryHeader::parse(records) {
        Parsed::Header(header) => header,
        Parsed::Short => return Err(corrupt("shorter than a batch header")),
        Parsed::Invalid(reason) => return Err(corrupt(reason)),
    };
    let size = usize::try_from(header.size).unwrap_or(usize::MAX);
    if size > records.len() {
        return Err(corrupt("the batch's length is larger than what was sent"));
    }
    if size < records.len() {
        return Err(invalid("more than one batch for a partition"));
    }
    let Some(header_bytes) = records.first_chunk::<BATCH_HEADER>().copied() else {
        return Err(corrupt("shorter than a batch header"));
    };
    let body = records.slice(BATCH_HEADER..);
    if checksum(&header_bytes, &body) != header.crc {
        return Err(corrupt("checksum does not match"));
    }
    check_header(partition, &header, config, origin)?;
    let marker = if header.is_control() { marker_of(records) } else { None };
    let mut validated = Validated { header, header_bytes, records: body, marker, log_append_time: None };
    if config.timestamp_type == TimestampType::LogAppendTime {
        validated.set_timestamps(header.attributes | 1 << 3, now);
        validated.log_append_time = Some(now);
    }
    Ok(validated)
}

fn check_header(
    partition: &TopicPartition,
    header: &EntryHeader,
    config: &LogConfig,
    origin: Origin,
) -> Result<()> {
    let invalid =
        |reason: &str| Err(Error::InvalidRecord { partition: partition.clone(), reason: reason.to_owned() });
    if header.size > config.max_message_bytes {
        return Err(Error::BatchTooLarge {
            partition: partition.clone(),
            size: header.size.into(),
            limit: config.max_message_bytes.into(),
        });
    }
    if header.base_offset != Offset::ZERO && origin == Origin::Client {
        return invalid("a produced batch must begin at offset 0");
    }
    if header.record_count <= 0 || i64::from(header.record_count) != i64::from(header.offset_delta()) + 1 {
        return invalid("number of records and last offset delta do not agree");
    }
    if header.is_control() && origin == Origin::Client {
        return invalid("clients may not write control batches");
    }
    if header.has_producer() && header.base_sequence < 0 && !header.is_control() {
        return invalid("a producer id without a sequence");
    }
    Ok(())
}

/// Checks what a leader sent to this follower. Returns the bytes of the batches that are whole.
pub(super) fn replicated(partition: &TopicPartition, records: &[u8]) -> Result<usize> {
    let corrupt = |at: usize, reason: &str| Error::CorruptBatch {
        partition: partition.clone(),
        reason: format!("replicated batch at byte {at}: {reason}"),
    };
    let mut whole = 0;
    while let Some(rest) = records.get(whole..) {
        let header = match EntryHeader::parse(rest) {
            Parsed::Header(header) => header,
            Parsed::Short => break,
            Parsed::Invalid(reason) => return Err(corrupt(whole, reason)),
        };
        let Some(entry) = rest.get(..usize::try_from(header.size).unwrap_or(usize::MAX)) else { break };
        if !entry_checksum_matches(&header, entry) {
            return Err(corrupt(whole, "checksum does not match"));
        }
        whole += entry.len();
    }
    Ok(whole)
}

fn entry_checksum_matches(header: &EntryHeader, entry: &[u8]) -> bool {
    let computed = match header.magic {
        2 => crc_fast::crc32_iscsi(entry.get(21..).unwrap_or_default()),
        _ => crc_fast::crc32_iso_hdlc(entry.get(16..).unwrap_or_default()),
    };
    computed == header.crc
}

fn checksum(header: &[u8; BATCH_HEADER], records: &[u8]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(header.get(21..).unwrap_or_default());
    digest.update(records);
    u32::try_from(digest.finalize()).unwrap_or(0)
}
