//! What the driver lays out for the reports: everything is read, nothing can be changed through it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::statistics::{ConnectionStatistics, Statistics};
use crate::config::Config;
use crate::machine::Machine;
use crate::types::{ConnectionId, Millis, Now};

/// The server at one moment.
#[derive(Debug)]
pub(crate) struct Figures<'a> {
    pub(crate) now: Now,
    pub(crate) config: &'a Config,
    pub(crate) local_address: SocketAddr,
    pub(crate) machine: &'a Machine,
    pub(crate) statistics: &'a Statistics,
    pub(crate) connections: BTreeMap<ConnectionId, ConnectionFigures<'a>>,
    pub(crate) outstanding: usize,
    /// How long a connection may take until it has a session.
    pub(crate) sessionless_max_ms: Millis,
    pub(crate) log_bytes: u64,
    pub(crate) snapshot_bytes: u64,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct ConnectionFigures<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) statistics: &'a ConnectionStatistics,
    pub(crate) outstanding: usize,
}

/// What a word is answered, and what it resets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) reset: Option<Reset>,
}

/// Counters that a word sets to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// Those of the server.
    Server,
    /// Those of every connection.
    Connections,
}
