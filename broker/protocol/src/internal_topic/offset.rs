//! Committed offsets in `__consumer_offsets`.

use bytes::Bytes;

use super::fields::{form, read, read_as, skip_tags, unknown_version, write};
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

/// Whose offset in what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OffsetKey {
    /// The group.
    pub group: String,
    /// The topic.
    pub topic: String,
    /// The partition.
    pub partition: i32,
}

impl OffsetKey {
    /// Writes the key, in version 1.
    ///
    /// # Errors
    /// When a name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &1_i16)?;
        write(&mut writer, "group", &self.group)?;
        write(&mut writer, "topic", &self.topic)?;
        write(&mut writer, "partition", &self.partition)?;
        Ok(writer.into_bytes())
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("OffsetKey", bytes.clone());
        let _: i16 = read(&mut reader, "version")?;
        let group = read(&mut reader, "group")?;
        let topic = read(&mut reader, "topic")?;
        Ok(Self { group, topic, partition: read(&mut reader, "partition")? })
    }
}

/// A committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetValue {
    /// The offset of the next record to be read.
    pub offset: i64,
    /// The leader epoch of the last record read, -1 for unknown.
    pub leader_epoch: i32,
    /// What the client wrote beside it.
    pub metadata: String,
    /// When it was committed.
    pub commit_timestamp: i64,
    /// When it is to be forgotten, if the client said so; -1 otherwise.
    pub expire_timestamp: i64,
}

impl OffsetValue {
    /// Writes the value: in version 1 with a time to be forgotten at, else in version 3.
    ///
    /// # Errors
    /// When the metadata is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        let expires = self.expire_timestamp != -1;
        write(&mut writer, "version", &if expires { 1_i16 } else { 3 })?;
        write(&mut writer, "offset", &self.offset)?;
        if !expires {
            write(&mut writer, "leader_epoch", &self.leader_epoch)?;
        }
        write(&mut writer, "metadata", &self.metadata)?;
        write(&mut writer, "commit_timestamp", &self.commit_timestamp)?;
        if expires {
            write(&mut writer, "expire_timestamp", &self.expire_timestamp)?;
        }
        Ok(writer.into_bytes())
    }

    /// Reads a value of any version, 0 to 4.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("OffsetValue", bytes.clone());
        let version: i16 = read(&mut reader, "version")?;
        if !(0..=4).contains(&version) {
            return Err(unknown_version(&reader, version));
        }
        let offset = read(&mut reader, "offset")?;
        let leader_epoch = if version >= 3 { read(&mut reader, "leader_epoch")? } else { -1 };
        let form = form(version, 4);
        let metadata = read_as(&mut reader, form, "metadata")?;
        let commit_timestamp = read(&mut reader, "commit_timestamp")?;
        let expire_timestamp = if version == 1 { read(&mut reader, "expire_timestamp")? } else { -1 };
        skip_tags(&mut reader, form)?;
        Ok(Self { offset, leader_epoch, metadata, commit_timestamp, expire_timestamp })
    }
}
