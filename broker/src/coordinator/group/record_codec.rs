//! The coordinator's records as keys and values of `__consumer_offsets`, and batches of them.

use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::internal_topic::{
    ConsumerOffsetsKey, GroupKey, GroupMember, GroupValue, OffsetKey, OffsetValue,
};
use ottla_protocol::record::{BatchBuilder, Compression, CompressionError, NewRecord};
use ottla_protocol::wire::{DecodeError, EncodeError};

use super::machine::{CommittedOffset, Generation, GroupMetadata, MemberMetadata, Record};
use super::storage::Batch;
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// Why a batch cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum EncodeBatchError {
    /// A name or text is longer than the topic's format can say.
    #[error("encode a record for __consumer_offsets: {0}")]
    Record(#[from] EncodeError),
    /// The codec failed.
    #[error("compress a batch for __consumer_offsets: {0}")]
    Compression(#[from] CompressionError),
}

/// Makes the batch, with base offset 0 and no leader epoch.
pub(super) fn encode_batch(batch: &Batch, compression: Compression) -> Result<Bytes, EncodeBatchError> {
    let mut builder = BatchBuilder::new().compression(compression);
    if let Some(transaction) = batch.transaction {
        // The producer itself does not write here; sequence numbers start at 0 each time and nobody checks them.
        builder = builder.producer(transaction.producer_id.0, transaction.producer_epoch, 0).transactional();
    }
    for record in batch.records.iter() {
        let (key, value) = encode(record)?;
        builder.add(NewRecord {
            timestamp: batch.timestamp.0,
            key: Some(&key),
            value: value.as_deref(),
            headers: &[],
        });
    }
    Ok(builder.build()?)
}

/// Returns key and value of a record; no value for a tombstone.
pub(super) fn encode(record: &Record) -> Result<(Bytes, Option<Bytes>), EncodeError> {
    match record {
        Record::Group { group, value } => {
            let key = GroupKey { group: group.to_string() }.encode()?;
            let value = value.as_ref().map(|value| group_value(value).encode()).transpose()?;
            Ok((key, value))
        }
        Record::Offset { group, topic_partition, value } => {
            let key = OffsetKey {
                group: group.to_string(),
                topic: topic_partition.topic.to_string(),
                partition: topic_partition.partition,
            };
            let value = value.as_ref().map(|value| offset_value(value).encode()).transpose()?;
            Ok((key.encode()?, value))
        }
    }
}

/// Reads a record; `None` for one that is of a later version than this broker knows.
pub(super) fn decode(key: &Bytes, value: Option<&Bytes>) -> Result<Option<Record>, DecodeError> {
    let record = match ConsumerOffsetsKey::decode(key)? {
        ConsumerOffsetsKey::Group(key) => {
            let value = value.map(GroupValue::decode).transpose()?;
            Record::Group { group: key.group.into(), value: value.map(group_metadata) }
        }
        ConsumerOffsetsKey::Offset(key) => {
            let value = value.map(OffsetValue::decode).transpose()?;
            Record::Offset {
                group: key.group.into(),
                topic_partition: TopicPartition::new(key.topic, key.partition),
                value: value.map(committed_offset),
            }
        }
        ConsumerOffsetsKey::Unknown(_) => return Ok(None),
    };
    Ok(Some(record))
}

fn group_value(value: &GroupMetadata) -> GroupValue {
    let members = value.members.iter().map(|member| GroupMember {
        member_id: member.member_id.to_string(),
        group_instance_id: member.instance_id.as_ref().map(ToString::to_string),
        client_id: member.client_id.to_string(),
        client_host: member.client_host.to_string(),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        session_timeout_ms: member.session_timeout_ms,
        subscription: member.subscription.clone(),
        assignment: member.assignment.clone(),
    });
    GroupValue {
        protocol_type: value.protocol_type.to_string(),
        generation: value.generation.0,
        protocol: value.protocol.as_deref().map(str::to_owned),
        leader: value.leader.as_ref().map(ToString::to_string),
        state_timestamp: value.state_since.map_or(-1, |since| since.0),
        members: members.collect(),
    }
}

fn group_metadata(value: GroupValue) -> GroupMetadata {
    let members = value.members.into_iter().map(|member| MemberMetadata {
        member_id: member.member_id.into(),
        instance_id: member.group_instance_id.map(Into::into),
        client_id: member.client_id.into(),
        client_host: member.client_host.into(),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        session_timeout_ms: member.session_timeout_ms,
        subscription: member.subscription,
        assignment: member.assignment,
    });
    GroupMetadata {
        protocol_type: value.protocol_type.into(),
        generation: Generation(value.generation),
        protocol: value.protocol.map(Arc::from),
        leader: value.leader.map(Into::into),
        state_since: Some(Millis(value.state_timestamp)).filter(|since| since.0 >= 0),
        members: members.collect(),
    }
}

fn offset_value(value: &CommittedOffset) -> OffsetValue {
    OffsetValue {
        offset: value.offset.0,
        leader_epoch: value.leader_epoch.0,
        metadata: value.metadata.to_string(),
        commit_timestamp: value.commit_timestamp.0,
        expire_timestamp: value.expire_timestamp.map_or(-1, |expires| expires.0),
    }
}

fn committed_offset(value: OffsetValue) -> CommittedOffset {
    CommittedOffset {
        offset: Offset(value.offset),
        leader_epoch: LeaderEpoch(value.leader_epoch),
        metadata: value.metadata.into(),
        commit_timestamp: Millis(value.commit_timestamp),
        expire_timestamp: Some(Millis(value.expire_timestamp)).filter(|expires| expires.0 >= 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let member = MemberMetadata {
            member_id: "m".into(),
            instance_id: Some("i".into()),
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout_ms: 1,
            session_timeout_ms: 2,
            subscription: Bytes::from_static(b"s"),
            assignment: Bytes::from_static(b"a"),
        };
        let full = GroupMetadata {
            protocol_type: "consumer".into(),
            generation: Generation(3),
            protocol: Some("range".into()),
            leader: Some("m".into()),
            state_since: Some(Millis(4)),
            members: vec![member.clone(), MemberMetadata { instance_id: None, ..member }],
        };
        let empty = GroupMetadata {
            protocol_type: "".into(),
            generation: Generation(0),
            protocol: None,
            leader: None,
            state_since: None,
            members: vec![],
        };
        let offset = CommittedOffset {
            offset: Offset(5),
            leader_epoch: LeaderEpoch(6),
            metadata: "note".into(),
            commit_timestamp: Millis(7),
            expire_timestamp: None,
        };
        // The version that has an expiry has no leader epoch.
        let expiring = CommittedOffset {
            leader_epoch: LeaderEpoch::UNKNOWN,
            expire_timestamp: Some(Millis(8)),
            ..offset.clone()
        };
        let groups = [Some(full), Some(empty), None].map(|value| Record::Group { group: "g".into(), value });
        let offsets = [Some(offset), Some(expiring), None].map(|value| Record::Offset {
            group: "g".into(),
            topic_partition: TopicPartition::new("t", 9),
            value,
        });
        groups.into_iter().chain(offsets).collect()
    }

    #[test]
    fn records_come_back() {
        for record in records() {
            let (key, value) = encode(&record).unwrap();
            assert_eq!(decode(&key, value.as_ref()).unwrap(), Some(record));
        }
    }

    #[test]
    fn later_versions_are_skipped_and_broken_ones_are_errors() {
        assert_eq!(decode(&Bytes::from_static(b"\x00\x09rest"), None).unwrap(), None);
        assert!(decode(&Bytes::from_static(b"\x00\x02\x00\x09g"), None).is_err());
        let (key, _) = encode(&records()[0]).unwrap();
        assert!(decode(&key, Some(&Bytes::from_static(b"\x00\x07"))).is_err());
    }

    #[test]
    fn what_the_format_cannot_say_is_refused() {
        let long = "x".repeat(40_000);
        let record = Record::Group { group: long.into(), value: None };
        let batch = Batch { records: [record].into(), transaction: None, timestamp: Millis(0) };
        assert!(matches!(encode_batch(&batch, Compression::None), Err(EncodeBatchError::Record(_))));
    }
}
