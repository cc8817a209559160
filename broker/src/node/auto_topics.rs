//! Topics that come into being because a client asked for them, and the internal ones.
//!
//! Any broker may write a topic's nodes; the controller sees them and does the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ottla_protocol::message::ErrorCode;

use super::identity::fresh_uuid;
use crate::config::{BrokerConfig, LiveConfig};
use crate::controller::machine::assignment::{Candidate, Start, assign};
use crate::controller::new_topic;
use crate::handler::TopicStarter;
use crate::metadata::{ClusterSnapshot, MetadataCache};
use crate::zk::Zk;
use crate::zk::layout::config::Values;
use crate::zk::layout::topic::{Assignment, TopicNode};
use crate::zk::layout::topic_name::{CONSUMER_OFFSETS, TRANSACTION_STATE, collides};

/// Topics begun and not yet written; more are refused, and their clients come again.
const UNDER_WAY_MAX: usize = 1_000;

/// Writes the nodes of topics that clients name.
#[derive(Debug)]
pub(crate) struct AutoTopics {
    zk: Zk,
    config: Arc<LiveConfig>,
    metadata: Arc<MetadataCache>,
    background: tokio::runtime::Handle,
    under_way: Arc<Mutex<BTreeSet<String>>>,
}

/// A topic that is to be.
#[derive(Debug)]
struct Plan {
    node: TopicNode,
    config: Values,
}

impl AutoTopics {
    pub(crate) fn new(
        zk: Zk,
        config: Arc<LiveConfig>,
        metadata: Arc<MetadataCache>,
        background: tokio::runtime::Handle,
    ) -> Self {
        Self { zk, config, metadata, background, under_way: Arc::default() }
    }
}

impl TopicStarter for AutoTopics {
    fn start(&self, topic: &str) -> Result<(), ErrorCode> {
        let cluster = self.metadata.load();
        if cluster.topics().keys().any(|other| collides(topic, other)) {
            return Err(ErrorCode::InvalidTopicException);
        }
        let plan = plan(topic, &self.config.current(), &cluster)?;
        let mut under_way = lock(&self.under_way);
        if under_way.contains(topic) {
            return Ok(());
        }
        if under_way.len() >= UNDER_WAY_MAX {
            return Err(ErrorCode::LeaderNotAvailable);
        }
        under_way.insert(topic.to_owned());
        drop(under_way);
        let (session, list, topic) = (self.zk.session(), Arc::clone(&self.under_way), topic.to_owned());
        let writing = self.background.spawn(async move {
            match new_topic::write(&session, &topic, &plan.node, &plan.config).await {
                // Another broker was asked too, or it is there and not yet known here.
                Ok(false) => {}
                Ok(true) => tracing::info!(topic, partitions = plan.node.partitions.len(), "created a topic"),
                Err(error) => tracing::warn!(topic, %error, "cannot create a topic"),
            }
            lock(&list).remove(&topic);
        });
        drop(writing);
        Ok(())
    }
}

fn lock(under_way: &Mutex<BTreeSet<String>>) -> MutexGuard<'_, BTreeSet<String>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}

fn plan(topic: &str, config: &BrokerConfig, cluster: &ClusterSnapshot) -> Result<Plan, ErrorCode> {
    let (partitions, replicas, values) = shape(topic, config);
    let brokers: Vec<Candidate> = cluster
        .brokers()
        .values()
        .map(|broker| Candidate { id: broker.id, rack: broker.rack.clone() })
        .collect();
    let id = fresh_uuid().map_err(|_no_randomness| ErrorCode::UnknownServerError)?;
    // The id's random bits decide where the first replica goes as well.
    let (seed, _) = id.as_u64_pair();
    let start = Start::from_seed(seed, brokers.len(), 0);
    let assigned = assign(&brokers, partitions, replicas, start)
        .map_err(|_too_few_brokers| ErrorCode::InvalidReplicationFactor)?;
    let numbered = (0..).zip(assigned.into_iter().map(Assignment::of));
    Ok(Plan { node: TopicNode { id: Some(id), partitions: numbered.collect() }, config: values })
}

/// How many partitions and replicas a topic gets, and which settings of its own.
fn shape(topic: &str, config: &BrokerConfig) -> (usize, usize, Values) {
    let count = |number: i32| usize::try_from(number).unwrap_or(0);
    let values = |pairs: &[(&str, String)]| -> Values {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    match topic {
        CONSUMER_OFFSETS => (
            count(config.offsets_topic_num_partitions),
            count(i32::from(config.offsets_topic_replication_factor)),
            values(&[
                ("cleanup.policy", "compact".to_owned()),
                ("compression.type", "producer".to_owned()),
                ("segment.bytes", config.offsets_topic_segment_bytes.to_string()),
            ]),
        ),
        TRANSACTION_STATE => (
            count(config.transaction_state_log_num_partitions),
            count(i32::from(config.transaction_state_log_replication_factor)),
            values(&[
                ("cleanup.policy", "compact".to_owned()),
                ("compression.type", "uncompressed".to_owned()),
                ("min.insync.replicas", config.transaction_state_log_min_isr.to_string()),
                ("segment.bytes", config.transaction_state_log_segment_bytes.to_string()),
                ("unclean.leader.election.enable", "false".to_owned()),
            ]),
        ),
        _ => (count(config.num_partitions), count(config.default_replication_factor), BTreeMap::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_topics_have_settings_of_their_own() {
        let mut config = BrokerConfig::default();
        config.set("offsets.topic.num.partitions", "7").unwrap();
        config.set("num.partitions", "4").unwrap();
        let (partitions, replicas, settings) = shape(CONSUMER_OFFSETS, &config);
        assert_eq!((partitions, replicas), (7, 3));
        assert_eq!(settings.get("cleanup.policy").map(String::as_str), Some("compact"));
        assert_eq!(shape("orders", &config), (4, 1, Values::new()));
    }

    #[test]
    fn too_few_brokers_are_an_error_of_their_own() {
        let config = BrokerConfig::default();
        let refused = plan("orders", &config, &ClusterSnapshot::default());
        assert_eq!(refused.unwrap_err(), ErrorCode::InvalidReplicationFactor);
    }
}
