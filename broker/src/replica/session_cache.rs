//! The fetch sessions of this broker, behind locks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ottla_protocol::message::ErrorCode;

use super::fetch_session::{
    AnswerSummary, FetchKey, FetchPartition, FetchPlan, FetchSessions, SessionRequest,
};
use super::manager::lock;
use crate::types::Millis;

/// As many locks as Kafka has shards; the slots are divided among them.
const SHARDS: u32 = 8;

/// All fetch sessions. The id of a session tells its shard.
#[derive(Debug)]
pub struct FetchSessionCache {
    shards: Vec<Mutex<FetchSessions>>,
    next: AtomicUsize,
}

impl FetchSessionCache {
    /// Returns a cache with room for `slots` sessions.
    #[must_use]
    pub fn new(slots: usize, seed: u64) -> Self {
        let shards = usize::try_from(SHARDS).expect("there are eight");
        let per_shard = slots.div_ceil(shards);
        let shard = |lane: u32| {
            Mutex::new(FetchSessions::new(per_shard, lane, SHARDS, seed ^ (u64::from(lane) << 32)))
        };
        Self { shards: (0..SHARDS).map(shard).collect(), next: AtomicUsize::new(0) }
    }

    /// Takes a request and tells what to fetch.
    ///
    /// # Errors
    /// As [`FetchSessions::begin`].
    pub fn begin(&self, now: Millis, request: SessionRequest) -> Result<FetchPlan, ErrorCode> {
        lock(self.shard_of(request.id)).begin(now, request)
    }

    /// Opens a session after a full fetch; returns its id, or 0 when there is no room.
    pub fn open(
        &self,
        now: Millis,
        kind: (bool, bool),
        answered: Vec<(FetchPartition, AnswerSummary)>,
    ) -> i32 {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(shard) = self.shards.get(turn % self.shards.len()) else { return 0 };
        lock(shard).open(now, kind, answered)
    }

    /// Notes what an incremental fetch answers; tells what the client has to hear.
    pub fn answer(&self, id: i32, answers: &[(FetchKey, AnswerSummary)]) -> Vec<bool> {
        lock(self.shard_of(id)).answer(id, answers)
    }

    /// Returns the number of sessions, of their partitions, and of sessions that had to make room so far.
    #[must_use]
    pub fn totals(&self) -> (usize, usize, u64) {
        self.shards.iter().fold((0, 0, 0), |(sessions, partitions, evictions), shard| {
            let shard = lock(shard);
            (sessions + shard.len(), partitions + shard.partitions(), evictions + shard.evictions())
        })
    }

    fn shard_of(&self, id: i32) -> &Mutex<FetchSessions> {
        let lane = id.unsigned_abs() % SHARDS;
        let number = usize::try_from(lane).expect("less than eight");
        self.shards.get(number).expect("less than the number of shards")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::replica::fetch_session::{PlanKind, TopicKey};
    use crate::types::Offset;

    #[test]
    fn a_session_is_found_again_by_its_id() {
        let cache = FetchSessionCache::new(100, 7);
        let key = FetchKey { topic: TopicKey::Name(Arc::from("orders")), partition: 0 };
        let wanted = FetchPartition {
            key: key.clone(),
            topic: Some(Arc::from("orders")),
            fetch_offset: Offset(0),
            current_leader_epoch: None,
            last_fetched_epoch: None,
            log_start: Offset::UNKNOWN,
            max_bytes: 1,
        };
        let answer = AnswerSummary {
            has_records: false,
            is_special: false,
            high_watermark: Offset(0),
            log_start: Offset(0),
        };
        for _ in 0..20 {
            let id = cache.open(Millis(0), (false, false), vec![(wanted.clone(), answer)]);
            let request = SessionRequest {
                id,
                epoch: 1,
                is_follower: false,
                uses_topic_ids: false,
                partitions: Vec::new(),
                forgotten: Vec::new(),
            };
            let plan = cache.begin(Millis(1), request).unwrap();
            assert_eq!(plan.kind, PlanKind::Incremental { id });
            assert_eq!(cache.answer(id, &[(key.clone(), answer)]), [false]);
        }
        assert_eq!(cache.totals(), (20, 20, 0));
    }
}
