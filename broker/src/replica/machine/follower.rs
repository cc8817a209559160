//! A follower: where it continues to fetch, where it must cut its log, and what it learns from its leader.

use ottla_protocol::message::ErrorCode;

use super::effect::Effect;
use super::epochs::{EpochEnd, truncation_point};
use super::event::{FetchAnswer, FetchPosition};
use super::local::{Local, LogView};
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset};

/// The rest after the first refusal by a leader that may only not have heard of its election yet; it doubles up to
/// `replica.fetch.backoff.ms`. Kafka rests the full time at once, for which a producer with acks=all waits.
const FIRST_BACKOFF_MS: i64 = 10;

/// What being a follower adds to a replica.
#[derive(Debug, Clone)]
pub(super) struct Follower {
    pub(super) leader: BrokerId,
    phase: Phase,
    /// Refusals since the leader last answered well.
    refusals: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Ready for the next fetch.
    Fetching,
    /// A fetch was refused; the next goes out at this moment.
    Resting(Millis),
    /// Records are being appended, or the log is being cut.
    Storing,
    /// The fetch offset is outside the leader's log, and the leader was asked for both ends of it.
    Asking,
    /// Nothing more until the controller says something new.
    Halted,
}

impl Follower {
    /// Begins to follow `leader`. A log without any epoch cannot be compared by epochs, so what is not known to be
    /// committed goes at once.
    pub(super) fn begin(local: &Local, leader: BrokerId, out: &mut Vec<Effect>) -> Self {
        let must_cut = local.log.latest_epoch.is_none() && local.log.end > local.high_watermark;
        if must_cut {
            local.truncate_to(local.high_watermark, out);
        }
        Self { leader, phase: if must_cut { Phase::Storing } else { Phase::Fetching }, refusals: 0 }
    }

    /// Returns what to ask the leader for, or `None` while the partition rests.
    pub(super) fn fetch_position(&self, local: &Local, now: Millis) -> Option<FetchPosition> {
        match self.phase {
            Phase::Fetching => {}
            Phase::Resting(until) if until <= now => {}
            Phase::Resting(_) | Phase::Storing | Phase::Asking | Phase::Halted => return None,
        }
        Some(FetchPosition {
            leader_epoch: local.leader_epoch,
            fetch_offset: local.log.end,
            last_fetched_epoch: local.log.latest_epoch,
            log_start: local.log.start,
        })
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        match self.phase {
            Phase::Resting(until) => Some(until),
            Phase::Fetching | Phase::Storing | Phase::Asking | Phase::Halted => None,
        }
    }

    pub(super) fn halt(&mut self) {
        self.phase = Phase::Halted;
    }

    pub(super) fn fetch_answered(
        &mut self,
        local: &mut Local,
        now: Millis,
        position: FetchPosition,
        answer: FetchAnswer,
        out: &mut Vec<Effect>,
    ) {
        let is_ready = matches!(self.phase, Phase::Fetching | Phase::Resting(_));
        let is_current =
            position.leader_epoch == local.leader_epoch && position.fetch_offset == local.log.end;
        if !is_ready || !is_current {
            return;
        }
        if !matches!(answer, FetchAnswer::Refused(_)) {
            self.refusals = 0;
        }
        match answer {
            FetchAnswer::Records { any: true, .. } => {
                self.phase = Phase::Storing;
                out.push(Effect::AppendRecords);
            }
            FetchAnswer::Records { any: false, high_watermark, log_start } => {
                self.phase = Phase::Fetching;
                learn(local, high_watermark, log_start, out);
            }
            FetchAnswer::Diverging { leader, local: own } => self.diverged(local, leader, own, out),
            FetchAnswer::Refused(error) => self.refused(local, now, error, out),
        }
    }

    pub(super) fn replicated(
        &mut self,
        local: &mut Local,
        log: LogView,
        (leader_high_watermark, leader_log_start): (Offset, Offset),
        out: &mut Vec<Effect>,
    ) {
        self.stored(local, log, out);
        learn(local, leader_high_watermark, leader_log_start, out);
    }

