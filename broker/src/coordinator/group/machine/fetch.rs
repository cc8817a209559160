//! `OffsetFetch`: what was committed, whatever the group's state.

use ottla_protocol::message::ErrorCode;

use super::group::Group;
use super::record::CommittedOffset;
use super::reply::{FetchReply, FetchedOffset};
use super::request::FetchRequest;
use crate::types::{LeaderEpoch, Offset, TopicPartition};

impl Group {
    /// Returns the offsets that are asked for.
    pub(super) fn fetch(&self, request: &FetchRequest) -> FetchReply {
        let partitions = match &request.topic_partitions {
            Some(wanted) => wanted.iter().map(|one| self.fetch_one(one, request.require_stable)).collect(),
            None => self.fetch_all(request.require_stable),
        };
        FetchReply { error: ErrorCode::None, partitions }
    }

    fn fetch_one(&self, topic_partition: &TopicPartition, require_stable: bool) -> FetchedOffset {
        let is_unstable = self.pending_commits.contains_transactional(topic_partition)
            || self.durable.has_transactional_offset(topic_partition);
        if require_stable && is_unstable {
            return absent(topic_partition, ErrorCode::UnstableOffsetCommit);
        }
        match self.durable.offset(topic_partition) {
            Some(committed) => present(topic_partition, committed),
            None => absent(topic_partition, ErrorCode::None),
        }
    }

    fn fetch_all(&self, require_stable: bool) -> Vec<FetchedOffset> {
        if !require_stable {
            return self
                .durable
                .offsets()
                .map(|(partition, committed)| present(partition, committed))
                .collect();
        }
        let mut partitions = self.durable.transactional_partitions();
        partitions.extend(self.durable.offsets().map(|(partition, _)| partition));
        partitions.into_iter().map(|partition| self.fetch_one(partition, true)).collect()
    }
}

/// Answers for a group that is not there.
pub(super) fn fetch_from_absent(request: &FetchRequest) -> FetchReply {
    let wanted = request.topic_partitions.iter().flatten();
    FetchReply {
        error: ErrorCode::None,
        partitions: wanted.map(|one| absent(one, ErrorCode::None)).collect(),
    }
}

fn absent(topic_partition: &TopicPartition, error: ErrorCode) -> FetchedOffset {
    FetchedOffset {
        topic_partition: topic_partition.clone(),
        error,
        offset: Offset::UNKNOWN,
        leader_epoch: LeaderEpoch::UNKNOWN,
        metadata: "".into(),
    }
}

fn present(topic_partition: &TopicPartition, committed: &CommittedOffset) -> FetchedOffset {
    FetchedOffset {
        topic_partition: topic_partition.clone(),
        error: ErrorCode::None,
        offset: committed.offset,
        leader_epoch: committed.leader_epoch,
        metadata: committed.metadata.clone(),
    }
}
