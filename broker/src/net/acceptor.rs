//! An acceptor: one thread for each listener that hands new connections to the processors in turn.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustix::net::sockopt;
use tokio::runtime;
use tokio::sync::watch;

use super::limits::{Admission, ConnectionLimits, Place};
use super::mailbox::{Accepted, Mailbox};
use super::metrics::{NetMetrics, Rejected};
use super::request::ConnectionInfo;
use crate::config::BrokerConfig;

/// The pause after accepting failed, mostly for want of file descriptors.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(100);

/// What all acceptors share.
#[derive(Debug)]
pub(crate) struct AcceptorShared {
    pub(crate) config: Arc<ArcSwap<BrokerConfig>>,
    pub(crate) metrics: Arc<NetMetrics>,
    pub(crate) limits: Arc<ConnectionLimits>,
    /// The processors' mailboxes, as they are now.
    pub(crate) mailboxes: ArcSwap<Vec<Arc<Mailbox>>>,
    pub(crate) next_processor: AtomicUsize,
    pub(crate) next_connection: AtomicU64,
}

/// A running acceptor.
#[derive(Debug)]
pub(crate) struct Acceptor {
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Starts the thread; it ends when `stop` turns true.
    pub(crate) fn start(
        name: Arc<str>,
        listener: TcpListener,
        shared: Arc<AcceptorShared>,
        stop: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let thread = std::thread::Builder::new().name(format!("acceptor-{name}")).spawn(move || {
            let ended = runtime.block_on(run(&name, listener, &shared, stop));
            if let Err(error) = ended {
                tracing::error!(listener = %name, %error, "cannot watch a listener");
            }
        })?;
        Ok(Self { thread: Some(thread) })
    }

    /// Waits for the thread to end.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("an acceptor ended by a panic");
        }
    }
}

async fn run(
    name: &Arc<str>,
    listener: TcpListener,
    shared: &AcceptorShared,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::select! {
        // An error means that the sender is gone, which is a stop too.
        _ = stop.wait_for(|stop| *stop) => Ok(()),
        () = accept_all(name, &listener, shared) => Ok(()),
    }
}

async fn accept_all(name: &Arc<str>, listener: &tokio::net::TcpListener, shared: &AcceptorShared) {
    loop {
        let accepted = listener.accept().await;
        match accepted.and_then(|(stream, peer)| Ok((stream.into_std()?, peer))) {
            Ok((stream, peer)) => admit(name, stream, peer, shared).await,
            Err(error) => {
                shared.metrics.accept_errors.increment();
                tracing::warn!(listener = %name, %error, "cannot accept a connection");
                tokio::time::sleep(PAUSE_AFTER_ERROR).await;
            }
        }
    }
}

/// Holds a connection back while the broker is full, and closes it when its address has too many.
async fn admit(name: &Arc<str>, stream: TcpStream, peer: SocketAddr, shared: &AcceptorShared) {
    loop {
        match shared.limits.admit(peer.ip(), &shared.config.load()) {
            Admission::Admitted(place) => return hand_over(name, stream, peer, place, shared),
            Admission::BrokerFull => shared.limits.freed().await,
            Admission::AddressFull => {
                shared.metrics.reject(Rejected::Connection);
                tracing::warn!(%peer, "closed a connection: too many from its address");
                return;
            }
        }
    }
}

fn hand_over(name: &Arc<str>, stream: TcpStream, peer: SocketAddr, place: Place, shared: &AcceptorShared) {
    if let Err(error) = prepare(&stream, &shared.config.load()) {
        tracing::debug!(%peer, %error, "a connection ended before it began");
        return;
    }
    let id = shared.next_connection.fetch_add(1, Ordering::Relaxed);
    let info = Arc::new(ConnectionInfo { id, peer, listener: Arc::clone(name) });
    let mailboxes = shared.mailboxes.load();
    let turn = shared.next_processor.fetch_add(1, Ordering::Relaxed);
    let chosen = turn.checked_rem(mailboxes.len()).and_then(|index| mailboxes.get(index));
    if let Some(mailbox) = chosen {
        mailbox.accept(Accepted { stream, info, place });
    }
}

fn prepare(stream: &TcpStream, config: &BrokerConfig) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    if let Ok(bytes) = usize::try_from(config.socket_send_buffer_bytes) {
        sockopt::set_socket_send_buffer_size(stream, bytes)?;
    }
    if let Ok(bytes) = usize::try_from(config.socket_receive_buffer_bytes) {
        sockopt::set_socket_recv_buffer_size(stream, bytes)?;
    }
    Ok(())
}
