//! Who keeps a slot when all are taken.

use super::session::Session;
use crate::types::Millis;

/// A session that nobody used for so long gives way to any other; a younger one is not pushed out by its equals.
pub(super) const EVICTION_AGE: Millis = Millis(120_000);

/// A newcomer that wants a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newcomer {
    pub(super) is_follower: bool,
    pub(super) partitions: usize,
}

/// Whether `session` must make room for `newcomer`: when it was not used for long, or when the newcomer saves more.
/// Followers come before consumers, then larger sessions before smaller ones; a follower that just came stays.
pub(super) fn gives_way(session: &Session, newcomer: Newcomer, now: Millis) -> bool {
    if now.since(session.last_used) > EVICTION_AGE {
        return true;
    }
    let is_settled = now.since(session.created) > EVICTION_AGE;
    let is_evictable = if newcomer.is_follower { is_settled || !session.is_follower } else { is_settled };
    is_evictable && rank(session) < (newcomer.is_follower, newcomer.partitions)
}

/// The lowest rank goes first.
pub(super) fn rank(session: &Session) -> (bool, usize) {
    (session.is_follower, session.len())
}
