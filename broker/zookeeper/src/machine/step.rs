//! The machine, its events and its effects.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;

use super::connection::{Connection, Phase};
use crate::session::{Expiry, Passwords};
use crate::state::{State, Transaction};
use crate::types::{ConnectionId, Millis, Now, SessionId, Zxid};
use crate::watch::Watches;

/// The settings that the machine needs.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the field of the same name in `Config`")]
pub struct Rules {
    pub tick_time_ms: Millis,
    pub min_session_timeout_ms: Millis,
    pub max_session_timeout_ms: Millis,
    pub container_check_interval_ms: Millis,
    pub super_digest: Option<String>,
}

/// What arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A connection was accepted.
    Connected {
        /// Its identity from now on.
        connection: ConnectionId,
        /// Where it comes from.
        peer: IpAddr,
    },
    /// A connection sent a frame.
    Frame {
        /// Which.
        connection: ConnectionId,
        /// The frame without its length.
        bytes: &'a [u8],
    },
    /// A connection is gone. Its session lives on until its timeout.
    Disconnected {
        /// Which.
        connection: ConnectionId,
    },
    /// Everything up to a transaction will survive.
    Durable {
        /// The transaction.
        zxid: Zxid,
    },
    /// Time passed.
    Tick {
        /// Whether the driver has been reading from its connections. While it has not, because too many requests wait
        /// for the disk, silence says nothing about a client.
        listening: bool,
    },
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Log a transaction.
    Append(Transaction),
    /// Answer a request.
    Reply {
        /// The connection that asked.
        to: ConnectionId,
        /// The frame, length included.
        frame: Bytes,
        /// What must be durable before.
        after: Zxid,
    },
    /// Send a watch event.
    Notify {
        /// The connection that watches.
        to: ConnectionId,
        /// The frame, length included.
        frame: Bytes,
        /// What must be durable before.
        after: Zxid,
    },
    /// Close a connection. The machine has forgotten it already.
    Close {
        /// Which.
        connection: ConnectionId,
        /// When.
        when: When,
    },
}

/// When to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At once; what was not sent is dropped.
    Now,
    /// When everything before was sent.
    AfterReplies,
}

/// The server.
#[derive(Debug)]
pub struct Machine {
    pub(super) rules: Rules,
    pub(super) state: State,
    pub(super) durable: Zxid,
    pub(super) watches: Watches,
    pub(super) expiry: Expiry,
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    pub(super) attached: BTreeMap<SessionId, ConnectionId>,
    pub(super) passwords: Passwords,
    pub(super) started_wall_ms: Millis,
    pub(super) next_container_check_ms: Option<Millis>,
}

impl Machine {
    /// Returns a server that continues from `state`, all of which is durable. Every session has its full timeout from
    /// now on. `secret` must be random; session passwords come from it.
    #[must_use]
    pub fn new(rules: Rules, state: State, secret: [u8; 32], now: Now) -> Self {
        let mut expiry = Expiry::new(rules.tick_time_ms);
        for (id, session) in state.sessions.iter() {
            expiry.touch(id, session.timeout_ms, now.monotonic_ms);
        }
        let mut machine = Machine {
            durable: state.last_zxid,
            rules,
            state,
            watches: Watches::default(),
            expiry,
            connections: BTreeMap::new(),
            attached: BTreeMap::new(),
            passwords: Passwords::new(secret),
            started_wall_ms: now.wall_ms,
            next_container_check_ms: None,
        };
        machine.plan_container_check(now);
        machine
    }

    /// Takes one event and appends what is to be done to `out`. Same state, same time, same event: same effects.
    pub fn step(&mut self, now: Now, event: Event<'_>, out: &mut Vec<Effect>) {
        match event {
            Event::Connected { connection, peer } => {
                self.connections.insert(connection, Connection::new(peer));
            }
            Event::Frame { connection, bytes } => match self.connections.get(&connection).map(|c| c.phase) {
                Some(Phase::Accepted) => self.handshake(now, connection, bytes, out),
                Some(Phase::Open { session, timeout_ms }) => {
                    self.expiry.touch(session, timeout_ms, now.monotonic_ms);
                    self.request(now, connection, session, bytes, out);
                }
                None => {}
            },
            Event::Disconnected { connection } => self.forget(connection),
            Event::Durable { zxid } => self.durable = self.durable.max(zxid),
            Event::Tick { listening } => self.tick(now, listening, out),
        }
        self.plan_container_check(now);
    }

    /// Returns when the driver owes the next [`Event::Tick`].
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        match (self.expiry.next_deadline(), self.next_container_check_ms) {
            (Some(session), Some(container)) => Some(session.min(container)),
            (session, container) => session.or(container),
        }
    }

    /// Forgets a connection; its session, if it is still attached to it, goes on without one.
    pub(super) fn forget(&mut self, connection: ConnectionId) {
        if let Some(Connection { phase: Phase::Open { session, .. }, .. }) =
            self.connections.remove(&connection)
            && self.attached.get(&session) == Some(&connection)
        {
            self.attached.remove(&session);
        }
        self.watches.remove_connection(connection);
    }

    /// Forgets a connection and has the driver close it.
    pub(super) fn close(&mut self, connection: ConnectionId, when: When, out: &mut Vec<Effect>) {
        self.forget(connection);
        out.push(Effect::Close { connection, when });
    }

    /// Returns what outlives the process.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the watches of all connections.
    #[must_use]
    pub fn watches(&self) -> &Watches {
        &self.watches
    }

    /// Returns the deadlines of all sessions.
    #[must_use]
    pub fn expiry(&self) -> &Expiry {
        &self.expiry
    }

    /// Returns what is known of a connection.
    #[must_use]
    pub fn connection(&self, connection: ConnectionId) -> Option<&Connection> {
        self.connections.get(&connection)
    }

    /// Returns the last transaction that is durable.
    #[must_use]
    pub fn durable(&self) -> Zxid {
        self.durable
    }
}
