//! What one session remembers.

use std::collections::BTreeMap;

use super::partition::{AnswerSummary, FetchKey, FetchPartition};
use crate::types::{Millis, Offset};

#[derive(Debug)]
pub(super) struct Session {
    pub(super) epoch: i32,
    pub(super) is_follower: bool,
    pub(super) uses_topic_ids: bool,
    pub(super) created: Millis,
    pub(super) last_used: Millis,
    partitions: BTreeMap<FetchKey, Remembered>,
    /// The order in which partitions are served: whoever got records goes to the end, so that all get their turn.
    order: BTreeMap<u64, FetchKey>,
    next_turn: u64,
}

#[derive(Debug)]
struct Remembered {
    wanted: FetchPartition,
    turn: u64,
    /// What the client was last told.
    high_watermark: Offset,
    log_start: Offset,
    /// An error was told, so the next good answer is news.
    had_error: bool,
}

impl Session {
    pub(super) fn new(now: Millis, is_follower: bool, uses_topic_ids: bool) -> Self {
        Self {
            epoch: 1,
            is_follower,
            uses_topic_ids,
            created: now,
            last_used: now,
            partitions: BTreeMap::new(),
            order: BTreeMap::new(),
            next_turn: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Takes over what the client wants of a partition, new or changed.
    pub(super) fn want(&mut self, wanted: FetchPartition) {
        if let Some(remembered) = self.partitions.get_mut(&wanted.key) {
            remembered.wanted = wanted;
            return;
        }
        let turn = self.take_turn();
        self.order.insert(turn, wanted.key.clone());
        let key = wanted.key.clone();
        let (high_watermark, log_start) = (Offset::UNKNOWN, Offset::UNKNOWN);
        self.partitions.insert(key, Remembered { wanted, turn, high_watermark, log_start, had_error: false });
    }

    pub(super) fn forget(&mut self, key: &FetchKey) {
        if let Some(remembered) = self.partitions.remove(key) {
            self.order.remove(&remembered.turn);
        }
    }

    /// Returns what to fetch, in order of turns.
    pub(super) fn wanted(&self) -> Vec<FetchPartition> {
        let keys = self.order.values();
        keys.filter_map(|key| self.partitions.get(key)).map(|remembered| remembered.wanted.clone()).collect()
    }

    /// Notes what a partition is answered with; returns whether the client has to hear it.
    pub(super) fn note_answer(&mut self, key: &FetchKey, answer: AnswerSummary) -> bool {
        let turn = self.take_turn();
        let Some(remembered) = self.partitions.get_mut(key) else { return true };
        let changed = remembered.high_watermark != answer.high_watermark
            || remembered.log_start != answer.log_start
            || remembered.had_error;
        remembered.high_watermark = answer.high_watermark;
        remembered.log_start = answer.log_start;
        remembered.had_error = answer.is_special;
        if answer.has_records {
            self.order.remove(&remembered.turn);
            remembered.turn = turn;
            self.order.insert(turn, key.clone());
        }
        answer.has_records || answer.is_special || changed
    }

    fn take_turn(&mut self) -> u64 {
        self.next_turn += 1;
        self.next_turn
    }
}
