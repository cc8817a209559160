//! All that handlers reach.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::topic_starter::TopicStarter;
use crate::config::LiveConfig;
use crate::controller::Controller;
use crate::coordinator::group::GroupCoordinator;
use crate::coordinator::producer_ids::ProducerIds;
use crate::log::LogManager;
use crate::metadata::MetadataCache;
use crate::net::NetMetrics;
use crate::replica::{FetchSessionCache, ReplicaManager};
use crate::types::BrokerId;
use crate::zk::Zk;

/// The parts of the broker, as handlers see them.
#[derive(Debug)]
pub struct Api {
    /// This broker.
    pub broker_id: BrokerId,
    /// Its cluster.
    pub cluster_id: String,
    /// The configuration in force.
    pub config: Arc<LiveConfig>,
    /// What the network counts.
    pub net: Arc<NetMetrics>,
    /// What the controller taught about the cluster.
    pub metadata: Arc<MetadataCache>,
    /// The partitions of this broker.
    pub replicas: Arc<ReplicaManager>,
    /// What fetching clients know already.
    pub fetch_sessions: Arc<FetchSessionCache>,
    /// Creates topics that clients ask for.
    pub topic_starter: Arc<dyn TopicStarter>,
    /// The cluster's controller, should this broker be it.
    pub controller: Controller,
    /// The session with ZooKeeper.
    pub zk: Zk,
    /// The logs of this broker.
    pub logs: Arc<LogManager>,
    /// The groups that this broker coordinates.
    pub groups: Arc<GroupCoordinator>,
    /// The producer ids that this broker may hand out.
    pub producer_ids: Arc<ProducerIds>,
    /// Where tasks run that handlers may not wait for.
    pub background: Handle,
}

impl Api {
    /// Runs `task` in the background.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // The task ends by itself, or with the runtime.
        drop(self.background.spawn(task));
    }
}
