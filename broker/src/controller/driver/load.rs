//! Reads the whole cluster for a new controller, as many nodes at a time as the session allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::controller::machine::{LeaderAndIsr, LiveBroker, Snapshot, TopicRead};
use crate::controller::new_topic::draw_topic_id;
use crate::dynamic_config;
use crate::types::{BrokerEpoch, BrokerId, TopicPartition};
use crate::zk::layout::broker::{self, Registration};
use crate::zk::layout::config::Values;
use crate::zk::layout::partition_state::{self, PartitionState};
use crate::zk::layout::topic::{self, TopicNode};
use crate::zk::layout::{delete_topics, preferred_election, reassign};
use crate::zk::session::{Error, Handle};
use futures::future::join_all;

const UNCLEAN_KEY: &str = "unclean.leader.election.enable";
/// State nodes have about 100 bytes.
const STATES_PER_READ: usize = 500;
/// A topic's node grows with its partitions, about 12 bytes for each.
const TOPICS_PER_READ: usize = 20;

/// Reads everything. A node that makes no sense is left out with a warning, for one topic must not stop a cluster.
pub(super) async fn load(session: &Handle) -> Result<Snapshot, Error> {
    let ids = session.children(broker::ROOT).await?;
    let brokers = read_brokers(session, &ids).await?;
    let names = session.children(topic::ROOT).await?;
    let settings = dynamic_config::read_topics(session).await?;
    let paths: Vec<String> = names.iter().map(|name| topic::path(name)).collect();
    let nodes = session.get_many(&paths, TOPICS_PER_READ).await?;
    let mut topics = BTreeMap::new();
    for (name, node) in names.iter().zip(nodes) {
        let Some((data, _)) = node else { continue };
        if let Some(mut read) = decode_topic(name, &data) {
            read.unclean_election = settings.get(name).and_then(unclean);
            topics.insert(Arc::from(name.as_str()), read);
        }
    }
    let states = read_states(session, partitions(&topics)).await?;
    let deletions = session.children(delete_topics::ROOT).await?;
    let reassignments = match session.get(reassign::PATH).await? {
        Some((data, _)) => reassign::decode(&data).unwrap_or_default(),
        None => BTreeMap::new(),
    };
    let preferred_elections = match session.get(preferred_election::PATH).await? {
        Some((data, _)) => preferred_election::decode(&data).unwrap_or_default(),
        None => Vec::new(),
    };
    Ok(Snapshot {
        brokers,
        topics,
        states,
        deletions: deletions.iter().map(|name| Arc::from(name.as_str())).collect(),
        reassignments,
        preferred_elections,
    })
}

fn partitions(topics: &BTreeMap<Arc<str>, TopicRead>) -> Vec<TopicPartition> {
    let of_topic = |(name, read): (&Arc<str>, &TopicRead)| -> Vec<TopicPartition> {
        read.node.partitions.keys().map(|number| TopicPartition::new(Arc::clone(name), *number)).collect()
    };
    topics.iter().flat_map(of_topic).collect()
}

/// Reads the registrations of brokers.
pub(super) async fn read_brokers(
    session: &Handle,
    ids: &[String],
) -> Result<BTreeMap<BrokerId, LiveBroker>, Error> {
    let ids = ids.iter().filter_map(|id| id.parse().ok().map(BrokerId));
    let reads = ids.map(|id| async move { (id, session.get(&broker::path(id)).await) });
    let mut brokers = BTreeMap::new();
    for (id, read) in join_all(reads).await {
        let Some((data, stat)) = read? else { continue };
        if let Some(live) = decode_broker(id, &data, stat.czxid) {
            brokers.insert(id, live);
        }
    }
    Ok(brokers)
}

pub(super) fn decode_broker(id: BrokerId, data: &[u8], czxid: i64) -> Option<LiveBroker> {
    match Registration::decode(id, data) {
        Ok(registration) => Some(LiveBroker { epoch: BrokerEpoch(czxid), registration }),
        Err(error) => {
            tracing::warn!(%error, "a broker's registration makes no sense; the broker is ignored");
            None
        }
    }
}

/// Reads the state nodes that exist.
pub(super) async fn read_states(
    session: &Handle,
    partitions: Vec<TopicPartition>,
) -> Result<BTreeMap<TopicPartition, LeaderAndIsr>, Error> {
    let paths: Vec<String> = partitions.iter().map(partition_state::path).collect();
    let nodes = session.get_many(&paths, STATES_PER_READ).await?;
    let states = partitions.into_iter().zip(nodes).zip(&paths).filter_map(|((name, node), path)| {
        let (data, stat) = node?;
        decode_state(path, &data, stat.version).map(|state| (name, state))
    });
    Ok(states.collect())
}

/// Reads a state node; nothing when it does not exist or makes no sense.
pub(super) async fn read_state(
    session: &Handle,
    name: &TopicPartition,
) -> Result<Option<LeaderAndIsr>, Error> {
    let path = partition_state::path(name);
    let node = session.get(&path).await?;
    Ok(node.and_then(|(data, stat)| decode_state(&path, &data, stat.version)))
}

fn decode_state(path: &str, data: &[u8], version: i32) -> Option<LeaderAndIsr> {
    match PartitionState::decode(path, data) {
        Ok(state) => Some(LeaderAndIsr::from_node(state, version)),
        Err(error) => {
            tracing::warn!(%error, "a partition's state makes no sense");
            None
        }
    }
}

/// Reads a topic's node, with an id for it should it have none.
pub(super) fn decode_topic(name: &str, data: &[u8]) -> Option<TopicRead> {
    match TopicNode::decode(name, data) {
        Ok(node) => {
            let fresh_id = if node.id.is_none() { draw_topic_id() } else { None };
            Some(TopicRead { node, unclean_election: None, fresh_id })
        }
        Err(error) => {
            tracing::warn!(%error, "a topic's node makes no sense; the topic is ignored");
            None
        }
    }
}

/// Returns a topic's own rule about unclean elections.
pub(super) fn unclean(values: &Values) -> Option<bool> {
    values.get(UNCLEAN_KEY)?.trim().to_ascii_lowercase().parse().ok()
}
