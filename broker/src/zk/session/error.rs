//! What can go wrong with ZooKeeper.

use thiserror::Error;

use super::connect_string::ConnectStringError;
use crate::types::BrokerId;
use crate::zk::layout::LayoutError;

/// An operation that failed for good; a broken connection alone is never one.
#[derive(Debug, Error)]
pub enum Error {
    /// No server answered in time.
    #[error(
        "ZooKeeper at {connect} does not answer: {reason} (tried for {waited_ms} ms); start it, or correct \
         zookeeper.connect"
    )]
    Unreachable {
        /// The configured address.
        connect: String,
        /// How long it was tried.
        waited_ms: u128,
        /// What the last attempt met.
        reason: String,
    },
    /// The configured address cannot be read.
    #[error(transparent)]
    ConnectString(#[from] ConnectStringError),
    /// The session is gone, and its ephemeral nodes with it.
    #[error("the ZooKeeper session expired")]
    SessionExpired,
    /// The broker closed its session.
    #[error("the ZooKeeper session is closed")]
    Closed,
    /// The node is there already; perhaps by an earlier attempt of the same request.
    #[error("create {path}: the node exists")]
    NodeExists {
        /// The node's path.
        path: String,
    },
    /// The node, or its parent, is not there.
    #[error("{operation} {path}: no such node")]
    NoNode {
        /// What was tried.
        operation: &'static str,
        /// The node's path.
        path: String,
    },
    /// The node was changed by somebody else.
    #[error("{operation} {path}: the node's version is another")]
    BadVersion {
        /// What was tried.
        operation: &'static str,
        /// The node's path.
        path: String,
    },
    /// Anything else that the client reports.
    #[error("{operation} {path}: {source}")]
    Client {
        /// What was tried.
        operation: &'static str,
        /// The node's path.
        path: String,
        /// The client's report.
        source: zookeeper_client::Error,
    },
    /// A node holds what it cannot.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Another process is registered under this broker's id.
    #[error(
        "broker id {broker} is in use by the process at {address} (ZooKeeper session {session:#x}); stop it, or give \
         this broker another broker.id"
    )]
    BrokerIdInUse {
        /// The id.
        broker: BrokerId,
        /// What the other registration advertises.
        address: String,
        /// The session that owns the other registration.
        session: i64,
    },
    /// Another broker advertises the same address.
    #[error("broker {other} already advertises {address}; give broker {broker} another listener")]
    EndpointInUse {
        /// The broker that starts.
        broker: BrokerId,
        /// The broker that has the address.
        other: BrokerId,
        /// The address.
        address: String,
    },
}

impl Error {
    /// Sorts what the client reports about `operation` on `path`.
    pub(super) fn from_client(operation: &'static str, path: &str, source: zookeeper_client::Error) -> Self {
        use zookeeper_client::Error as Client;
        let path = path.to_owned();
        match source {
            Client::NodeExists => Self::NodeExists { path },
            Client::NoNode => Self::NoNode { operation, path },
            Client::BadVersion => Self::BadVersion { operation, path },
            Client::SessionExpired | Client::SessionMoved => Self::SessionExpired,
            Client::ClientClosed => Self::Closed,
            source => Self::Client { operation, path, source },
        }
    }
}

/// Says whether the request may be sent again: the connection broke before an answer came.
pub(super) fn is_connection_loss(error: &zookeeper_client::Error) -> bool {
    use zookeeper_client::Error as Client;
    // The client wraps the socket's own errors as custom ones.
    matches!(error, Client::ConnectionLoss | Client::Custom(_) | Client::Throttled)
}