    pub(super) fn replication_failed(
        &mut self,
        local: &Local,
        now: Millis,
        is_transient: bool,
        out: &mut Vec<Effect>,
    ) {
        if !matches!(self.phase, Phase::Storing | Phase::Fetching) {
            return;
        }
        if is_transient {
            self.rest(local, now);
        } else {
            self.phase = Phase::Halted;
            out.push(Effect::ReplicationHalted);
        }
    }

    /// The log was cut. A cut that changed nothing would only be asked for again, so the partition rests then.
    pub(super) fn truncated(&mut self, local: &mut Local, now: Millis, log: LogView, out: &mut Vec<Effect>) {
        let changed = log != local.log;
        self.stored(local, log, out);
        if !changed {
            self.rest(local, now);
        }
    }

    fn stored(&mut self, local: &mut Local, log: LogView, out: &mut Vec<Effect>) {
        local.log_changed(log, out);
        if self.phase == Phase::Storing {
            self.phase = Phase::Fetching;
        }
    }

    /// Where the leader's log begins and ends, after a fetch outside of it.
    pub(super) fn leader_offsets(
        &mut self,
        local: &mut Local,
        now: Millis,
        leader_epoch: LeaderEpoch,
        offsets: Result<(Offset, Offset), ErrorCode>,
        out: &mut Vec<Effect>,
    ) {
        if self.phase != Phase::Asking || leader_epoch != local.leader_epoch {
            return;
        }
        let Ok((leader_start, leader_end)) = offsets else {
            self.rest(local, now);
            return;
        };
        if leader_end < local.log.end {
            self.phase = Phase::Storing;
            local.truncate_to(leader_end, out);
        } else if leader_start > local.log.end {
            self.phase = Phase::Storing;
            out.push(Effect::TruncateFullyAndStartAt(leader_start));
        } else {
            // The leader's log moved between the two questions: the offset is inside now.
            self.phase = Phase::Fetching;
        }
    }

    fn diverged(&mut self, local: &Local, leader: EpochEnd, own: Option<EpochEnd>, out: &mut Vec<Effect>) {
        self.phase = Phase::Storing;
        local.truncate_to(truncation_point(leader, own, local.log.end).offset, out);
    }

    fn refused(&mut self, local: &Local, now: Millis, error: ErrorCode, out: &mut Vec<Effect>) {
        if error == ErrorCode::FencedLeaderEpoch {
            // The leader is in a newer epoch than this replica has heard of: that is for the controller to tell.
            self.phase = Phase::Halted;
            out.push(Effect::ReplicationHalted);
        } else if error == ErrorCode::OffsetOutOfRange {
            self.phase = Phase::Asking;
            out.push(Effect::QueryLeaderOffsets { leader_epoch: local.leader_epoch });
        } else if may_not_have_heard(error) {
            let backoff = Millis(FIRST_BACKOFF_MS << self.refusals.min(16)).min(local.settings.fetch_backoff);
            self.refusals += 1;
            self.phase = Phase::Resting(now.plus(backoff));
        } else {
            self.rest(local, now);
        }
    }

    fn rest(&mut self, local: &Local, now: Millis) {
        self.phase = Phase::Resting(now.plus(local.settings.fetch_backoff));
    }
}

/// Whether a leader says so that was elected but has not got its own command yet.
fn may_not_have_heard(error: ErrorCode) -> bool {
    matches!(
        error,
        ErrorCode::UnknownLeaderEpoch
            | ErrorCode::NotLeaderOrFollower
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
    )
}

/// Takes over what the leader knows: how far records are committed, as far as they are here, and from where on they
/// still exist.
fn learn(local: &mut Local, leader_high_watermark: Offset, leader_log_start: Offset, out: &mut Vec<Effect>) {
    local.raise_high_watermark(leader_high_watermark.min(local.log.end), out);
    let log_start = leader_log_start.min(local.high_watermark);
    if log_start > local.log.start {
        local.log.start = log_start;
        out.push(Effect::AdvanceLogStart(log_start));
    }
}
