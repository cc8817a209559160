//! One server from its recovered state to its end, on its own thread.

use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::committer::{self, Sink};
use super::driver::{Clock, Driver};
use super::error::Error;
use super::{listener, ticker};
use crate::config::{Config, Storage};
use crate::machine::{Machine, Rules};
use crate::state::State;
use crate::store::{AppendError, Directory, Journal, Options, Recovery};

/// Everything that can fail before a server serves.
#[derive(Debug)]
pub(super) struct Prepared {
    config: Config,
    listener: TcpListener,
    local_address: SocketAddr,
    state: State,
    journal: Option<Journal>,
    secret: [u8; 32],
}

impl Prepared {
    /// Recovers first and listens last, so that a client that can connect is served.
    pub(super) fn new(config: Config) -> Result<Self, Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)
            .map_err(|error| Error::System { operation: "get random bytes", source: error.into() })?;
        let (state, journal) = match &config.storage {
            Storage::Memory => (State::default(), None),
            Storage::Directory(path) => {
                let (state, journal) = open(path, &config)?;
                (state, Some(journal))
            }
        };
        let address = config.address;
        let bound = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(bound)?;
        listener.set_nonblocking(true).map_err(bound)?;
        let local_address = listener.local_addr().map_err(bound)?;
        Ok(Prepared { config, listener, local_address, state, journal, secret })
    }

    pub(super) fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// Serves until `shutdown` or until the log breaks.
    pub(super) fn serve(self, shutdown: oneshot::Receiver<()>) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| Error::System { operation: "start an event loop", source })?;
        LocalSet::new().block_on(&runtime, self.run(shutdown))
    }

    async fn run(self, shutdown: oneshot::Receiver<()>) -> Result<(), Error> {
        let address = self.local_address;
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(|source| Error::Listen { address, source })?;
        let clock = Clock::start();
        let machine = Machine::new(rules(&self.config), self.state, self.secret, clock.now());
        let force_sync = self.config.force_sync;
        let sink = self.journal.map(|journal| Sink::new(journal, force_sync)).transpose()?;
        let driver = Driver::new(self.config, address, machine, clock, sink.is_some());
        let driver = Rc::new(RefCell::new(driver));
        let sink = sink.map(RefCell::new);
        tracing::info!(%address, "serving");
        let broken = tokio::select! {
            result = commit(sink.as_ref(), &driver) => result,
            () = listener::accept(listener, Rc::clone(&driver)) => Ok(()),
            () = ticker::tick(Rc::clone(&driver)) => Ok(()),
            _ = shutdown => Ok(()),
        };
        let finished = sink.map_or(Ok(()), |sink| sink.into_inner().finish());
        broken.and(finished).map_err(Error::Log)
    }
}

async fn commit(sink: Option<&RefCell<Sink>>, driver: &Rc<RefCell<Driver>>) -> Result<(), AppendError> {
    match sink {
        Some(sink) => committer::commit(sink, driver).await,
        None => std::future::pending().await,
    }
}

fn rules(config: &Config) -> Rules {
    Rules {
        tick_time_ms: config.tick_time_ms,
        min_session_timeout_ms: config.min_session_timeout_ms,
        max_session_timeout_ms: config.max_session_timeout_ms,
        container_check_interval_ms: config.container_check_interval_ms,
        super_digest: config.super_digest.clone(),
    }
}

fn open(path: &Path, config: &Config) -> Result<(State, Journal), Error> {
    let mut salt = [0; 8];
    getrandom::fill(&mut salt)
        .map_err(|error| Error::System { operation: "get random bytes", source: error.into() })?;
    let options = Options {
        snapshot_count: config.snapshot_count,
        force_sync: config.force_sync,
        salt: u64::from_be_bytes(salt),
    };
    let directory = Directory::open(path)?;
    let (recovered, journal) = Journal::open(Arc::new(directory), options)?;
    report(path, &recovered.recovery, &recovered.state);
    Ok((recovered.state, journal))
}

fn report(path: &Path, recovery: &Recovery, state: &State) {
    for snapshot in &recovery.skipped_snapshots {
        tracing::warn!("{snapshot}; an older snapshot and the logs after it make up for it");
    }
    if recovery.cut_bytes > 0 {
        let bytes = recovery.cut_bytes;
        tracing::warn!(bytes, "cut an unfinished batch off the transaction log; it was never acknowledged");
    }
    tracing::info!(
        directory = %path.display(),
        zxid = %state.last_zxid,
        nodes = state.tree.node_count(),
        sessions = state.sessions.iter().len(),
        replayed = recovery.replayed,
        "recovered"
    );
}
