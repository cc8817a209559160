//! A leader: what its followers have, which of them are in sync, and how far everything is committed.

use std::collections::{BTreeMap, BTreeSet};

use ottla_protocol::message::ErrorCode;

use super::effect::Effect;
use super::event::{IsrAnswer, LeaderRecovery};
use super::isr::{Isr, IsrProposal, Reaction};
use super::local::Local;
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset};

/// What being the leader adds to a replica.
#[derive(Debug, Clone)]
pub(super) struct Leader {
    /// The first epoch of this broker's unbroken leadership: what was appended in it or later is still in the log.
    pub(super) since: LeaderEpoch,
    /// Where the current epoch began. A follower that has not reached it may still hold records of another history.
    pub(super) epoch_start: Offset,
    pub(super) isr: Isr,
    pub(super) followers: BTreeMap<BrokerId, FollowerState>,
    low_watermark: Offset,
    next_shrink_check: Millis,
}

/// What a leader knows of one follower, Kafka's `ReplicaState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FollowerState {
    pub(super) log_end: Offset,
    pub(super) log_start: Offset,
    /// The leader's log end when the follower last fetched: reaching it means having been caught up then.
    leader_log_end_at_fetch: Offset,
    last_fetch: Option<Millis>,
    /// `None`: never, which is also what a follower outside the in-sync replicas of a new epoch starts with.
    pub(super) last_caught_up: Option<Millis>,
    pub(super) is_live: bool,
}

impl FollowerState {
    /// A new leader does not know what its followers have; those in sync count as caught up until they prove otherwise.
    fn unknown(now: Millis, in_sync: bool) -> Self {
        Self {
            log_end: Offset::UNKNOWN,
            log_start: Offset::UNKNOWN,
            leader_log_end_at_fetch: Offset::UNKNOWN,
            last_fetch: None,
            last_caught_up: in_sync.then_some(now),
            is_live: in_sync,
        }
    }

    /// A leader that is elected again knows its followers, and starts their time anew.
    fn renewed(self, now: Millis, in_sync: bool, leader_log_end: Offset) -> Self {
        Self {
            leader_log_end_at_fetch: leader_log_end,
            last_fetch: in_sync.then_some(now),
            last_caught_up: in_sync.then_some(now),
            ..self
        }
    }

    fn fetched(&mut self, now: Millis, fetch_offset: Offset, log_start: Offset, leader_log_end: Offset) {
        let caught_up = if fetch_offset >= leader_log_end {
            Some(now)
        } else if fetch_offset >= self.leader_log_end_at_fetch {
            self.last_fetch
        } else {
            None
        };
        self.last_caught_up = self.last_caught_up.max(caught_up);
        self.leader_log_end_at_fetch = self.leader_log_end_at_fetch.max(leader_log_end);
        self.last_fetch = Some(now);
        self.log_end = fetch_offset;
        self.log_start = log_start;
    }

    fn is_caught_up(&self, now: Millis, leader_log_end: Offset, lag_time_max: Millis) -> bool {
        self.log_end == leader_log_end
            || self.last_caught_up.is_some_and(|moment| now.since(moment) <= lag_time_max)
    }
}

impl Leader {
    /// Begins to lead in the epoch that `local` already shows; `previous` is this broker's leadership so far.
    pub(super) fn begin(
        local: &Local,
        now: Millis,
        previous: Option<Self>,
        isr: BTreeSet<BrokerId>,
        recovery: LeaderRecovery,
    ) -> Self {
        let others = local.assignment.replicas.iter().filter(|id| **id != local.broker);
        let followers = others.map(|id| {
            let in_sync = isr.contains(id);
            let known = previous.as_ref().and_then(|leader| leader.followers.get(id));
            let state = known.map_or_else(
                || FollowerState::unknown(now, in_sync),
                |state| state.renewed(now, in_sync, local.log.end),
            );
            (*id, state)
        });
        Self {
            since: previous.as_ref().map_or(local.leader_epoch, |leader| leader.since),
            epoch_start: local.log.end,
            followers: followers.collect(),
            isr: Isr::new(isr, recovery),
            low_watermark: previous.map_or(local.log.start, |leader| leader.low_watermark),
            next_shrink_check: now.plus(shrink_check_interval(local)),
        }
    }

    /// A follower has everything before `fetch_offset`.
    pub(super) fn follower_fetched(
        &mut self,
        local: &mut Local,
        now: Millis,
        replica: BrokerId,
        (fetch_offset, log_start): (Offset, Offset),
        is_live: bool,
        out: &mut Vec<Effect>,
    ) {
        let Some(state) = self.followers.get_mut(&replica) else { return };
        let log_end_before = state.log_end;
        state.is_live = is_live;
        state.fetched(now, fetch_offset, log_start, local.log.end);
        self.expand_isr(local, replica, out);
        if fetch_offset != log_end_before {
            self.advance_high_watermark(local, now, out);
        }
        self.advance_low_watermark(local, out);
    }

