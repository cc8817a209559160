//! When sessions run out of time. As in the real server, sessions are kept in buckets of one tick, so that keeping a
//! session alive costs nothing most of the time, and a session ends at the first tick after its timeout.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::{Millis, SessionId};

/// The deadlines of all open sessions, on the clock that only goes forward.
#[derive(Clone, Debug)]
pub struct Expiry {
    tick_ms: Millis,
    buckets: BTreeMap<Millis, BTreeSet<SessionId>>,
    deadlines: BTreeMap<SessionId, Millis>,
}

impl Expiry {
    /// Returns a table without sessions.
    #[must_use]
    pub fn new(tick_ms: Millis) -> Self {
        Expiry { tick_ms: tick_ms.max(1), buckets: BTreeMap::new(), deadlines: BTreeMap::new() }
    }

    /// Gives a session its whole timeout from now on.
    pub fn touch(&mut self, id: SessionId, timeout_ms: Millis, now_ms: Millis) {
        let deadline = self.next_tick(now_ms.saturating_add(timeout_ms));
        if self.deadlines.get(&id) == Some(&deadline) {
            return;
        }
        self.remove(id);
        self.deadlines.insert(id, deadline);
        self.buckets.entry(deadline).or_default().insert(id);
    }

    /// Forgets a session.
    pub fn remove(&mut self, id: SessionId) {
        if let Some(deadline) = self.deadlines.remove(&id)
            && let Some(ids) = self.buckets.get_mut(&deadline)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.buckets.remove(&deadline);
            }
        }
    }

    /// Returns when the first session runs out.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.buckets.keys().next().copied()
    }

    /// Takes out and returns the sessions whose time is over, in order.
    pub fn take_expired(&mut self, now_ms: Millis) -> Vec<SessionId> {
        let mut expired = Vec::new();
        while let Some(bucket) = self.buckets.first_entry()
            && *bucket.key() <= now_ms
        {
            expired.extend(bucket.remove());
        }
        for id in &expired {
            self.deadlines.remove(id);
        }
        expired
    }

    /// Returns the sessions by deadline.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Millis, &BTreeSet<SessionId>)> {
        self.buckets.iter().map(|(deadline, ids)| (*deadline, ids))
    }

    /// The first tick strictly after a time.
    fn next_tick(&self, time_ms: Millis) -> Millis {
        time_ms.div_euclid(self.tick_ms).saturating_add(1).saturating_mul(self.tick_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId(1);
    const B: SessionId = SessionId(2);

    #[test]
    fn sessions_end_at_the_first_tick_after_their_timeout() {
        let mut expiry = Expiry::new(100);
        expiry.touch(A, 250, 0);
        expiry.touch(B, 300, 0);
        assert_eq!(expiry.next_deadline(), Some(300));
        assert!(expiry.take_expired(299).is_empty());
        assert_eq!(expiry.take_expired(300), [A]);
        assert_eq!(expiry.take_expired(1_000), [B]);
        assert_eq!(expiry.next_deadline(), None);
    }

    #[test]
    fn a_session_that_is_heard_from_lives_on() {
        let mut expiry = Expiry::new(100);
        expiry.touch(A, 250, 0);
        expiry.touch(A, 250, 10);
        expiry.touch(A, 250, 290);
        assert!(expiry.take_expired(500).is_empty());
        assert_eq!(expiry.take_expired(600), [A]);
        expiry.touch(A, 250, 600);
        expiry.remove(A);
        assert_eq!(expiry.next_deadline(), None);
    }

    #[test]
    fn a_shorter_timeout_brings_the_end_nearer() {
        let mut expiry = Expiry::new(100);
        expiry.touch(A, 5_000, 0);
        expiry.touch(A, 100, 0);
        assert_eq!(expiry.take_expired(200), [A]);
        assert_eq!(expiry.iter().len(), 0);
    }
}
