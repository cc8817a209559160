//! What a controller watches: each watch a task that reads, reports, waits for a change, and reads again.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::load::{decode_broker, decode_topic, read_states, unclean};
use crate::controller::machine::{ClusterEvent, Event};
use crate::dynamic_config;
use crate::types::{BrokerId, ControllerEpoch, TopicPartition};
use crate::zk::layout::config::Entity;
use crate::zk::layout::{
    broker, controller, delete_topics, isr_change, log_dir_event, preferred_election, reassign,
    sequence_number, topic,
};
use crate::zk::session::{Error, Handle, WatchEnd, Watched};

/// Where watches report, in the name of one controller.
#[derive(Debug, Clone)]
pub(super) struct Reports {
    pub(super) events: mpsc::Sender<(ControllerEpoch, ClusterEvent)>,
    pub(super) epoch: ControllerEpoch,
}

impl Reports {
    /// Reports; false when nobody listens any more.
    async fn send(&self, event: ClusterEvent) -> bool {
        self.events.send((self.epoch, event)).await.is_ok()
    }
}

/// Whether a watch goes on.
enum Go {
    On(Watched),
    Stop,
}

/// Reads and reports until the session is over or nobody listens.
async fn repeat<F: Future<Output = Result<Go, Error>>>(what: &str, mut look: impl FnMut() -> F) {
    loop {
        match look().await {
            Ok(Go::On(watched)) => {
                if watched.changed().await == WatchEnd::SessionOver {
                    return;
                }
            }
            Ok(Go::Stop) | Err(Error::SessionExpired | Error::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, what, "a watched node cannot be read; trying again");
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        }
    }
}

/// Watches `/controller`, whoever is in office.
pub(super) async fn controller_node(session: Handle, events: mpsc::Sender<Event>) {
    repeat("controller", || async {
        let (node, watched) = session.data_watched(controller::PATH).await?;
        let named = match node {
            Some((data, _)) => Some(controller::decode(&data)?),
            None => None,
        };
        let listens = events.send(Event::ControllerRead(named)).await.is_ok();
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    })
    .await;
}

/// Watches who is registered, and what each says.
pub(super) async fn brokers(session: Handle, reports: Reports) {
    loop {
        let read = read_watched_brokers(&session).await;
        let (brokers, watches) = match read {
            Ok(read) => read,
            Err(Error::SessionExpired | Error::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "the brokers cannot be read; trying again");
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                continue;
            }
        };
        if !reports.send(ClusterEvent::Brokers(brokers)).await {
            return;
        }
        let mut changes: FuturesUnordered<_> = watches.into_iter().map(Watched::changed).collect();
        if changes.next().await == Some(WatchEnd::SessionOver) {
            return;
        }
    }
}

async fn read_watched_brokers(
    session: &Handle,
) -> Result<(BTreeMap<BrokerId, crate::controller::machine::LiveBroker>, Vec<Watched>), Error> {
    let (ids, watched) = session.children_watched(broker::ROOT).await?;
    let mut watches = vec![watched];
    let reads = ids.iter().filter_map(|id| id.parse().ok().map(BrokerId)).map(|id| async move {
        let read = session.data_watched(&broker::path(id)).await;
        (id, read)
    });
    let mut brokers = BTreeMap::new();
    for (id, read) in join_all(reads).await {
        let (node, watched) = read?;
        watches.push(watched);
        let live = node.and_then(|(data, stat)| decode_broker(id, &data, stat.czxid));
        if let Some(live) = live {
            brokers.insert(id, live);
        }
    }
    Ok((brokers, watches))
}

/// Watches the list of topics.
pub(super) async fn topics(session: Handle, reports: Reports) {
    names(session, topic::ROOT, reports, ClusterEvent::Topics).await;
}

/// Watches the marks of topics that are to go.
pub(super) async fn deletions(session: Handle, reports: Reports) {
    names(session, delete_topics::ROOT, reports, ClusterEvent::Deletions).await;
}

