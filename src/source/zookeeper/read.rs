//! Asking ZooKeeper: one node, several at once, or everything.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use ottla_broker::types::{BrokerId, TopicPartition};
use thiserror::Error;
use zookeeper_client::Client;

use super::translate::{Found, Place};
use crate::model::{ClusterUpdate, TopicUpdate, Update, ZookeeperConnection};

/// How many questions are under way at once.
const AT_ONCE: usize = 128;
/// A short session: the console owns nothing in ZooKeeper.
const SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Why ZooKeeper could not be read.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    /// It cannot be reached, or the session ended.
    #[error("zookeeper at {connect}: {source}")]
    Zookeeper {
        /// The connect string.
        connect: String,
        /// What the client says.
        source: zookeeper_client::Error,
    },
}

/// Opens a session.
///
/// # Errors
/// When no server answers.
pub(crate) async fn connect(connect: &str) -> Result<Client, ReadError> {
    Client::connector()
        .with_session_timeout(SESSION_TIMEOUT)
        .with_fail_eagerly()
        .connect(connect)
        .await
        .map_err(|source| ReadError::Zookeeper { connect: connect.to_owned(), source })
}

/// Reads one node; `None` when it is not there.
pub(super) async fn read(client: &Client, place: &Place) -> Result<Option<Found>, zookeeper_client::Error> {
    match client.get_data(&place.path()).await {
        Ok((data, stat)) => {
            Ok(Some(Found { data, version: stat.version, created: stat.czxid, created_at_ms: stat.ctime }))
        }
        Err(zookeeper_client::Error::NoNode) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads several nodes and returns what became known, in the order asked. Nodes whose data cannot be read are told
/// apart, in words.
pub(super) async fn read_places(
    client: &Client,
    places: Vec<Place>,
) -> Result<(Vec<Update>, Vec<String>), zookeeper_client::Error> {
    let mut updates = Vec::with_capacity(places.len());
    let mut damaged = Vec::new();
    let reads = futures::stream::iter(places).map(async |place| (read(client, &place).await, place));
    let mut reads = Box::pin(reads.buffered(AT_ONCE));
    while let Some((found, place)) = reads.next().await {
        match place.update(found?.as_ref()) {
            Ok(update) => updates.extend(update),
            Err(why) => damaged.push(why),
        }
    }
    Ok((updates, damaged))
}

/// Reads everything that is shown, lists first, so that what is not listed is known to be gone.
///
/// # Errors
/// When the session ends meanwhile.
pub(crate) async fn read_all(client: &Client) -> Result<(Vec<Update>, Vec<String>), zookeeper_client::Error> {
    let session_id = client.session_id().0;
    let mut updates =
        vec![Update::Cluster(ClusterUpdate::Zookeeper(ZookeeperConnection::Connected { session_id }))];
    let brokers: Vec<BrokerId> = children(client, "/brokers/ids")
        .await?
        .iter()
        .filter_map(|id| id.parse().ok().map(BrokerId))
        .collect();
    let topics = children(client, "/brokers/topics").await?;
    let deleting = children(client, "/admin/delete_topics").await?;
    updates.push(Update::BrokersListed(brokers.clone()));
    updates.push(Update::TopicsListed(topics.clone()));
    let mut first = vec![Place::ClusterId, Place::ControllerEpoch, Place::Controller];
    first.extend(brokers.into_iter().map(Place::Broker));
    first.extend(topics.iter().cloned().map(Place::Topic));
    first.extend(topics.into_iter().map(Place::TopicConfig));
    first.extend(deleting.into_iter().map(Place::TopicDeletion));
    let (found, mut damaged) = read_places(client, first).await?;
    let partitions = partitions(&found);
    updates.extend(found);
    let (states, more_damaged) = read_places(client, partitions).await?;
    updates.extend(states);
    damaged.extend(more_damaged);
    Ok((updates, damaged))
}

/// The partitions that assignments name.
pub(super) fn partitions(updates: &[Update]) -> Vec<Place> {
    let mut all = Vec::new();
    for update in updates {
        if let Update::Topic { topic, update: TopicUpdate::Assigned { partitions, .. } } = update {
            all.extend(places(topic, partitions));
        }
    }
    all
}

fn places<'a>(
    topic: &'a str,
    partitions: &'a BTreeMap<i32, Vec<BrokerId>>,
) -> impl Iterator<Item = Place> + 'a {
    partitions.keys().map(move |number| Place::Partition(TopicPartition::new(topic, *number)))
}

async fn children(client: &Client, path: &str) -> Result<Vec<String>, zookeeper_client::Error> {
    match client.list_children(path).await {
        Err(zookeeper_client::Error::NoNode) => Ok(Vec::new()),
        outcome => outcome,
    }
}
