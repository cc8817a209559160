//! Reads and writes within one session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::{Semaphore, SemaphorePermit};
use zookeeper_client::Client;

use super::{Error, Stat, acl};

/// How long to wait before a request is sent again; the client holds it back anyway until it is connected.
pub(super) const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Sends a request until it is answered over an unbroken connection. A macro, because a closure that lends the client to
/// the future it returns cannot promise that the future may change threads.
macro_rules! retry {
    ($handle:expr, $name:literal, $path:expr, |$client:ident| $call:expr) => {{
        let _permit = $handle.permit().await?;
        loop {
            let $client = $handle.client()?;
            match $call.await {
                Ok(value) => break Ok(value),
                Err(error) if $crate::zk::session::error::is_connection_loss(&error) => {
                    tokio::time::sleep($crate::zk::session::operations::RETRY_PAUSE).await;
                }
                Err(error) => break Err(Error::from_client($name, $path, error)),
            }
        }
    }};
}
pub(super) use retry;

/// What kind of node to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Stays until it is deleted; ten digits are added to its name.
    PersistentSequential,
    /// Goes with the session.
    Ephemeral,
}

/// What another process needs to take the session over or close it.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionIdentity {
    /// The session's id.
    pub session_id: i64,
    /// The session's password.
    pub password: Vec<u8>,
}

impl fmt::Debug for SessionIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionIdentity")
            .field("session_id", &format_args!("{:#x}", self.session_id))
            .finish()
    }
}

/// Reads and writes within one session; what it starts never happens in another one.
///
/// Cheap to clone. A request whose connection broke is sent again until it is answered or the session is over.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Emptied when the session is closed: the client closes the session when the last reference goes.
    pub(super) client: Arc<ArcSwapOption<Client>>,
    pub(super) identity: Arc<SessionIdentity>,
    pub(super) generation: u64,
    /// `zookeeper.max.in.flight.requests`: what bounds the client's own queue, which has no bound.
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) restricted: bool,
    pub(super) timeout: Duration,
}

impl CreateMode {
    pub(super) fn of_client(self) -> zookeeper_client::CreateMode {
        match self {
            Self::Persistent => zookeeper_client::CreateMode::Persistent,
            Self::PersistentSequential => zookeeper_client::CreateMode::PersistentSequential,
            Self::Ephemeral => zookeeper_client::CreateMode::Ephemeral,
        }
    }
}

impl Handle {
    /// Returns the session's id and password.
    #[must_use]
    pub fn identity(&self) -> &SessionIdentity {
        &self.identity
    }

    /// Returns the session's number among those of this process.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the timeout that the server granted.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Reads a node; nothing when it does not exist.
    ///
    /// # Errors
    /// When the session is over or the node may not be read.
    pub async fn get(&self, path: &str) -> Result<Option<(Vec<u8>, Stat)>, Error> {
        optional(retry!(self, "read", path, |client| client.get_data(path)))
    }

    /// Returns a node's stat; nothing when it does not exist.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn stat(&self, path: &str) -> Result<Option<Stat>, Error> {
        retry!(self, "check", path, |client| client.check_stat(path))
    }

    /// Lists a node's children.
    ///
    /// # Errors
    /// When the node does not exist or the session is over.
    pub async fn children(&self, path: &str) -> Result<Vec<String>, Error> {
        retry!(self, "list", path, |client| client.list_children(path))
    }

    /// Creates a node and returns its path, with the digits when it is sequential.
    ///
    /// # Errors
    /// When the node exists (perhaps by an earlier attempt of the same call), its parent does not, or the session is
    /// over.
    pub async fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Result<String, Error> {
        let options = mode.of_client().with_acls(acl::for_path(path, self.restricted));
        let (_, sequence) = retry!(self, "create", path, |client| client.create(path, data, &options))?;
        Ok(match mode {
            CreateMode::PersistentSequential => format!("{path}{sequence}"),
            CreateMode::Persistent | CreateMode::Ephemeral => path.to_owned(),
        })
    }

    /// Makes sure that a persistent node and its parents exist, each empty when it was missing.
    ///
    /// # Errors
    /// When the session is over or a node may not be created.
    pub async fn ensure(&self, path: &str) -> Result<(), Error> {
        for (slash, _) in path.match_indices('/').skip(1).chain(std::iter::once((path.len(), ""))) {
            let part = path.get(..slash).unwrap_or(path);
            match self.create(part, b"", CreateMode::Persistent).await {
                Ok(_) | Err(Error::NodeExists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Creates a persistent node, and its missing parents empty.
    ///
    /// # Errors
    /// When the node exists, or the session is over.
    pub async fn create_recursive(&self, path: &str, data: &[u8]) -> Result<(), Error> {
        match self.create(path, data, CreateMode::Persistent).await {
            Err(Error::NoNode { .. }) => {}
            other => return other.map(drop),
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.ensure(parent).await?;
        }
        self.create(path, data, CreateMode::Persistent).await.map(drop)
    }

    /// Writes a node's data, whatever its version when `version` is none.
    ///
    /// # Errors
    /// When the node does not exist or has another version (perhaps by an earlier attempt of the same call), or the
    /// session is over.
    pub async fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Result<Stat, Error> {
        retry!(self, "write", path, |client| client.set_data(path, data, version))
    }

    /// Deletes a node, whatever its version when `version` is none.
    ///
    /// # Errors
    /// When the node does not exist, has children or another version, or the session is over.
    pub async fn delete(&self, path: &str, version: Option<i32>) -> Result<(), Error> {
        retry!(self, "delete", path, |client| client.delete(path, version))
    }

    /// Lists a node and everything below it, parents before children; empty when the node does not exist.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn tree(&self, path: &str) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut next = vec![path.to_owned()];
        while let Some(node) = next.pop() {
            match self.children(&node).await {
                Ok(children) => next.extend(children.into_iter().map(|child| format!("{node}/{child}"))),
                Err(Error::NoNode { .. }) => continue,
                Err(error) => return Err(error),
            }
            found.push(node);
        }
        Ok(found)
    }

    /// Waits for the permission to have one more request in flight.
    pub(super) async fn permit(&self) -> Result<SemaphorePermit<'_>, Error> {
        self.in_flight.acquire().await.map_err(|_closed| Error::Closed)
    }

    /// Returns the session's client.
    pub(super) fn client(&self) -> Result<Arc<Client>, Error> {
        self.client.load_full().ok_or(Error::Closed)
    }
}

fn optional<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::NoNode { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
