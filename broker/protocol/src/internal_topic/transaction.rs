//! Transactions in `__transaction_state`.

use bytes::Bytes;

use super::consumer_protocol::TopicPartitions;
use super::fields::{form, read, read_as, read_nullable_array, skip_tags, unknown_version, write};
use crate::wire::{DecodeError, DecodeErrorKind, EncodeError, Form, Reader, Writer};

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

    /// Reads a value of version 0 or 1.
    ///
    /// # Errors
    /// When the bytes are not one, or of a later version.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("TransactionValue", bytes.clone());
        let version: i16 = read(&mut reader, "version")?;
        if !(0..=1).contains(&version) {
            return Err(unknown_version(&reader, version));
        }
        let form = form(version, 1);
        let producer_id = read(&mut reader, "producer_id")?;
        let producer_epoch = read(&mut reader, "producer_epoch")?;
        let timeout_ms = read(&mut reader, "timeout")?;
        let status: i8 = read(&mut reader, "status")?;
        let status = TransactionStatus::from_code(status)
            .ok_or_else(|| reader.error(DecodeErrorKind::Value(i64::from(status))))?;
        let value = Self {
            producer_id,
            producer_epoch,
            timeout_ms,
            status,
            partitions: partitions(&mut reader, form)?,
            last_update_timestamp: read(&mut reader, "last_update_timestamp")?,
            start_timestamp: read(&mut reader, "start_timestamp")?,
        };
        skip_tags(&mut reader, form)?;
        Ok(value)
    }
}

fn partitions(reader: &mut Reader, form: Form) -> Result<Option<Vec<TopicPartitions>>, DecodeError> {
    read_nullable_array(reader, form, "partitions", 3, |reader| {
        let topic = read_as(reader, form, "topic")?;
        let partitions = read_as(reader, form, "partitions")?;
        skip_tags(reader, form)?;
        Ok(TopicPartitions { topic, partitions })
    })
}
