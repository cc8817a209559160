//! Many reads in one request.

use futures::future::join_all;
use zookeeper_client::{Client, MultiReadResult};

use super::error::is_connection_loss;
use super::operations::RETRY_PAUSE;
use super::{Error, Handle, Stat};

/// A node's data and stat; nothing when it does not exist.
type Read = Option<(Vec<u8>, Stat)>;

impl Handle {
    /// Reads many nodes, `chunk` of them in each request; the answers come in the order of `paths`.
    ///
    /// Unlike a read of each node this does not wait for one round trip per node, so it is what a new controller reads
    /// thousands of small nodes with. The answer to one request must stay below what clients take (1 MiB), so the
    /// larger the nodes the smaller the chunk. Servers older than 3.6 know no such request and are asked node by node.
    ///
    /// # Errors
    /// When the session is over or a node may not be read.
    pub async fn get_many(&self, paths: &[String], chunk: usize) -> Result<Vec<Read>, Error> {
        let reads = paths.chunks(chunk.max(1)).map(|chunk| self.get_chunk(chunk));
        let mut found = Vec::with_capacity(paths.len());
        for read in join_all(reads).await {
            found.extend(read?);
        }
        Ok(found)
    }

    async fn get_chunk(&self, paths: &[String]) -> Result<Vec<Read>, Error> {
        match self.read_together(paths).await {
            Err(Error::Client { source: zookeeper_client::Error::Unimplemented, .. }) => {
                join_all(paths.iter().map(|path| self.get(path))).await.into_iter().collect()
            }
            other => other,
        }
    }

    async fn read_together(&self, paths: &[String]) -> Result<Vec<Read>, Error> {
        let first = paths.first().map_or("", String::as_str);
        let _permit = self.permit().await?;
        loop {
            let client = self.client()?;
            match commit(&client, paths).await {
                Ok(results) => {
                    return paths.iter().zip(results).map(|(path, read)| result(path, read)).collect();
                }
                Err(error) if is_connection_loss(&error) => tokio::time::sleep(RETRY_PAUSE).await,
                Err(error) => return Err(Error::from_client("read", first, error)),
            }
        }
    }
}

async fn commit(client: &Client, paths: &[String]) -> Result<Vec<MultiReadResult>, zookeeper_client::Error> {
    let mut reader = client.new_multi_reader();
    for path in paths {
        reader.add_get_data(path)?;
    }
    reader.commit().await
}

fn result(path: &str, read: MultiReadResult) -> Result<Read, Error> {
    match read {
        MultiReadResult::Data { data, stat } => Ok(Some((data, stat))),
        MultiReadResult::Error { err: zookeeper_client::Error::NoNode } => Ok(None),
        MultiReadResult::Error { err } => Err(Error::from_client("read", path, err)),
        _ => Err(Error::from_client(
            "read",
            path,
            zookeeper_client::Error::UnexpectedError("the server answered something else".to_owned()),
        )),
    }
}
