//! Telling ZooKeeper that a broker's process has ended, instead of letting it wait for the session timeout.
//!
//! A process that has ended can no longer act, and nobody else has its session's password, so the nodes that its
//! session owns mean nothing any more: they are removed as the session's end would remove them, all in one
//! transaction. (Attaching to the session and closing it would say the same, but the client library keeps passwords to
//! itself.) A node that belongs to any other session, such as that of a successor, is left alone.
//!
//! A frozen or cut-off broker gets no farewell: it may come back and act, so only its timeout may end it.

use std::time::Duration;

use thiserror::Error;
use zookeeper_client::{Client, MultiWriteError};

/// ZooKeeper is a neighbour; if it does not answer in this time the session timeout does the work.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why nothing could be told.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// ZooKeeper refused or could not be reached.
    #[error("tell zookeeper at {connect}: {source}")]
    Zookeeper {
        /// The connect string.
        connect: String,
        /// What it said.
        source: zookeeper_client::Error,
    },
    /// The transaction was refused.
    #[error("remove nodes from zookeeper at {connect}: {source}")]
    Transaction {
        /// The connect string.
        connect: String,
        /// What was refused.
        source: MultiWriteError,
    },
    /// No answer.
    #[error("zookeeper at {0} does not answer")]
    Silent(String),
}

/// Removes what the ended session of a broker still holds; returns how many nodes that were.
///
/// # Errors
/// When ZooKeeper cannot be reached in five seconds or refuses.
pub(super) async fn say(connect: &str, broker: i32, session: i64) -> Result<usize, Error> {
    match tokio::time::timeout(PATIENCE, Box::pin(remove_owned(connect, broker, session))).await {
        Ok(outcome) => outcome,
        Err(_elapsed) => Err(Error::Silent(connect.to_owned())),
    }
}

async fn remove_owned(connect: &str, broker: i32, session: i64) -> Result<usize, Error> {
    let failed = |source| Error::Zookeeper { connect: connect.to_owned(), source };
    let client = Client::connect(connect).await.map_err(failed)?;
    let mut transaction = client.new_multi_writer();
    let mut count = 0;
    // The registration goes together with the controller's seat, so that the next controller does not count the dead
    // broker among the living.
    for path in [format!("/brokers/ids/{broker}"), "/controller".to_owned()] {
        if let Some(stat) = client.check_stat(&path).await.map_err(failed)?
            && stat.ephemeral_owner == session
        {
            transaction.add_delete(&path, Some(stat.version)).map_err(failed)?;
            count += 1;
        }
    }
    if count > 0 {
        transaction
            .commit()
            .await
            .map_err(|source| Error::Transaction { connect: connect.to_owned(), source })?;
    }
    Ok(count)
}