async fn names(session: Handle, path: &str, reports: Reports, event: fn(Vec<Arc<str>>) -> ClusterEvent) {
    repeat(path, || async {
        let (names, watched) = session.children_watched(path).await?;
        let names = names.iter().map(|name| Arc::from(name.as_str())).collect();
        let listens = reports.send(event(names)).await;
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    })
    .await;
}

/// Watches one topic's node until it is gone.
pub(super) async fn one_topic(session: Handle, name: Arc<str>, reports: Reports) {
    repeat("topic", || async {
        let (node, watched) = session.data_watched(&topic::path(&name)).await?;
        let Some((data, _)) = node else {
            reports.send(ClusterEvent::Topic(Arc::clone(&name), None)).await;
            return Ok(Go::Stop);
        };
        if let Some(mut read) = decode_topic(&name, &data) {
            let settings = dynamic_config::read(&session, &Entity::Topic(name.to_string())).await;
            read.unclean_election = settings.ok().as_ref().and_then(unclean);
            if !reports.send(ClusterEvent::Topic(Arc::clone(&name), Some(read))).await {
                return Ok(Go::Stop);
            }
        }
        Ok(Go::On(watched))
    })
    .await;
}

/// Watches the old tools' wishes.
pub(super) async fn wishes(session: Handle, reports: Reports) {
    let elections = repeat("preferred elections", || async {
        let (node, watched) = session.data_watched(preferred_election::PATH).await?;
        let Some((data, _)) = node else { return Ok(Go::On(watched)) };
        // A node that makes no sense wishes for nothing, and is deleted like one that is granted.
        let wished = preferred_election::decode(&data).unwrap_or_default();
        let listens = reports.send(ClusterEvent::PreferredElectionNode(wished)).await;
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    });
    let reassignments = repeat("reassignments", || async {
        let (node, watched) = session.data_watched(reassign::PATH).await?;
        let Some((data, _)) = node else { return Ok(Go::On(watched)) };
        let listens = reports.send(ClusterEvent::ReassignmentNode(reassign::decode(&data).ok())).await;
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    });
    tokio::join!(elections, reassignments);
}

/// Watches the notifications of failed directories and of state nodes that older leaders wrote.
pub(super) async fn notifications(session: Handle, reports: Reports) {
    let failed = pin!(repeat("log directory events", || async {
        let (nodes, watched) = session.children_watched(log_dir_event::ROOT).await?;
        let nodes = in_order(nodes, log_dir_event::PREFIX);
        if nodes.is_empty() {
            return Ok(Go::On(watched));
        }
        let mut brokers = Vec::new();
        for name in &nodes {
            let Some((data, _)) = session.get(&log_dir_event::path(name)).await? else { continue };
            brokers.extend(log_dir_event::decode(name, &data).ok());
        }
        let listens = reports.send(ClusterEvent::LogDirsFailed(brokers, nodes)).await;
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    }));
    let changed = pin!(repeat("isr changes", || async {
        let (nodes, watched) = session.children_watched(isr_change::ROOT).await?;
        let nodes = in_order(nodes, isr_change::PREFIX);
        if nodes.is_empty() {
            return Ok(Go::On(watched));
        }
        let mut partitions: Vec<TopicPartition> = Vec::new();
        for name in &nodes {
            let Some((data, _)) = session.get(&isr_change::path(name)).await? else { continue };
            partitions.extend(isr_change::decode(name, &data).unwrap_or_default());
        }
        partitions.sort();
        partitions.dedup();
        let states = read_states(&session, partitions).await?;
        let listens = reports.send(ClusterEvent::StatesChanged(states, nodes)).await;
        Ok(if listens { Go::On(watched) } else { Go::Stop })
    }));
    tokio::join!(failed, changed);
}

fn in_order(mut nodes: Vec<String>, prefix: &str) -> Vec<String> {
    nodes.retain(|name| sequence_number(name, prefix).is_some());
    nodes.sort_by_key(|name| sequence_number(name, prefix));
    nodes
}
