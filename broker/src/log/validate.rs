//! What a leader checks of produced batches, and what a follower checks of replicated ones (Kafka: `LogValidator`,
//! `UnifiedLog.analyzeAndValidateRecords`).

use bytes::Bytes;
use ottla_protocol::record::{
    self, BATCH_HEADER_BYTES, BatchError, BatchHeader, Compression, Decompressed, RecordError, RecordRules,
};

use super::config::{LogConfig, TimestampType};
use super::entry_header::{EntryHeader, MAGIC_END, Parsed};
use super::error::{Error, Result};
use super::producer_state::{Marker, Origin};
use super::scan::marker_of;
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// To how many bytes the records of one batch may decompress: nothing in a batch says how many they will be.
pub(super) const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// A produced batch that may be appended, its header apart so that it can be rewritten without touching the records.
#[derive(Debug)]
pub(super) struct Validated {
    pub(super) header: EntryHeader,
    pub(super) header_bytes: [u8; BATCH_HEADER_BYTES],
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
    let rules = Rules { partition, config, origin, now };
    match records.get(MAGIC_END - 1) {
        Some(0 | 1) => {
            let converted = record::convert_to_batch(records, DECOMPRESSED_BYTES_MAX);
            rules.check(&converted.map_err(|error| rules.refused(error))?)
        }
        _ => rules.check(records),
    }
}

/// What holds for one append.
struct Rules<'a> {
    partition: &'a TopicPartition,
    config: &'a LogConfig,
    origin: Origin,
    now: Millis,
}

impl Rules<'_> {
    fn check(&self, batch: &Bytes) -> Result<Validated> {
        let header = record::check_batch(batch).map_err(|error| self.refused(error))?;
        if header.size() < batch.len() {
            return Err(self.invalid("more than one batch for a partition"));
        }
        self.check_header(&header)?;
        let records = batch.slice(BATCH_HEADER_BYTES..);
        let checked = record::check_records(&header, &records, self.record_rules())
            .map_err(|error| self.refused(error))?;
        let marker = if header.attributes.is_control() { marker_of(batch) } else { None };
        let (timestamp_type, max_timestamp, log_append_time) = match self.config.timestamp_type {
            TimestampType::CreateTime => (record::TimestampType::CreateTime, checked.max_timestamp, None),
            TimestampType::LogAppendTime => {
                (record::TimestampType::LogAppendTime, self.now.0, Some(self.now))
            }
        };
        let (header, records) = self.stored_as(header, records)?;
        let header = header.with_timestamps(timestamp_type, max_timestamp, &records);
        let header_bytes = header.encode();
        let Parsed::Header(header) = EntryHeader::parse(&header_bytes) else {
            return Err(self.invalid("the header cannot be stored"));
        };
        Ok(Validated { header, header_bytes, records, marker, log_append_time })
    }

    fn check_header(&self, header: &BatchHeader) -> Result<()> {
        let size = u64::try_from(header.size()).unwrap_or(u64::MAX);
        let limit = u64::from(self.config.max_message_bytes);
        if size > limit && self.origin == Origin::Client {
            return Err(Error::BatchTooLarge { partition: self.partition.clone(), size, limit });
        }
        let count_fits = i64::from(header.record_count) == i64::from(header.last_offset_delta) + 1;
        if header.record_count <= 0 || !count_fits {
            return Err(self.invalid("number of records and last offset delta do not agree"));
        }
        if self.origin == Origin::Client {
            self.check_client_header(header)?;
        }
        Ok(())
    }

    fn check_client_header(&self, header: &BatchHeader) -> Result<()> {
        if header.base_offset != 0 {
            return Err(self.invalid("a produced batch must begin at offset 0"));
        }
        if header.attributes.is_control() {
            return Err(self.invalid("clients may not write control batches"));
        }
        if header.producer_id >= 0 && header.base_sequence < 0 {
            return Err(self.invalid("a producer id without a sequence"));
        }
        Ok(())
    }

    fn record_rules(&self) -> RecordRules {
        let is_own_time = self.config.timestamp_type == TimestampType::CreateTime;
        RecordRules {
            // A marker's key is no record's key.
            needs_key: self.config.compact,
            timestamps: is_own_time.then(|| self.timestamp_bounds()),
            decompressed_bytes_max: DECOMPRESSED_BYTES_MAX,
        }
    }

    fn timestamp_bounds(&self) -> (i64, i64) {
        (
            self.now.0.saturating_sub(self.config.timestamp_before_max_ms),
            self.now.0.saturating_add(self.config.timestamp_after_max_ms),
        )
    }

    /// Recompresses the records when the topic's codec is another than the producer's. Control batches stay plain.
    fn stored_as(&self, header: BatchHeader, records: Bytes) -> Result<(BatchHeader, Bytes)> {
        let Some(wanted) = self.config.compression.filter(|_| !header.attributes.is_control()) else {
            return Ok((header, records));
        };
        let used = header.attributes.compression().map_err(|error| self.refused(error))?;
        if used == wanted {
            return Ok((header, records));
        }
        let recompressed = self.recompress(used, wanted, records).map_err(|error| self.refused(error))?;
        let overhead = BATCH_HEADER_BYTES - record::LOG_OVERHEAD_BYTES;
        let length = i32::try_from(recompressed.len() + overhead)
            .map_err(|_too_large| self.invalid("recompressed records are larger than a batch may be"))?;
        let attributes = header.attributes.with_compression(wanted);
        let mut header = BatchHeader { length, attributes, ..header };
        header.crc = header.compute_crc(&recompressed);
        Ok((header, recompressed))
    }

    fn recompress(
        &self,
        used: Compression,
        wanted: Compression,
        records: Bytes,
    ) -> std::result::Result<Bytes, BatchError> {
        let plain = match record::decompress(used, &records, DECOMPRESSED_BYTES_MAX)? {
            Decompressed::Same => records,
            Decompressed::Bytes(bytes) => bytes,
        };
        Ok(if wanted == Compression::None { plain } else { record::compress(wanted, &plain)?.into() })
    }

    fn invalid(&self, reason: impl Into<String>) -> Error {
        Error::InvalidRecord { partition: self.partition.clone(), reason: reason.into() }
    }

    /// Names what the codec found in the terms that a producer understands.
    fn refused(&self, error: BatchError) -> Error {
        let partition = self.partition.clone();
        match error {
            BatchError::Record { error: RecordError::Timestamp(timestamp), .. } => {
                let (earliest, latest) = self.timestamp_bounds();
                Error::InvalidTimestamp { partition, timestamp, earliest, latest }
            }
            BatchError::Record { .. } => Error::InvalidRecord { partition, reason: error.to_string() },
            BatchError::Codec(_) => Error::UnknownCompression { partition, reason: error.to_string() },
            BatchError::Short { .. }
            | BatchError::Length(_)
            | BatchError::Magic(_)
            | BatchError::Crc { .. }
            | BatchError::Compression(_) => Error::CorruptBatch { partition, reason: error.to_string() },
        }
    }
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
        2 => record::crc32c(&[entry.get(21..).unwrap_or_default()]),
        _ => record::crc32(entry.get(16..).unwrap_or_default()),
    };
    computed == header.crc
}
