//! Several changes that happen together or not at all.

use thiserror::Error;
use zookeeper_client::{Client, MultiWriteError, MultiWriteResult};

use super::error::is_connection_loss;
use super::operations::RETRY_PAUSE;
use super::{CreateMode, Error, Handle, Stat, acl};

/// One change, or one condition, of a [`Handle::multi`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Fails unless the node has this data version.
    Check {
        /// The node's path.
        path: String,
        /// The version that it must have.
        version: i32,
    },
    /// Creates a node.
    Create {
        /// The node's path.
        path: String,
        /// Its data.
        data: Vec<u8>,
        /// Its kind.
        mode: CreateMode,
    },
    /// Writes a node's data.
    Set {
        /// The node's path.
        path: String,
        /// The new data.
        data: Vec<u8>,
        /// The version that it must have, any when none.
        version: Option<i32>,
    },
    /// Deletes a node.
    Delete {
        /// The node's path.
        path: String,
        /// The version that it must have, any when none.
        version: Option<i32>,
    },
}

/// What one [`Op`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpResult {
    /// The condition held, or the node was created or deleted.
    Done,
    /// The node's stat after the write.
    Stat(Stat),
}

/// Why nothing of a multi happened.
#[derive(Debug, Error)]
pub enum MultiError {
    /// One operation could not be done.
    #[error("operation {index} of {count}: {source}")]
    Operation {
        /// Which, from 0.
        index: usize,
        /// Of how many.
        count: usize,
        /// Why.
        source: Error,
    },
    /// The request as a whole failed.
    #[error(transparent)]
    Request(#[from] Error),
}

impl Op {
    /// Returns the node's path.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Check { path, .. }
            | Self::Create { path, .. }
            | Self::Set { path, .. }
            | Self::Delete { path, .. } => path,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Check { .. } => "check",
            Self::Create { .. } => "create",
            Self::Set { .. } => "write",
            Self::Delete { .. } => "delete",
        }
    }
}

impl From<MultiError> for Error {
    /// Forgets which operation it was.
    fn from(error: MultiError) -> Self {
        match error {
            MultiError::Operation { source, .. } | MultiError::Request(source) => source,
        }
    }
}

impl Handle {
    /// Does all of `ops`, in order, or nothing.
    ///
    /// # Errors
    /// When an operation cannot be done; after a broken connection that may mean that an earlier attempt of the same
    /// call did them all. Or when the session is over.
    pub async fn multi(&self, ops: &[Op]) -> Result<Vec<OpResult>, MultiError> {
        if ops.is_empty() {
            return Ok(Vec::new());
        }
        let _permit = self.permit().await?;
        loop {
            let client = self.client()?;
            match commit(&client, ops, self.restricted).await {
                Ok(results) => return Ok(results.into_iter().map(result).collect()),
                Err(MultiWriteError::RequestFailed { source }) if is_connection_loss(&source) => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                Err(MultiWriteError::RequestFailed { source }) => {
                    let path = ops.first().map_or("", Op::path);
                    return Err(Error::from_client("multi", path, source).into());
                }
                Err(MultiWriteError::OperationFailed { index, source }) => {
                    let (name, path) = ops.get(index).map_or(("multi", ""), |op| (op.name(), op.path()));
                    let source = Error::from_client(name, path, source);
                    return Err(MultiError::Operation { index, count: ops.len(), source });
                }
            }
        }
    }
}

async fn commit(
    client: &Client,
    ops: &[Op],
    restricted: bool,
) -> Result<Vec<MultiWriteResult>, MultiWriteError> {
    let mut writer = client.new_multi_writer();
    for op in ops {
        match op {
            Op::Check { path, version } => writer.add_check_version(path, *version)?,
            Op::Create { path, data, mode } => {
                let options = mode.of_client().with_acls(acl::for_path(path, restricted));
                writer.add_create(path, data, &options)?;
            }
            Op::Set { path, data, version } => writer.add_set_data(path, data, *version)?,
            Op::Delete { path, version } => writer.add_delete(path, *version)?,
        }
    }
    writer.commit().await
}

fn result(result: MultiWriteResult) -> OpResult {
    match result {
        MultiWriteResult::SetData { stat } => OpResult::Stat(stat),
        // Some servers answer a create in a multi with an invalid stat, so it is not passed on.
        _ => OpResult::Done,
    }
}
