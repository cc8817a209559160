//! The handle through which a program owns a running server.

use std::future::Future;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::builder::Builder;
use super::error::Error;
use super::running::Prepared;
use crate::config::Config;

/// A running server. It stops when dropped; [`Server::stop`] also tells how it ended.
#[derive(Debug)]
pub struct Server {
    local_addr: SocketAddr,
    shutdown: Option<oneshot::Sender<()>>,
    ended: oneshot::Receiver<()>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Server {
    /// Returns a builder with ZooKeeper's defaults; it still needs to be told where to keep the state.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Starts a server from complete settings: recovers its state, listens, and serves on a thread of its own.
    ///
    /// # Errors
    /// When the address cannot be listened on or the data directory cannot be used.
    pub fn start(config: Config) -> Result<Server, Error> {
        let prepared = Prepared::new(config)?;
        let local_addr = prepared.local_address();
        let (shutdown, shutdown_asked) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("zookeeper".to_owned())
            .spawn(move || {
                let result = prepared.serve(shutdown_asked);
                drop(end);
                result
            })
            .map_err(|source| Error::System { operation: "start the server's thread", source })?;
        Ok(Server { local_addr, shutdown: Some(shutdown), ended, thread: Some(thread) })
    }

    /// Returns the address that the server listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Stops the server: closes its connections and brings the log to the disk. Sessions stay open and continue
    /// when a server is started on the same directory.
    ///
    /// # Errors
    /// What ended the server if it had ended by itself before.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    /// Blocks the calling thread until `shutdown` is ready or the server ends by itself, then stops it. The future
    /// is polled on a runtime of its own, so it may wait for signals.
    ///
    /// # Errors
    /// What ended the server, if it was not `shutdown`.
    ///
    /// # Panics
    /// When called from within an asynchronous task; await the future there and call [`Server::stop`].
    pub fn run_until(mut self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| Error::System { operation: "start an event loop", source })?;
        runtime.block_on(async {
            tokio::select! {
                () = shutdown => {}
                _ = &mut self.ended => {}
            }
        });
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some(shutdown) = self.shutdown.take() {
            // The server may have ended by itself; then nobody listens, and its result says why.
            let _already_ended = shutdown.send(());
        }
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(Error::Panicked)),
            None => Ok(()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::error!(%error, "zookeeper server ended");
        }
    }
}
