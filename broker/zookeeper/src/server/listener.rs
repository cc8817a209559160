//! Accepts connections.

use std::net::TcpListener;

use crate::config::Config;
use crate::error::Error;

pub(super) async fn accept(config: &Config, listener: TcpListener) -> Result<(), Error> {
    let address = config.address;
    let listener =
        tokio::net::TcpListener::from_std(listener).map_err(|source| Error::Listen { address, source })?;
    loop {
        let (connection, _peer) = listener.accept().await.map_err(|source| Error::Listen { address, source })?;
        drop(connection);
    }
}
