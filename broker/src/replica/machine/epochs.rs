//! Leader epochs: who is behind whom, and where two logs part.

use ottla_protocol::message::ErrorCode;

use crate::types::{LeaderEpoch, Offset};

/// An epoch and the offset after its last record in some log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochEnd {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// Its end offset, exclusive.
    pub end: Offset,
}

/// Where a follower cuts its log, and whether that settles the matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// The new log end offset.
    pub offset: Offset,
    /// Whether the logs agree now; otherwise the next fetch asks again with the epoch that is last then.
    pub is_complete: bool,
}

/// Compares the epoch a request carries with the current one (KIP-320): a request from the past is fenced, one from the
/// future has to wait until this broker has heard of it. Requests without an epoch pass.
pub(super) fn check(current: LeaderEpoch, requested: Option<LeaderEpoch>) -> Result<(), ErrorCode> {
    match requested {
        Some(requested) if requested < current => Err(ErrorCode::FencedLeaderEpoch),
        Some(requested) if requested > current => Err(ErrorCode::UnknownLeaderEpoch),
        _ => Ok(()),
    }
}

/// Decides where a follower cuts its log after the leader reported a divergence (KIP-101, KIP-279).
///
/// `leader` is the leader's largest epoch not above the follower's last, with its end there; `local` is the largest
/// epoch not above *that* in the follower's log, with its end here. When both know the epoch, the logs agree up to the
/// smaller end. When the follower does not know it, everything above its own largest smaller epoch goes, and it asks
/// again.
#[must_use]
pub fn truncation_point(leader: EpochEnd, local: Option<EpochEnd>, log_end: Offset) -> Truncation {
    match local {
        Some(local) if local.epoch == leader.epoch => {
            Truncation { offset: local.end.min(leader.end).min(log_end), is_complete: true }
        }
        Some(local) => Truncation { offset: local.end.min(log_end), is_complete: false },
        None => Truncation { offset: leader.end.min(log_end), is_complete: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(epoch: i32, end: i64) -> EpochEnd {
        EpochEnd { epoch: LeaderEpoch(epoch), end: Offset(end) }
    }

    #[test]
    fn a_request_is_compared_with_the_current_epoch() {
        let current = LeaderEpoch(5);
        for (requested, expected) in [
            (None, Ok(())),
            (Some(5), Ok(())),
            (Some(4), Err(ErrorCode::FencedLeaderEpoch)),
            (Some(6), Err(ErrorCode::UnknownLeaderEpoch)),
        ] {
            assert_eq!(check(current, requested.map(LeaderEpoch)), expected, "{requested:?}");
        }
    }

    #[test]
    fn truncation_follows_the_epochs() {
        for (name, leader, local, log_end, offset, is_complete) in [
            ("the leader's epoch ended earlier", end(1, 10), Some(end(1, 15)), 20, 10, true),
            ("the follower's epoch ended earlier", end(1, 15), Some(end(1, 10)), 20, 10, true),
            ("the follower does not know the epoch", end(3, 30), Some(end(2, 12)), 20, 12, false),
            ("the follower knows no epoch", end(3, 30), None, 20, 20, true),
            ("the follower knows no epoch and is ahead", end(3, 15), None, 20, 15, true),
        ] {
            let expected = Truncation { offset: Offset(offset), is_complete };
            assert_eq!(truncation_point(leader, local, Offset(log_end)), expected, "{name}");
        }
    }
}
