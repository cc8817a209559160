//! What can be set.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::types::Millis;

/// Where a server keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: it is gone when the server stops.
    Memory,
    /// In a directory of its own, which is created when absent.
    Directory(PathBuf),
}

/// The settings of a server. ZooKeeper's own name of each setting stands in brackets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Where the state is kept (`dataDir`).
    pub storage: Storage,
    /// Where to listen (`clientPortAddress`, `clientPort`); port 0 takes a free one.
    pub address: SocketAddr,
    /// The unit of session expiry (`tickTime`).
    pub tick_time_ms: Millis,
    /// The shortest session timeout a client gets (`minSessionTimeout`).
    pub min_session_timeout_ms: Millis,
    /// The longest session timeout a client gets (`maxSessionTimeout`).
    pub max_session_timeout_ms: Millis,
    /// Connections in all (`maxCnxns`).
    pub max_connections: usize,
    /// Connections from one address (`maxClientCnxns`).
    pub max_connections_per_address: usize,
    /// The longest request (`jute.maxbuffer`), in bytes.
    pub max_frame_bytes: usize,
    /// Requests that wait for their reply, over all connections, before reading stops (`globalOutstandingLimit`).
    pub max_outstanding_requests: usize,
    /// Bytes that may wait for a client that does not read, before its connection is closed.
    pub max_unsent_bytes: usize,
    /// Bytes of half requests and of replies and events not sent, over all connections; the connection that goes
    /// beyond it is closed.
    pub max_buffered_bytes: usize,
    /// Transactions between two snapshots (`snapCount`).
    pub snapshot_count: u64,
    /// Whether a write is acknowledged only when the disk has it (`forceSync`).
    pub force_sync: bool,
    /// The digest of the super user, `super:<base64 of SHA-1>` (`DigestAuthenticationProvider.superDigest`).
    pub super_digest: Option<String>,
    /// The four-letter words that are answered (`4lw.commands.whitelist`).
    pub four_letter_words: Vec<String>,
    /// How often empty containers and expired TTL nodes are looked for (`znode.container.checkIntervalMs`).
    pub container_check_interval_ms: Millis,
}
