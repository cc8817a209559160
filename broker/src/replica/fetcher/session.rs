//! The fetcher's side of a fetch session (KIP-227): what the leader remembers, so that only changes are sent. PURE.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::replica::machine::FetchPosition;
use crate::types::TopicPartition;

/// What is wanted of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) topic_id: Option<Uuid>,
    pub(super) position: FetchPosition,
}

/// What the leader knows of this fetcher.
#[derive(Debug, Default)]
pub(super) struct ClientSession {
    /// 0: there is no session.
    id: i32,
    /// 0: the next request opens one.
    epoch: i32,
    uses_topic_ids: bool,
    sent: BTreeMap<TopicPartition, Wanted>,
}

/// The session part of the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) id: i32,
    pub(super) epoch: i32,
    pub(super) partitions: Vec<(TopicPartition, Wanted)>,
    pub(super) forgotten: Vec<(TopicPartition, Wanted)>,
}

impl ClientSession {
    /// Returns what to send so that the leader knows of all that is wanted.
    pub(super) fn next(&mut self, wanted: BTreeMap<TopicPartition, Wanted>, uses_topic_ids: bool) -> Delta {
        if uses_topic_ids != self.uses_topic_ids {
            self.epoch = 0;
            self.uses_topic_ids = uses_topic_ids;
        }
        if self.epoch == 0 {
            // A session that is replaced is closed by naming it.
            let delta = Delta {
                id: self.id,
                epoch: 0,
                partitions: wanted.iter().map(|(id, wanted)| (id.clone(), *wanted)).collect(),
                forgotten: Vec::new(),
            };
            self.sent = wanted;
            return delta;
        }
        let news = wanted.iter().filter(|(id, wanted)| self.sent.get(*id) != Some(*wanted));
        let partitions = news.map(|(id, wanted)| (id.clone(), *wanted)).collect();
        // A topic that was made anew has another id: the leader must forget the old one.
        let gone = self.sent.iter().filter(|(id, sent)| {
            wanted.get(*id).is_none_or(|wanted| uses_topic_ids && wanted.topic_id != sent.topic_id)
        });
        let forgotten = gone.map(|(id, sent)| (id.clone(), *sent)).collect();
        self.sent = wanted;
        Delta { id: self.id, epoch: self.epoch, partitions, forgotten }
    }

    /// The leader answered with this session id.
    pub(super) fn answered(&mut self, id: i32) {
        if id == 0 {
            *self = Self { uses_topic_ids: self.uses_topic_ids, ..Self::default() };
            return;
        }
        self.epoch = if id != self.id || self.epoch == i32::MAX { 1 } else { self.epoch + 1 };
        self.id = id;
    }

    /// The leader does not know the session, or whether it got the request is not known: begin anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    pub(super) fn sent(&self) -> &BTreeMap<TopicPartition, Wanted> {
        &self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{LeaderEpoch, Offset};

    fn wanted(topic_id: u128, fetch_offset: i64) -> Wanted {
        let position = FetchPosition {
            leader_epoch: LeaderEpoch(1),
            fetch_offset: Offset(fetch_offset),
            last_fetched_epoch: None,
            log_start: Offset::ZERO,
        };
        Wanted { topic_id: Some(Uuid::from_u128(topic_id)), position }
    }

    fn id(partition: i32) -> TopicPartition {
        TopicPartition::new("orders", partition)
    }

    fn all(entries: &[(i32, u128, i64)]) -> BTreeMap<TopicPartition, Wanted> {
        entries.iter().map(|(partition, topic, offset)| (id(*partition), wanted(*topic, *offset))).collect()
    }

    fn brief(delta: &Delta) -> (i32, i32, Vec<i32>, Vec<i32>) {
        let numbers = |list: &[(TopicPartition, Wanted)]| list.iter().map(|(id, _)| id.partition).collect();
        (delta.id, delta.epoch, numbers(&delta.partitions), numbers(&delta.forgotten))
    }

    #[test]
    fn only_changes_are_sent_once_a_session_is_open() {
        let mut session = ClientSession::default();
        let first = session.next(all(&[(0, 1, 5), (1, 1, 5)]), true);
        assert_eq!(brief(&first), (0, 0, vec![0, 1], vec![]));
        session.answered(77);
        let second = session.next(all(&[(0, 1, 9), (1, 1, 5)]), true);
        assert_eq!(brief(&second), (77, 1, vec![0], vec![]));
        session.answered(77);
        let third = session.next(all(&[(0, 1, 9), (2, 1, 0)]), true);
        assert_eq!(brief(&third), (77, 2, vec![2], vec![1]));
        session.answered(0);
        let fourth = session.next(all(&[(0, 1, 9)]), true);
        assert_eq!(brief(&fourth), (0, 0, vec![0], vec![]));
    }

    #[test]
    fn a_topic_made_anew_is_forgotten_under_its_old_id() {
        let mut session = ClientSession::default();
        session.next(all(&[(0, 1, 5)]), true);
        session.answered(77);
        let delta = session.next(all(&[(0, 2, 0)]), true);
        assert_eq!(brief(&delta), (77, 1, vec![0], vec![0]));
        assert_eq!(delta.forgotten[0].1.topic_id, Some(Uuid::from_u128(1)));
    }

    #[test]
    fn changing_how_topics_are_named_and_trouble_begin_anew() {
        let mut session = ClientSession::default();
        session.next(all(&[(0, 1, 5)]), true);
        session.answered(77);
        let renamed = session.next(all(&[(0, 1, 5)]), false);
        assert_eq!(brief(&renamed), (77, 0, vec![0], vec![]), "the old session is closed by naming it");
        session.answered(78);
        session.reset();
        assert_eq!(brief(&session.next(all(&[(0, 1, 5)]), false)), (0, 0, vec![0], vec![]));
    }
}
