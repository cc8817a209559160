//! Opens the session, and a new one when it expired.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{Semaphore, watch};
use zookeeper_client::{Client, SessionState, StateWatcher};

use super::connect_string::ConnectString;
use super::events::{Phase, Status};
use super::operations::SessionIdentity;
use super::relay::Relay;
use super::{Error, Handle, Subscription, acl};

/// Between two attempts to reach a server.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(50);
/// Between two attempts to open a new session, when the servers have been away for a while.
const RENEWAL_PAUSE: Duration = Duration::from_millis(500);

/// How to reach ZooKeeper.
#[derive(Debug, Clone)]
pub struct ZkOptions {
    /// `zookeeper.connect`.
    pub connect: ConnectString,
    /// `zookeeper.session.timeout.ms`: what is asked for; the server may grant another.
    pub session_timeout: Duration,
    /// `zookeeper.connection.timeout.ms`: how long the first connection may take.
    pub connection_timeout: Duration,
    /// `zookeeper.max.in.flight.requests`.
    pub max_in_flight: usize,
    /// `zookeeper.set.acl`.
    pub set_acl: bool,
}

/// A session with ZooKeeper that is opened anew whenever it expires. Cheap to clone.
#[derive(Clone)]
pub struct Zk {
    shared: Arc<Shared>,
}

struct Shared {
    options: ZkOptions,
    relay: Relay,
    current: ArcSwap<Handle>,
    status: watch::Sender<Status>,
    /// The ids of the sessions that this process had before, oldest first.
    previous: ArcSwap<Vec<i64>>,
    in_flight: Arc<Semaphore>,
    closing: watch::Sender<bool>,
}

impl fmt::Debug for Zk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zk")
            .field("connect", &self.shared.options.connect.to_string())
            .field("status", &*self.shared.status.borrow())
            .finish()
    }
}

impl ZkOptions {
    /// Returns Kafka's defaults for a server at `connect`.
    #[must_use]
    pub fn new(connect: ConnectString) -> Self {
        Self {
            connect,
            session_timeout: Duration::from_secs(18),
            connection_timeout: Duration::from_secs(18),
            max_in_flight: 10,
            set_acl: false,
        }
    }
}

impl Zk {
    /// Opens a session, creates the chroot when it is missing, and keeps a session from then on.
    ///
    /// Runs on the caller's tokio runtime, and so does the task that keeps the session.
    ///
    /// # Errors
    /// When no server answers within the connection timeout, or the chroot cannot be made.
    pub async fn connect(options: ZkOptions) -> Result<Self, Error> {
        let started = Instant::now();
        let unreachable = |reason: String| Error::Unreachable {
            connect: options.connect.to_string(),
            waited_ms: started.elapsed().as_millis(),
            reason,
        };
        let connect_timeout = options.connection_timeout.min(Duration::from_secs(10));
        let relay = Relay::start(&options.connect.servers, connect_timeout);
        let relay =
            relay.await.map_err(|error| unreachable(format!("open a socket on loopback: {error}")))?;
        let in_flight = Arc::new(Semaphore::new(options.max_in_flight.max(1)));
        let deadline = tokio::time::Instant::now() + options.connection_timeout;
        let mut last = None;
        let (client, watcher) = loop {
            match tokio::time::timeout_at(deadline, open(&relay, &options)).await {
                Ok(Ok(opened)) => break opened,
                Ok(Err(Error::Client { source, .. })) => {
                    last = relay.last_error().or_else(|| Some(source.to_string()));
                }
                Ok(Err(error)) => return Err(error),
                Err(_elapsed) => {
                    let reason = relay.last_error().or(last).unwrap_or_else(|| "no answer".to_owned());
                    return Err(unreachable(reason));
                }
            }
            tokio::time::sleep(ATTEMPT_PAUSE).await;
        };
        let handle = handle(client, &relay, 1, &in_flight, &options);
        let shared = Shared {
            current: ArcSwap::from_pointee(handle),
            status: watch::Sender::new(Status { generation: 1, phase: Phase::Connected }),
            previous: ArcSwap::default(),
            closing: watch::Sender::new(false),
            options,
            relay,
            in_flight,
        };
        let shared = Arc::new(shared);
        tokio::spawn(keep(Arc::clone(&shared), watcher));
        Ok(Self { shared })
    }

    /// Returns the current session; while there is none, the one that expired.
    #[must_use]
    pub fn session(&self) -> Handle {
        Handle::clone(&self.shared.current.load())
    }

