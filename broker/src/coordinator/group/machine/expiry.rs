//! Offsets that nobody uses any more (KIP-211).

use super::context::Context;
use super::effect::Report;
use super::group::Group;
use super::record::CommittedOffset;
use super::state::State;
use super::time::Now;
use crate::types::{Millis, TopicPartition};

/// From when on an offset's retention counts.
#[derive(Debug, Clone, Copy)]
enum Since {
    /// The group became empty; or the commit, if the record did not say when.
    Emptied(Option<Millis>),
    /// The commit.
    Committed,
}

impl Group {
    /// Removes what has expired; the last offset takes an empty group with it.
    pub(super) fn expire(&mut self, ctx: &mut Context<'_>) {
        if self.state == State::Dead {
            return;
        }
        let expired = self.expired_offsets(ctx.now, ctx.config.offsets_retention);
        let is_last = expired.len() == self.durable.offsets().count() && !self.has_unfinished_commits();
        let is_over = self.state == State::Empty && is_last && self.pending_members.is_empty();
        if !expired.is_empty() {
            ctx.report(Report::OffsetsExpired { group: self.id.clone(), count: expired.len() });
        }
        if is_over {
            self.remove_group(ctx, None);
        } else if !expired.is_empty() {
            self.remove_offsets(ctx, &expired, None);
        }
    }

    fn has_unfinished_commits(&self) -> bool {
        !self.pending_commits.is_empty() || !self.durable.transactional_partitions().is_empty()
    }

    fn expired_offsets(&self, now: Now, retention: Millis) -> Vec<TopicPartition> {
        let Some(since) = self.retention_counts_since() else { return Vec::new() };
        let expired = self.durable.offsets().filter(|(topic_partition, committed)| {
            !self.pending_commits.contains(topic_partition)
                && !self.is_in_use(topic_partition)
                && has_expired(committed, since, now, retention)
        });
        expired.map(|(topic_partition, _)| topic_partition.clone()).collect()
    }

    /// Returns nothing if offsets do not expire now: the group is at work, or it is not known what it reads.
    fn retention_counts_since(&self) -> Option<Since> {
        match (&self.protocol_type, self.state) {
            (Some(_), State::Empty) => Some(Since::Emptied(self.state_since)),
            (Some(_), State::Stable) if self.is_consumer_group() && self.subscribed_topics.is_some() => {
                Some(Since::Committed)
            }
            (None, _) => Some(Since::Committed),
            (Some(_), _) => None,
        }
    }

    fn is_in_use(&self, topic_partition: &TopicPartition) -> bool {
        self.state == State::Stable && self.may_read(&topic_partition.topic)
    }
}

fn has_expired(committed: &CommittedOffset, since: Since, now: Now, retention: Millis) -> bool {
    if let Some(expire_timestamp) = committed.expire_timestamp {
        return now.wall >= expire_timestamp;
    }
    let since = match since {
        Since::Emptied(Some(emptied)) => emptied,
        Since::Emptied(None) | Since::Committed => committed.commit_timestamp,
    };
    now.wall.since(since) >= retention
}
