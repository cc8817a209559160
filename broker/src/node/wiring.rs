//! Making the parts of a broker, each from what it needs.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tokio::runtime::Handle;

use super::directory_failures::DirectoryFailures;
use super::ended::Ended;
use super::error::StartError;
use super::log_options::log_options;
use super::membership::Membership;
use super::start::Start;
use crate::config::{BrokerConfig, LiveConfig, TopicConfig};
use crate::controller::{Controller, ControllerOptions};
use crate::coordinator::group::{GroupCoordinator, ReplicaStorage, machine as groups};
use crate::dynamic_config::DynamicConfig;
use crate::handler::{self, Api, HandlerPool};
use crate::log::LogManager;
use crate::metadata::MetadataCache;
use crate::metrics::{self, Metrics};
use crate::net::Server;
use crate::replica::{
    FetchSessionCache, LeadershipListener, ReplicaDependencies, ReplicaManager, ReplicaOptions,
};
use crate::types::BrokerId;
use crate::zk::Zk;

impl Start {
    pub(super) fn open_logs(
        &self,
        broker_id: BrokerId,
        cluster_id: &str,
        live: &LiveConfig,
        dynamic: &DynamicConfig,
        ended: &Arc<Ended>,
    ) -> Result<Arc<LogManager>, StartError> {
        let topics = self.handle.block_on(dynamic.topic_configs(&self.zk.session()))?;
        let mut options = log_options(broker_id, cluster_id, &live.current(), &topics);
        let failures = DirectoryFailures {
            broker_id,
            zk: self.zk.clone(),
            handle: self.handle.clone(),
            online: Mutex::new(options.directories.len()),
            ended: Arc::clone(ended),
        };
        options.on_directory_failure = Some(Arc::new(move |path, reason| failures.note(path, reason)));
        Ok(LogManager::open(options)?)
    }

    pub(super) fn serve_metrics(&self, metrics: &Arc<Metrics>) -> Result<Option<SocketAddr>, StartError> {
        let Some(address) = &self.config.ottla_metrics_listen else { return Ok(None) };
        let serving = self.handle.block_on(metrics::serve(Arc::clone(metrics), address));
        let failed = |source| StartError::Metrics { address: address.clone(), source };
        // The task ends with the runtime.
        let (bound, _task) = serving.map_err(failed)?;
        Ok(Some(bound))
    }

    pub(super) fn dependencies(
        &self,
        metrics: &Arc<Metrics>,
        membership: &Arc<Membership>,
        dynamic: &Arc<DynamicConfig>,
    ) -> ReplicaDependencies {
        let (membership, dynamic) = (Arc::clone(membership), Arc::clone(dynamic));
        let (zk, handle) = (self.zk.clone(), self.handle.clone());
        ReplicaDependencies {
            metrics: Arc::clone(metrics),
            broker_epoch: Arc::new(move || membership.epoch()),
            topic_config: Arc::new(move |topic| topic_config(&dynamic, &zk, &handle, topic)),
            background: self.handle.clone(),
        }
    }

    pub(super) fn replicas(
        &self,
        broker_id: BrokerId,
        live: &LiveConfig,
        logs: &Arc<LogManager>,
        metadata: &Arc<MetadataCache>,
        dependencies: ReplicaDependencies,
    ) -> Result<Arc<ReplicaManager>, StartError> {
        let config = live.current();
        let listener = config.inter_broker_listener().unwrap_or_default();
        let options = ReplicaOptions::of_config(broker_id, listener, &config);
        ReplicaManager::new(options, Arc::clone(logs), Arc::clone(metadata), dependencies)
            .map_err(StartError::thread("the replica manager"))
    }

    pub(super) fn controller(
        &self,
        broker_id: BrokerId,
        config: &BrokerConfig,
        membership: &Arc<Membership>,
    ) -> Controller {
        let listener = config.inter_broker_listener().unwrap_or_default();
        let options = ControllerOptions::of_config(broker_id, listener, config);
        let membership = Arc::clone(membership);
        let register = Arc::new(move || {
            let membership = Arc::clone(&membership);
            Box::pin(async move { membership.register().await.map(drop) }) as BoxFuture<'static, _>
        });
        Controller::start(options, self.zk.clone(), register, &self.handle)
    }

    pub(super) fn serve_requests(
        &self,
        api: &Arc<Api>,
        server: &Arc<Server>,
        metrics: &Metrics,
    ) -> Result<Arc<HandlerPool>, StartError> {
        let count = usize::try_from(api.config.current().num_io_threads).unwrap_or(1);
        let api = Arc::clone(api);
        let channel = Arc::clone(server.channel());
        let pool = HandlerPool::start(channel, count, metrics, move |work| handler::dispatch(&api, work))
            .map_err(StartError::thread("handlers"))?;
        server.start()?;
        Ok(pool)
    }
}

/// Starts the coordinator of the groups, which follows who leads the partitions that they are kept in.
pub(super) fn groups_over(
    replicas: &Arc<ReplicaManager>,
    metadata: &Arc<MetadataCache>,
    config: &BrokerConfig,
    metrics: &Metrics,
) -> Result<Arc<GroupCoordinator>, StartError> {
    let storage = Arc::new(ReplicaStorage::new(Arc::clone(replicas), Arc::clone(metadata), config));
    let groups = GroupCoordinator::start(groups::Config::of_broker(config), storage, metrics)
        .map_err(StartError::thread("the group coordinator"))?;
    replicas.set_listeners(vec![Arc::clone(&groups) as Arc<dyn LeadershipListener>]);
    Ok(groups)
}

/// Session ids are drawn from a seed, so that clients of an earlier life of this broker do not meet their old ones.
pub(super) fn fetch_sessions(config: &BrokerConfig) -> Result<FetchSessionCache, StartError> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| StartError::Random(error.into()))?;
    let slots = usize::try_from(config.max_incremental_fetch_session_cache_slots).unwrap_or(0);
    Ok(FetchSessionCache::new(slots, u64::from_le_bytes(seed)))
}

/// Asked on a handler's thread when a log is made. A topic's settings are written before the topic, so they are there.
fn topic_config(dynamic: &DynamicConfig, zk: &Zk, handle: &Handle, topic: &str) -> TopicConfig {
    match handle.block_on(dynamic.topic_config(&zk.session(), topic)) {
        Ok(config) => config,
        Err(error) => {
            // The new session brings the settings of every topic again.
            tracing::warn!(topic, %error, "a log begins with the broker's settings: the topic's cannot be read");
            dynamic.default_topic_config()
        }
    }
}
