//! What every broker does first: the nodes that must exist, and the cluster's id.

use super::layout::{self, TOP_PATHS, cluster_id};
use super::session::{CreateMode, Error, Handle};

/// Makes sure that the nodes exist which every reader of the layout expects.
///
/// # Errors
/// When the session is over or a node may not be created.
pub async fn ensure_top_paths(session: &Handle) -> Result<(), Error> {
    // Parents come before children in the list and requests are answered in order, so all can be in flight at once.
    let creations = TOP_PATHS.map(|path| session.create(path, b"", CreateMode::Persistent));
    for created in futures::future::join_all(creations).await {
        match created {
            Ok(_) | Err(Error::NodeExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the cluster's id, and gives the cluster the id `fresh` when it has none.
///
/// # Errors
/// When the session is over or the node cannot be read.
pub async fn cluster_id(session: &Handle, fresh: uuid::Uuid) -> Result<String, Error> {
    loop {
        if let Some((data, _)) = session.get(cluster_id::PATH).await? {
            return Ok(cluster_id::decode(&data)?);
        }
        let id = layout::encode_uuid(fresh);
        match session.create_recursive(cluster_id::PATH, &cluster_id::encode(&id)).await {
            Ok(()) => return Ok(id),
            // Another broker was first, or an earlier attempt of ours was: what is there counts.
            Err(Error::NodeExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}
