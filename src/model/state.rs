//! The model itself, and where each update goes.

use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, Millis, TopicPartition};

use super::action::Actions;
use super::broker::Broker;
use super::cluster::Cluster;
use super::group::Group;
use super::load::Load;
use super::network::Network;
use super::partition::Partition;
use super::process::Process;
use super::source::{Source, SourceName};
use super::summary::Summary;
use super::timeline::Timeline;
use super::topic::Topic;

/// Everything that is known of the cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// The cluster as a whole.
    pub cluster: Cluster,
    /// The embedded ZooKeeper server's process, when this console runs it.
    pub zookeeper: Option<Process>,
    /// This console's own process.
    pub console: Option<Process>,
    /// The brokers by id, those that are down too.
    pub brokers: BTreeMap<BrokerId, Broker>,
    /// The topics by name.
    pub topics: BTreeMap<String, Topic>,
    /// The consumer groups by id.
    pub groups: BTreeMap<String, Group>,
    /// The network of each broker whose metrics were read.
    pub networks: BTreeMap<BrokerId, Network>,
    /// The sources.
    pub sources: BTreeMap<SourceName, Source>,
    /// What happened.
    pub timeline: Timeline,
    /// What the operator asked for.
    pub actions: Actions,
    /// The demo load.
    pub load: Load,
    /// Sums over all of it.
    pub summary: Summary,
    /// Grows with every update that may have changed something.
    pub version: u64,
    /// When the last update was applied.
    pub updated_at: Millis,
    pub(super) listed: Listed,
}

/// What was listed in full at least once: before that, a thing that appears is old, not new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Listed {
    pub(super) brokers: bool,
    pub(super) topics: bool,
    pub(super) groups: bool,
}

impl Model {
    /// Returns a partition.
    pub fn partition(&self, partition: &TopicPartition) -> Option<&Partition> {
        self.topics.get(&*partition.topic)?.partitions.get(&partition.partition)
    }

    /// Returns all partitions by name.
    pub fn partitions(&self) -> impl Iterator<Item = (&str, i32, &Partition)> {
        self.topics.iter().flat_map(|(name, topic)| {
            topic.partitions.iter().map(move |(number, partition)| (name.as_str(), *number, partition))
        })
    }

    /// Returns the brokers that hold a partition or are known, in order of their ids.
    pub fn broker_ids(&self) -> Vec<BrokerId> {
        let mut ids: Vec<_> = self.brokers.keys().copied().collect();
        ids.extend(self.summary.shares.iter().filter(|(_, share)| share.replicas > 0).map(|(id, _)| *id));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns whether this console runs any of the cluster's processes.
    pub fn owns_processes(&self) -> bool {
        self.zookeeper.is_some() || self.brokers.values().any(Broker::is_owned)
    }

    /// Returns since when and why a source has been silent, while it is.
    pub fn stale(&self, source: SourceName) -> Option<(Millis, &str)> {
        let (since, why) = self.sources.get(&source)?.stale.as_ref()?;
        Some((*since, why))
    }
}
