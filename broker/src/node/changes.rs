//! Who acts on settings that change while the broker runs.

use std::sync::{Arc, OnceLock};

use crate::config::{BrokerConfig, TopicConfig};
use crate::controller::Controller;
use crate::dynamic_config::ConfigListener;
use crate::handler::HandlerPool;
use crate::net::Server;
use crate::replica::ReplicaManager;

/// Carries changes to the network, the handlers and the partitions.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) replicas: Arc<ReplicaManager>,
    pub(crate) controller: Controller,
    pub(crate) server: Arc<Server>,
    /// Set once handlers run.
    pub(crate) pool: OnceLock<Arc<HandlerPool>>,
}

impl ConfigListener for Changes {
    fn broker_changed(&self, config: &BrokerConfig) {
        let count = |number: i32| usize::try_from(number).unwrap_or(1);
        // Before the start there are no threads to count; they are started in the right number.
        let Some(pool) = self.pool.get() else { return };
        if let Err(error) = pool.set_size(count(config.num_io_threads)) {
            tracing::error!(%error, "cannot change the number of handlers");
        }
        if let Err(error) = self.server.set_processors(count(config.num_network_threads)) {
            tracing::error!(%error, "cannot change the number of processors");
        }
    }

    fn topic_changed(&self, topic: &str, config: &TopicConfig) {
        self.replicas.set_topic_config(topic, config);
        self.controller.topic_changed(topic, config.unclean_leader_election_enable);
    }
}