    /// Hears of changes from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        Subscription::new(self.shared.status.subscribe())
    }

    /// Says whether the connection stands.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.shared.status.borrow().phase == Phase::Connected
    }

    /// Says whether `session` is one that this process had and lost.
    #[must_use]
    pub fn had_session(&self, session: i64) -> bool {
        self.shared.previous.load().contains(&session)
    }

    /// Returns the configured address.
    #[must_use]
    pub fn connect_string(&self) -> &ConnectString {
        &self.shared.options.connect
    }

    /// Closes the session, so that its ephemeral nodes go at once; every later operation fails with
    /// [`Error::Closed`].
    pub async fn close(&self) {
        let generation = self.shared.status.borrow().generation;
        self.shared.closing.send_replace(true);
        let client = self.shared.current.load().client.swap(None);
        let watcher = client.as_deref().map(Client::state_watcher);
        drop(client);
        self.shared.status.send_replace(Status { generation, phase: Phase::Closed });
        if let Some(watcher) = watcher {
            // The last operation in flight holds the client; the server's answer to the close ends the wait.
            let _ = tokio::time::timeout(Duration::from_secs(2), terminated(watcher)).await;
        }
    }
}

async fn terminated(mut watcher: StateWatcher) {
    let mut state = watcher.peek_state();
    while !state.is_terminated() {
        state = watcher.changed().await;
    }
}

/// Opens one session, trying each server once, and makes sure of the chroot.
async fn open(relay: &Relay, options: &ZkOptions) -> Result<(Client, StateWatcher), Error> {
    let connector = Client::connector().with_session_timeout(options.session_timeout).with_fail_eagerly();
    let connect = relay.connect_string();
    let client = connector.connect(&connect).await.map_err(|source| Error::Client {
        operation: "connect to",
        path: options.connect.to_string(),
        source,
    })?;
    let watcher = client.state_watcher();
    Ok((with_chroot(client, options).await?, watcher))
}

/// Makes sure of the chroot, and looks at nothing but what is below it.
async fn with_chroot(client: Client, options: &ZkOptions) -> Result<Client, Error> {
    let chroot = options.connect.chroot.as_str();
    if chroot.is_empty() {
        return Ok(client);
    }
    let mode = zookeeper_client::CreateMode::Persistent.with_acls(acl::for_path(chroot, options.set_acl));
    client.mkdir(chroot, &mode).await.map_err(|error| Error::from_client("create chroot", chroot, error))?;
    client.chroot(chroot).map_err(|_client| {
        Error::from_client("enter chroot", chroot, zookeeper_client::Error::BadArguments(&"not a path"))
    })
}

fn handle(
    client: Client,
    relay: &Relay,
    generation: u64,
    in_flight: &Arc<Semaphore>,
    options: &ZkOptions,
) -> Handle {
    let session = client.session_id();
    let password = relay.password(session).unwrap_or_default();
    Handle {
        identity: Arc::new(SessionIdentity { session_id: session.0, password }),
        timeout: client.session_timeout(),
        client: Arc::new(ArcSwapOption::from_pointee(client)),
        generation,
        in_flight: Arc::clone(in_flight),
        restricted: options.set_acl,
    }
}

/// Watches the session and opens the next one, until it is closed.
async fn keep(shared: Arc<Shared>, mut watcher: StateWatcher) {
    let mut closing = shared.closing.subscribe();
    loop {
        let state = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return,
            state = watcher.changed() => state,
        };
        let generation = shared.status.borrow().generation;
        match state {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                tracing::info!("connected to ZooKeeper again");
                tell(&shared, generation, Phase::Connected);
            }
            SessionState::Disconnected => {
                tracing::warn!("lost the connection to ZooKeeper");
                tell(&shared, generation, Phase::Disconnected);
            }
            SessionState::Expired | SessionState::AuthFailed | SessionState::Closed => {
                tracing::warn!(
                    session = format_args!("{:#x}", shared.current.load().identity.session_id),
                    "the \
                    ZooKeeper session expired"
                );
                remember_previous(&shared);
                tell(&shared, generation, Phase::Expired);
                let renewed = tokio::select! {
                    _ = closing.wait_for(|closing| *closing) => return,
                    renewed = renew(&shared, generation + 1) => renewed,
                };
                watcher = renewed;
                tell(&shared, generation + 1, Phase::Connected);
            }
        }
    }
}

fn tell(shared: &Shared, generation: u64, phase: Phase) {
    shared.status.send_if_modified(|status| {
        // A close that happened meanwhile is the last word.
        if status.phase == Phase::Closed {
            return false;
        }
        *status = Status { generation, phase };
        true
    });
}

fn remember_previous(shared: &Shared) {
    let lost = shared.current.load();
    let mut previous = Vec::clone(&shared.previous.load());
    previous.push(lost.identity.session_id);
    shared.previous.store(Arc::new(previous));
}

/// Opens a new session, however long the servers are away.
async fn renew(shared: &Shared, generation: u64) -> StateWatcher {
    let mut pause = ATTEMPT_PAUSE;
    loop {
        match open(&shared.relay, &shared.options).await {
            Ok((client, watcher)) => {
                let next = handle(client, &shared.relay, generation, &shared.in_flight, &shared.options);
                let session = next.identity.session_id;
                tracing::info!(session = format_args!("{session:#x}"), "opened a new ZooKeeper session");
                shared.current.store(Arc::new(next));
                return watcher;
            }
            Err(error) => tracing::debug!(%error, "ZooKeeper is still away"),
        }
        tokio::time::sleep(pause).await;
        pause = RENEWAL_PAUSE.min(pause * 2);
    }
}