    /// Moves the high watermark to the least log end offset of those that count: the maximal in-sync replicas, and live
    /// replicas that are caught up and about to enter. It stays while too few replicas are in sync.
    pub(super) fn advance_high_watermark(&self, local: &mut Local, now: Millis, out: &mut Vec<Effect>) {
        if self.is_under_min_isr(local) {
            return;
        }
        let counted = self.followers.iter().filter(|(id, state)| {
            self.isr.maximal_contains(**id)
                || (state.is_live && state.is_caught_up(now, local.log.end, local.settings.lag_time_max))
        });
        let committed = counted.map(|(_, state)| state.log_end).min().unwrap_or(local.log.end);
        local.raise_high_watermark(committed.min(local.log.end), out);
    }

    pub(super) fn is_under_min_isr(&self, local: &Local) -> bool {
        self.isr.committed().len() < local.effective_min_isr()
    }

    /// Asks for `replica` to be counted as in sync once it has everything that is committed, and everything up to where
    /// this epoch began (KIP-101: before that its log may have taken another turn).
    fn expand_isr(&mut self, local: &Local, replica: BrokerId, out: &mut Vec<Effect>) {
        let Some(state) = self.followers.get(&replica) else { return };
        let has_enough = state.log_end >= local.high_watermark && state.log_end >= self.epoch_start;
        if self.isr.is_pending() || self.isr.committed().contains(&replica) || !state.is_live || !has_enough {
            return;
        }
        let mut isr = self.isr.committed().clone();
        isr.insert(replica);
        self.propose(local, isr, out);
    }

    /// Asks for those who were not caught up for too long to be dropped. Looked at every half of the allowed time.
    pub(super) fn tick(&mut self, local: &Local, now: Millis, out: &mut Vec<Effect>) {
        if now < self.next_shrink_check {
            return;
        }
        self.next_shrink_check = now.plus(shrink_check_interval(local));
        if self.isr.is_pending() {
            return;
        }
        let in_sync = |id: &BrokerId| {
            let state = self.followers.get(id);
            state.is_none_or(|state| state.is_caught_up(now, local.log.end, local.settings.lag_time_max))
        };
        let isr: BTreeSet<BrokerId> = self.isr.committed().iter().filter(|id| in_sync(id)).copied().collect();
        if isr != *self.isr.committed() {
            self.propose(local, isr, out);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        (self.isr.committed().len() > 1).then_some(self.next_shrink_check)
    }

    pub(super) fn isr_answered(
        &mut self,
        local: &mut Local,
        now: Millis,
        proposal: &IsrProposal,
        answer: Result<IsrAnswer, ErrorCode>,
        out: &mut Vec<Effect>,
    ) {
        match self.isr.answered(proposal, answer, local.leader_epoch, local.partition_epoch) {
            Reaction::Committed(partition_epoch) => {
                local.partition_epoch = partition_epoch;
                self.advance_high_watermark(local, now, out);
                out.push(Effect::Recheck);
            }
            Reaction::RolledBack => {
                self.advance_high_watermark(local, now, out);
                out.push(Effect::Recheck);
            }
            Reaction::Retry(proposal) => out.push(Effect::ProposeIsr(proposal)),
            Reaction::AwaitsCommand | Reaction::Ignored => {}
        }
    }

    pub(super) fn live_brokers(
        &mut self,
        local: &mut Local,
        now: Millis,
        live: &BTreeSet<BrokerId>,
        out: &mut Vec<Effect>,
    ) {
        for (id, state) in &mut self.followers {
            state.is_live = live.contains(id);
        }
        self.advance_high_watermark(local, now, out);
        self.advance_low_watermark(local, out);
    }

    /// Returns the least log start offset of this replica and the live ones, up to which deletion is complete.
    pub(super) fn low_watermark(&self, local: &Local) -> Offset {
        let live = self.followers.values().filter(|state| state.is_live);
        live.map(|state| state.log_start).min().map_or(local.log.start, |least| least.min(local.log.start))
    }

    pub(super) fn advance_low_watermark(&mut self, local: &Local, out: &mut Vec<Effect>) {
        let low_watermark = self.low_watermark(local);
        if low_watermark > self.low_watermark {
            self.low_watermark = low_watermark;
            out.push(Effect::LowWatermark(low_watermark));
        }
    }

    fn propose(&mut self, local: &Local, isr: BTreeSet<BrokerId>, out: &mut Vec<Effect>) {
        let proposal = self.isr.propose(local.leader_epoch, local.partition_epoch, isr);
        out.push(Effect::ProposeIsr(proposal));
    }
}

fn shrink_check_interval(local: &Local) -> Millis {
    Millis((local.settings.lag_time_max.0 / 2).max(1))
}
