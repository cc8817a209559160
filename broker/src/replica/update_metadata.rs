//! What follows here from what the controller says about the cluster and from changed settings.

use ottla_protocol::message::{ErrorCode, UpdateMetadataRequest};

use super::machine::Event;
use super::manager::{ReplicaManager, Wake, lock};
use crate::config::TopicConfig;
use crate::log::LogConfig;
use crate::metadata::Applied;
use crate::types::{BrokerEpoch, ControllerEpoch};

impl ReplicaManager {
    /// Applies an UpdateMetadata request to the metadata cache, and tells leaders which brokers are alive.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH or STALE_CONTROLLER_EPOCH.
    pub fn update_metadata(&self, request: &UpdateMetadataRequest) -> Result<Applied, ErrorCode> {
        // Held until the cache has it: a command of an older controller must not come in between.
        let mut fence = lock(&self.fence);
        let own = (self.dependencies.broker_epoch)();
        fence.admit(own, BrokerEpoch(request.broker_epoch), ControllerEpoch(request.controller_epoch))?;
        let applied = self.metadata.apply(request);
        drop(fence);
        if applied.live_brokers_changed {
            self.tell_live_brokers();
        }
        Ok(applied)
    }

    fn tell_live_brokers(&self) {
        let live = self.metadata.load().live_brokers();
        for partition in self.partitions() {
            let mut wake = Wake::default();
            {
                let _role = partition.keep_role();
                self.step(&partition, Event::LiveBrokers(live.clone()), &mut wake);
            }
            self.wake(wake);
        }
    }

    /// Puts changed settings of a topic in force for the partitions held here.
    pub fn set_topic_config(&self, topic: &str, config: &TopicConfig) {
        let min_insync_replicas = usize::try_from(config.min_insync_replicas).unwrap_or(1);
        for partition in self.partitions() {
            if *partition.id().topic != *topic {
                continue;
            }
            partition.log().set_config(LogConfig::from(config));
            let mut wake = Wake::default();
            {
                let _role = partition.keep_role();
                self.step(&partition, Event::MinInsyncReplicas(min_insync_replicas), &mut wake);
            }
            self.wake(wake);
        }
    }
}
