//! Transactions in `__transaction_state`.

use bytes::Bytes;

use super::consumer_protocol::TopicPartitions;
use super::fields::{read, unknown_version, write};
use crate::wire::{DecodeError, DecodeErrorKind, EncodeError, Reader, Writer};

/// Which transactional id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransactionKey {
    /// The transactional id.
    pub transactional_id: String,
}

impl TransactionKey {
    /// Writes the key, in version 0.
    ///
    /// # Errors
    /// When the id is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &0_i16)?;
        write(&mut writer, "transactional_id", &self.transactional_id)?;
        Ok(writer.into_bytes())
    }

    /// Reads a key; `None` for one of a later version, which is to be skipped.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Option<Self>, DecodeError> {
        let mut reader = Reader::new("TransactionKey", bytes.clone());
        match read::<i16>(&mut reader, "version")? {
            0 => Ok(Some(Self { transactional_id: read(&mut reader, "transactional_id")? })),
            _ => Ok(None),
        }
    }
}

/// The state of a transaction, by the number that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransactionStatus {
    /// None is open and none ever was, or its partitions are forgotten.
    Empty,
    /// Partitions are being written to.
    Ongoing,
    /// It is decided: commit.
    PrepareCommit,
    /// It is decided: abort.
    PrepareAbort,
    /// Committed everywhere.
    CompleteCommit,
    /// Aborted everywhere.
    CompleteAbort,
    /// The id is to be forgotten.
    Dead,
}

impl TransactionStatus {
    const ALL: [Self; 7] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
        Self::Dead,
    ];

    fn code(self) -> i8 {
        Self::ALL.iter().zip(0_i8..).find(|(status, _)| **status == self).map_or(0, |(_, code)| code)
    }

    fn from_code(code: i8) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }
}

/// The state of a transactional id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionValue {
    /// Its producer.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// How long a transaction may stay open.
    pub timeout_ms: i32,
    /// Where it stands.
    pub status: TransactionStatus,
    /// The partitions written to, by topic; null when there are none to remember.
    pub partitions: Option<Vec<TopicPartitions>>,
    /// When it changed last.
    pub last_update_timestamp: i64,
    /// When the transaction began, -1 for none.
    pub start_timestamp: i64,
}

impl TransactionValue {
    /// Writes the value, in version 0.
    ///
    /// # Errors
    /// When a name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &0_i16)?;
        write(&mut writer, "producer_id", &self.producer_id)?;
        write(&mut writer, "producer_epoch", &self.producer_epoch)?;
        write(&mut writer, "timeout", &self.timeout_ms)?;
        write(&mut writer, "status", &self.status.code())?;
        match &self.partitions {
            None => write(&mut writer, "partitions", &-1_i32)?,
            Some(topics) => {
                writer.length("partitions", topics.len())?;
                for TopicPartitions { topic, partitions } in topics {
                    write(&mut writer, "topic", topic)?;
                    write(&mut writer, "partitions", partitions)?;
                }
            }
        }
        write(&mut writer, "last_update_timestamp", &self.last_update_timestamp)?;
        write(&mut writer, "start_timestamp", &self.start_timestamp)?;
        Ok(writer.into_bytes())
    }

    /// Reads a value of version 0.
    ///
    /// # Errors
    /// When the bytes are not one, or of a later version.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("TransactionValue", bytes.clone());
        let version: i16 = read(&mut reader, "version")?;
        if version != 0 {
            return Err(unknown_version(&reader, version));
        }
        let producer_id = read(&mut reader, "producer_id")?;
        let producer_epoch = read(&mut reader, "producer_epoch")?;
        let timeout_ms = read(&mut reader, "timeout")?;
        let status: i8 = read(&mut reader, "status")?;
        let status = TransactionStatus::from_code(status)
            .ok_or_else(|| reader.error(DecodeErrorKind::Value(i64::from(status))))?;
        Ok(Self {
            producer_id,
            producer_epoch,
            timeout_ms,
            status,
            partitions: partitions(&mut reader)?,
            last_update_timestamp: read(&mut reader, "last_update_timestamp")?,
            start_timestamp: read(&mut reader, "start_timestamp")?,
        })
    }
}

fn partitions(reader: &mut Reader) -> Result<Option<Vec<TopicPartitions>>, DecodeError> {
    reader.named("partitions", |reader| {
        let length: i32 = read(reader, "length")?;
        if length == -1 {
            return Ok(None);
        }
        let count = reader.count(i64::from(length), 6)?;
        let mut topics = Vec::with_capacity(count.min(64));
        for index in 0..count {
            topics.push(reader.element(index, |reader| {
                Ok(TopicPartitions { topic: read(reader, "topic")?, partitions: read(reader, "partitions")? })
            })?);
        }
        Ok(Some(topics))
    })
}
