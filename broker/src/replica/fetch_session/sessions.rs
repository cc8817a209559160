//! All sessions of a shard of the cache.

use std::collections::BTreeMap;

use ottla_protocol::message::ErrorCode;

use super::eviction::{Newcomer, gives_way, rank};
use super::partition::{AnswerSummary, FetchKey, FetchPartition};
use super::session::Session;
use crate::types::Millis;

const SESSIONLESS_EPOCH: i32 = -1;
const FULL_EPOCH: i32 = 0;
const NO_SESSION: i32 = 0;

/// The session part of a fetch request.
#[derive(Debug, Clone)]
pub struct SessionRequest {
    /// The session's id; 0 for none.
    pub id: i32,
    /// −1: none wanted; 0: a new one; else the number of this request in the session.
    pub epoch: i32,
    /// Whether a broker asks; it has precedence when slots are scarce.
    pub is_follower: bool,
    /// Whether topics are named by id.
    pub uses_topic_ids: bool,
    /// What is wanted: everything, or what is new and changed.
    pub partitions: Vec<FetchPartition>,
    /// What is no longer wanted.
    pub forgotten: Vec<FetchKey>,
}

/// What to fetch, and how to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchPlan {
    /// The kind of answer.
    pub kind: PlanKind,
    /// Every partition to look at, in order.
    pub partitions: Vec<FetchPartition>,
}

/// How a fetch is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// Everything, without a session.
    Sessionless,
    /// Everything, and a new session if there is room.
    Full {
        /// Whether a broker asks.
        is_follower: bool,
        /// Whether topics are named by id.
        uses_topic_ids: bool,
    },
    /// What changed in this session.
    Incremental {
        /// The session's id.
        id: i32,
    },
}

/// The sessions, as a machine: it is told the time and draws its ids from the seed it was given.
#[derive(Debug)]
pub struct FetchSessions {
    slots: usize,
    /// Ids are `lane` modulo `lanes`, so that an id tells which shard it belongs to.
    lane: u32,
    lanes: u32,
    seed: u64,
    sessions: BTreeMap<i32, Session>,
    evictions: u64,
}

impl FetchSessions {
    /// Returns an empty set of `slots` sessions whose ids are `lane` modulo `lanes`.
    #[must_use]
    pub fn new(slots: usize, lane: u32, lanes: u32, seed: u64) -> Self {
        Self { slots, lane, lanes: lanes.max(1), seed, sessions: BTreeMap::new(), evictions: 0 }
    }

    /// Returns how many sessions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Returns how many partitions all sessions remember.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.sessions.values().map(Session::len).sum()
    }

    /// Returns how many sessions had to make room since the start.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Takes a request and tells what to fetch.
    ///
    /// # Errors
    /// FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR; all for the whole request.
    pub fn begin(&mut self, now: Millis, request: SessionRequest) -> Result<FetchPlan, ErrorCode> {
        match request.epoch {
            SESSIONLESS_EPOCH | FULL_EPOCH => {
                self.sessions.remove(&request.id);
                let SessionRequest { is_follower, uses_topic_ids, .. } = request;
                let kind = if request.epoch == SESSIONLESS_EPOCH {
                    PlanKind::Sessionless
                } else {
                    PlanKind::Full { is_follower, uses_topic_ids }
                };
                Ok(FetchPlan { kind, partitions: request.partitions })
            }
            _ => self.continue_session(now, request),
        }
    }

    /// Opens a session after a full fetch, with what each partition was answered; returns its id, or 0.
    pub fn open(
        &mut self,
        now: Millis,
        (is_follower, uses_topic_ids): (bool, bool),
        answered: Vec<(FetchPartition, AnswerSummary)>,
    ) -> i32 {
        if answered.is_empty() || !self.make_room(now, Newcomer { is_follower, partitions: answered.len() }) {
            return NO_SESSION;
        }
        let mut session = Session::new(now, is_follower, uses_topic_ids);
        for (wanted, answer) in answered {
            let key = wanted.key.clone();
            session.want(wanted);
            session.note_answer(&key, answer);
        }
        let id = self.new_id();
        self.sessions.insert(id, session);
        id
    }

    /// Notes what an incremental fetch answers; tells for each partition whether the client has to hear it. A session
    /// that was pushed out meanwhile leaves nothing out.
    pub fn answer(&mut self, id: i32, answers: &[(FetchKey, AnswerSummary)]) -> Vec<bool> {
        match self.sessions.get_mut(&id) {
            Some(session) => answers.iter().map(|(key, answer)| session.note_answer(key, *answer)).collect(),
            None => vec![true; answers.len()],
        }
    }

    /// Sets how many sessions there may be; those that are there stay until others push them out.
    pub fn set_slots(&mut self, slots: usize) {
        self.slots = slots;
    }

    fn continue_session(&mut self, now: Millis, request: SessionRequest) -> Result<FetchPlan, ErrorCode> {
        let session = self.sessions.get_mut(&request.id).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        if session.epoch != request.epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        if session.uses_topic_ids != request.uses_topic_ids {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        request.partitions.into_iter().for_each(|wanted| session.want(wanted));
        request.forgotten.iter().for_each(|key| session.forget(key));
        if session.len() == 0 {
            self.sessions.remove(&request.id);
            return Ok(FetchPlan { kind: PlanKind::Sessionless, partitions: Vec::new() });
        }
        session.epoch = next_epoch(session.epoch);
        session.last_used = now;
        let partitions = session.wanted();
        Ok(FetchPlan { kind: PlanKind::Incremental { id: request.id }, partitions })
    }

    fn make_room(&mut self, now: Millis, newcomer: Newcomer) -> bool {
        if self.sessions.len() < self.slots {
            return true;
        }
        let idle = self.sessions.iter().min_by_key(|(_, session)| session.last_used);
        let least = self.sessions.iter().min_by_key(|(_, session)| rank(session));
        let candidates = [idle, least].into_iter().flatten();
        let victim =
            candidates.filter(|(_, session)| gives_way(session, newcomer, now)).map(|(id, _)| *id).next();
        let Some(victim) = victim else { return false };
        self.sessions.remove(&victim);
        self.evictions += 1;
        true
    }

    /// Draws a positive id of this lane that is not in use.
    fn new_id(&mut self) -> i32 {
        loop {
            // SplitMix64: the ids need not be secret, only unlikely to be met by a client's mistake.
            self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut bits = self.seed;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            bits ^= bits >> 31;
            let drawn = i32::try_from(bits & 0x7FFF_FFFF).unwrap_or(i32::MAX);
            let lanes = i32::try_from(self.lanes).unwrap_or(1);
            let lane = i32::try_from(self.lane).unwrap_or(0);
            let id = (drawn - drawn % lanes).saturating_add(lane);
            if id > 0 && !self.sessions.contains_key(&id) {
                return id;
            }
        }
    }
}

pub(super) fn next_epoch(epoch: i32) -> i32 {
    if epoch == i32::MAX { 1 } else { epoch + 1 }
}
