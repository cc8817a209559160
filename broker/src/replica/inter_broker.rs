//! Connections to other brokers, found by what the controller told.

use std::time::Duration;

use ottla_protocol::message::ErrorCode;

use super::manager::ReplicaManager;
use crate::client::{self, ConnectOptions, Connection};
use crate::types::BrokerId;

/// Why another broker could not be reached.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// It is not registered as alive, or has no listener for brokers.
    #[error("broker {0} is not known to be alive; waiting for the controller's next update")]
    Unknown(BrokerId),
    /// There is no controller that this broker has heard of.
    #[error("no controller is known yet")]
    NoController,
    /// It answered the whole request with an error.
    #[error("refused with {}", .0.name())]
    Refused(ErrorCode),
    /// It did not answer for every partition.
    #[error("not every partition was answered for")]
    Incomplete,
    /// The connection failed.
    #[error(transparent)]
    Client(#[from] client::Error),
}

/// How long a connection may take to be made: brokers are near.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to a live broker by the listener for brokers. `client_id` tells it who is calling.
pub(super) async fn connect(
    manager: &ReplicaManager,
    broker: BrokerId,
    client_id: String,
) -> Result<Connection, Error> {
    let snapshot = manager.metadata.load();
    let endpoint =
        snapshot.endpoint(broker, &manager.options.inter_broker_listener).ok_or(Error::Unknown(broker))?;
    let options = ConnectOptions {
        client_id,
        connect_timeout: CONNECT_TIMEOUT,
        request_timeout: manager.options.fetcher.socket_timeout,
        ..ConnectOptions::default()
    };
    let address = host_and_port(&endpoint.host, endpoint.port);
    Ok(Connection::connect(&address, options).await?)
}

/// IPv6 addresses stand in brackets.
fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
