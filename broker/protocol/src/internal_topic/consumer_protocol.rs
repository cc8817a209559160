//! The blobs by which consumers agree on an assignment: opaque to the coordinator, read by the group's leader and by
//! whoever shows the group to people. An `i16` version comes first; fields of later versions follow those of earlier
//! ones, so an unknown version is read as far as it is known (Kafka: `ConsumerProtocol`).

use bytes::Bytes;

use super::fields::{form, read, read_array, write};
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicPartitions {
    /// The topic.
    pub topic: String,
    /// Its partitions.
    pub partitions: Vec<i32>,
}

/// What a member wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The topics.
    pub topics: Vec<String>,
    /// What the assignor put there.
    pub user_data: Option<Bytes>,
    /// What the member owned in the generation before (KIP-429).
    pub owned_partitions: Vec<TopicPartitions>,
    /// Which generation that was, -1 for none (KIP-792).
    pub generation_id: i32,
    /// Where the member is (KIP-881).
    pub rack_id: Option<String>,
}

impl Default for Subscription {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            user_data: None,
            owned_partitions: Vec::new(),
            generation_id: -1,
            rack_id: None,
        }
    }
}

/// What a member got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// The partitions.
    pub partitions: Vec<TopicPartitions>,
    /// What the assignor put there.
    pub user_data: Option<Bytes>,
}

impl Subscription {
    /// Writes the blob, in version 3.
    ///
    /// # Errors
    /// When a name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &3_i16)?;
        write(&mut writer, "topics", &self.topics)?;
        write(&mut writer, "user_data", &self.user_data)?;
        write_partitions(&mut writer, &self.owned_partitions)?;
        write(&mut writer, "generation_id", &self.generation_id)?;
        write(&mut writer, "rack_id", &self.rack_id)?;
        Ok(writer.into_bytes())
    }

    /// Reads a blob of any version.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("Subscription", bytes.clone());
        let version: i16 = read(&mut reader, "version")?;
        let topics = read(&mut reader, "topics")?;
        let user_data = read(&mut reader, "user_data")?;
        let owned_partitions = if version >= 1 { read_partitions(&mut reader)? } else { Vec::new() };
        let generation_id = if version >= 2 { read(&mut reader, "generation_id")? } else { -1 };
        let rack_id = if version >= 3 { read(&mut reader, "rack_id")? } else { None };
        Ok(Self { topics, user_data, owned_partitions, generation_id, rack_id })
    }
}

impl Assignment {
    /// Writes the blob, in version 0.
    ///
    /// # Errors
    /// When a name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &0_i16)?;
        write_partitions(&mut writer, &self.partitions)?;
        write(&mut writer, "user_data", &self.user_data)?;
        Ok(writer.into_bytes())
    }

    /// Reads a blob of any version. No bytes at all, as members get that were assigned nothing, is an empty one.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader::new("Assignment", bytes.clone());
        let _: i16 = read(&mut reader, "version")?;
        let partitions = read_partitions(&mut reader)?;
        Ok(Self { partitions, user_data: read(&mut reader, "user_data")? })
    }
}

fn read_partitions(reader: &mut Reader) -> Result<Vec<TopicPartitions>, DecodeError> {
    read_array(reader, form(0, i16::MAX), "partitions", 6, |reader| {
        Ok(TopicPartitions { topic: read(reader, "topic")?, partitions: read(reader, "partitions")? })
    })
}

fn write_partitions(writer: &mut Writer, all: &[TopicPartitions]) -> Result<(), EncodeError> {
    writer.length("partitions", all.len())?;
    for topic in all {
        write(writer, "topic", &topic.topic)?;
        write(writer, "partitions", &topic.partitions)?;
    }
    Ok(())
}
