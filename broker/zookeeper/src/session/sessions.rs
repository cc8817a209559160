//! The sessions that are open.

use std::collections::BTreeMap;

use crate::jute::Password;
use crate::types::{Millis, SessionId};

/// An open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// What its client must know to continue it on another connection.
    pub password: Password,
    /// How long it may be silent.
    pub timeout_ms: Millis,
}

/// All open sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sessions {
    open: BTreeMap<SessionId, Session>,
    newest: Option<SessionId>,
}

impl Sessions {
    /// Returns a session that is open.
    #[must_use]
    pub fn get(&self, id: SessionId) -> Option<&Session> {
        self.open.get(&id)
    }

    /// Returns the session if `password` is its password.
    #[must_use]
    pub fn authenticate(&self, id: SessionId, password: &[u8]) -> Option<&Session> {
        self.get(id).filter(|session| equal_in_constant_time(&session.password.0, password))
    }

    /// Returns the open sessions in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SessionId, &Session)> {
        self.open.iter().map(|(id, session)| (*id, session))
    }

    /// Returns the identity for the next session: above every session of this store, and above what a server could
    /// have given out that started at an earlier time. The layout is the real one's, the time of the start in the
    /// upper bytes, so that the sessions of different runs in memory differ too.
    #[must_use]
    pub fn next_id(&self, started_wall_ms: Millis) -> SessionId {
        const ONE_SERVER: i64 = 1 << 56;
        const TIME_MASK: i64 = (1 << 40) - 1;
        let base = ONE_SERVER | (started_wall_ms & TIME_MASK) << 16;
        let after_newest = self.newest.map_or(base, |newest| newest.0.wrapping_add(1));
        SessionId(base.max(after_newest))
    }

    /// Returns the newest identity that was ever given out.
    #[must_use]
    pub fn newest(&self) -> Option<SessionId> {
        self.newest
    }

    /// Remembers that identities up to `newest` were given out.
    pub fn restore_newest(&mut self, newest: Option<SessionId>) {
        self.newest = self.newest.max(newest);
    }

    /// Opens a session.
    pub fn open(&mut self, id: SessionId, session: Session) {
        self.newest = self.newest.max(Some(id));
        self.open.insert(id, session);
    }

    /// Closes a session and tells whether it was open.
    pub fn close(&mut self, id: SessionId) -> bool {
        self.open.remove(&id).is_some()
    }
}

/// Takes the same time wherever the two differ.
fn equal_in_constant_time(known: &[u8], given: &[u8]) -> bool {
    known.len() == given.len()
        && known.iter().zip(given).fold(0, |difference, (known, given)| difference | (known ^ given)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session { password: Password([7; 16]), timeout_ms: 1_000 }
    }

    #[test]
    fn identities_only_grow() {
        let mut sessions = Sessions::default();
        let first = sessions.next_id(1_796_132_871_000);
        assert_eq!(first.0 >> 56, 1);
        sessions.open(first, session());
        let second = sessions.next_id(1_796_132_871_000);
        assert_eq!(second.0, first.0 + 1);
        assert!(sessions.close(first) && !sessions.close(first));
        assert_eq!(sessions.next_id(0), second, "not even when the clock was set back");
    }

    #[test]
    fn only_the_whole_password_opens_a_session() {
        let mut sessions = Sessions::default();
        sessions.open(SessionId(1), session());
        assert!(sessions.authenticate(SessionId(1), &[7; 16]).is_some());
        for wrong in [&[7; 15][..], &[7; 17], &[], &[8; 16]] {
            assert!(sessions.authenticate(SessionId(1), wrong).is_none());
        }
        assert!(sessions.authenticate(SessionId(2), &[7; 16]).is_none());
    }
}
