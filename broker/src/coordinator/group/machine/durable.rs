//! What a group remembers over failovers. Only records change it, whether they come from the log at loading or back
//! from an append of our own.

use std::collections::{BTreeMap, BTreeSet};

use super::names::ProducerId;
use super::record::{CommittedOffset, GroupMetadata, Record};
use crate::types::TopicPartition;

/// Counts the records of a partition in the order of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Position(pub(super) u64);

/// What the log says of one group.
#[derive(Debug, Default)]
pub(super) struct Durable {
    metadata: Option<GroupMetadata>,
    offsets: BTreeMap<TopicPartition, Stored>,
    /// Offsets that count once the producer's transaction is committed.
    transactional: BTreeMap<ProducerId, BTreeMap<TopicPartition, Stored>>,
}

/// An offset and where in the log it stands.
#[derive(Debug, Clone)]
struct Stored {
    position: Position,
    value: CommittedOffset,
}

impl Durable {
    /// Applies a record that stands at `position`, as part of a producer's transaction or not.
    pub(super) fn replay(&mut self, position: Position, record: &Record, producer: Option<ProducerId>) {
        match (record, producer) {
            (Record::Group { value, .. }, _) => self.metadata.clone_from(value),
            (Record::Offset { topic_partition, value: Some(value), .. }, Some(producer)) => {
                let stored = Stored { position, value: value.clone() };
                self.transactional.entry(producer).or_default().insert(topic_partition.clone(), stored);
            }
            (Record::Offset { topic_partition, value: Some(value), .. }, None) => {
                self.offsets.insert(topic_partition.clone(), Stored { position, value: value.clone() });
            }
            (Record::Offset { topic_partition, value: None, .. }, _) => {
                self.offsets.remove(topic_partition);
            }
        }
    }

    /// Applies a transaction marker: committed offsets count unless a later commit overtook them.
    pub(super) fn end_transaction(&mut self, producer: ProducerId, committed: bool) {
        let Some(pending) = self.transactional.remove(&producer) else { return };
        if !committed {
            return;
        }
        for (topic_partition, stored) in pending {
            let overtaken =
                self.offsets.get(&topic_partition).is_some_and(|known| known.position > stored.position);
            if !overtaken {
                self.offsets.insert(topic_partition, stored);
            }
        }
    }

    pub(super) fn metadata(&self) -> Option<&GroupMetadata> {
        self.metadata.as_ref()
    }

    pub(super) fn offset(&self, topic_partition: &TopicPartition) -> Option<&CommittedOffset> {
        self.offsets.get(topic_partition).map(|stored| &stored.value)
    }

    pub(super) fn offsets(&self) -> impl Iterator<Item = (&TopicPartition, &CommittedOffset)> {
        self.offsets.iter().map(|(topic_partition, stored)| (topic_partition, &stored.value))
    }

    pub(super) fn has_offsets(&self) -> bool {
        !self.offsets.is_empty() || !self.transactional.is_empty()
    }

    /// Returns whether nothing is remembered at all.
    pub(super) fn is_empty(&self) -> bool {
        self.metadata.is_none() && !self.has_offsets()
    }

    /// Returns whether a transaction under way commits an offset of the partition.
    pub(super) fn has_transactional_offset(&self, topic_partition: &TopicPartition) -> bool {
        self.transactional.values().any(|pending| pending.contains_key(topic_partition))
    }

    /// Returns the partitions that transactions under way commit offsets of.
    pub(super) fn transactional_partitions(&self) -> BTreeSet<&TopicPartition> {
        self.transactional.values().flat_map(BTreeMap::keys).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{LeaderEpoch, Millis, Offset};

    fn offset(value: Option<i64>) -> Record {
        let value = value.map(|offset| CommittedOffset {
            offset: Offset(offset),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
            commit_timestamp: Millis(1),
            expire_timestamp: None,
        });
        Record::Offset { group: "g".into(), topic_partition: TopicPartition::new("t", 0), value }
    }

    fn read(durable: &Durable) -> Option<i64> {
        durable.offset(&TopicPartition::new("t", 0)).map(|value| value.offset.0)
    }

    #[test]
    fn a_transactional_offset_counts_from_its_marker_unless_it_was_overtaken() {
        let producer = ProducerId(7);
        let cases: [(&str, Option<i64>, bool, Option<i64>); 4] = [
            ("committed", None, true, Some(10)),
            ("aborted", None, false, None),
            ("committed, but a plain commit came later", Some(20), true, Some(20)),
            ("aborted, and a plain commit came later", Some(20), false, Some(20)),
        ];
        for (name, plain, committed, expected) in cases {
            let mut durable = Durable::default();
            durable.replay(Position(1), &offset(Some(10)), Some(producer));
            assert_eq!(read(&durable), None, "{name}: not yet");
            assert!(durable.has_transactional_offset(&TopicPartition::new("t", 0)), "{name}");
            if plain.is_some() {
                durable.replay(Position(2), &offset(plain), None);
            }
            durable.end_transaction(producer, committed);
            assert_eq!(read(&durable), expected, "{name}");
            assert!(!durable.has_transactional_offset(&TopicPartition::new("t", 0)), "{name}");
        }
    }

    #[test]
    fn tombstones_remove() {
        let mut durable = Durable::default();
        durable.replay(Position(1), &offset(Some(10)), None);
        durable.replay(Position(2), &offset(None), None);
        assert!(durable.is_empty());
    }
}
