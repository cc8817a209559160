//! What the machine knows of a connection.

use std::net::IpAddr;

use crate::tree::Identity;
use crate::types::{Millis, SessionId, Zxid};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has not said which session it wants.
    Accepted,
    /// It carries a session.
    Open {
        /// The session.
        session: SessionId,
        /// How long the session may be silent, as negotiated on this connection.
        timeout_ms: Millis,
    },
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// How far it has come.
    pub phase: Phase,
    /// Who it is; its address first.
    pub identities: Vec<Identity>,
    /// The newest transaction that anything sent to it depends on. Headers on one connection never go back.
    pub(super) seen: Zxid,
}

impl Connection {
    pub(super) fn new(peer: IpAddr) -> Self {
        let identities = vec![Identity::new("ip", &peer.to_canonical().to_string())];
        Connection { phase: Phase::Accepted, identities, seen: Zxid::ZERO }
    }

    /// Returns the session, once there is one.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        self.session_and_timeout().map(|(session, _)| session)
    }

    /// Returns the session and its negotiated timeout, once there is one.
    #[must_use]
    pub fn session_and_timeout(&self) -> Option<(SessionId, Millis)> {
        match self.phase {
            Phase::Open { session, timeout_ms } => Some((session, timeout_ms)),
            Phase::Accepted => None,
        }
    }
}
