//! The steps of a start, in order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;

use super::auto_topics::AutoTopics;
use super::changes::Changes;
use super::ended::Ended;
use super::error::StartError;
use super::membership::Membership;
use super::wiring::{fetch_sessions, groups_over};
use super::{advertise, controller_metrics, identity};
use crate::config::{BrokerConfig, LiveConfig, Origin};
use crate::coordinator::producer_ids::ProducerIds;
use crate::dynamic_config::DynamicConfig;
use crate::handler::{Api, HandlerPool};
use crate::metadata::MetadataCache;
use crate::metrics::Metrics;
use crate::net::{NetMetrics, Server};
use crate::replica::ReplicaUpkeep;
use crate::zk::{Zk, cluster};

/// What a broker is told beside its configuration.
#[derive(Debug, Clone, Default)]
pub struct BrokerOptions {
    /// Where it says who it is, for its supervisor.
    pub runtime_file: Option<PathBuf>,
    /// The settings that were written down, as [`crate::config::load`] returns them: DescribeConfigs tells them from
    /// defaults.
    pub origin: Origin,
}

/// A start under way, with what every step needs.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) config: BrokerConfig,
    pub(crate) options: BrokerOptions,
    pub(crate) zk: Zk,
    pub(crate) handle: Handle,
}

/// A broker but for its runtime.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) api: Arc<Api>,
    pub(crate) server: Arc<Server>,
    pub(crate) pool: Arc<HandlerPool>,
    pub(crate) upkeep: ReplicaUpkeep,
    pub(crate) membership: Arc<Membership>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) metrics_address: Option<SocketAddr>,
    pub(crate) tasks: Vec<tokio::task::JoinHandle<()>>,
    pub(crate) ended: Arc<Ended>,
}

impl Start {
    pub(crate) fn run(self) -> Result<Parts, StartError> {
        let session = self.zk.session();
        self.handle.block_on(cluster::ensure_top_paths(&session))?;
        let cluster_id = self.handle.block_on(identity::cluster_id(&session))?;
        let broker_id = self.handle.block_on(identity::broker_id(&session, &self.config))?;
        let metrics = Metrics::new();
        let live = Arc::new(LiveConfig::new(self.config.clone(), self.options.origin.clone()));
        let dynamic = Arc::new(DynamicConfig::new(broker_id, Arc::clone(&live)));
        self.handle.block_on(dynamic.load_broker(&session))?;
        let ended = Arc::new(Ended::default());
        let logs = self.open_logs(broker_id, &cluster_id, &live, &dynamic, &ended)?;
        let net = NetMetrics::new(Arc::clone(&metrics));
        let server = Arc::new(Server::bind(live.handle(), Arc::clone(&net))?);
        let metrics_address = self.serve_metrics(&metrics)?;
        let membership = Arc::new(Membership::new(
            broker_id,
            self.zk.clone(),
            advertise::registration(&live.current(), server.bound()),
            self.options.runtime_file.clone(),
            metrics_address.map(|address| address.to_string()),
        ));
        let metadata = Arc::new(MetadataCache::new().map_err(StartError::thread("the metadata cache"))?);
        let replicas = self.replicas(
            broker_id,
            &live,
            &logs,
            &metadata,
            self.dependencies(&metrics, &membership, &dynamic),
        )?;
        let upkeep = ReplicaUpkeep::start(&replicas).map_err(StartError::thread("the upkeep of replicas"))?;
        let groups = groups_over(&replicas, &metadata, &live.current(), &metrics)?;
        self.handle.block_on(membership.register())?;
        let controller = self.controller(broker_id, &live.current(), &membership);
        controller_metrics::register(&metrics, &controller);
        let api = Arc::new(Api {
            broker_id,
            controller: controller.clone(),
            cluster_id,
            config: Arc::clone(&live),
            net,
            zk: self.zk.clone(),
            fetch_sessions: Arc::new(fetch_sessions(&live.current())?),
            topic_starter: Arc::new(AutoTopics::new(
                self.zk.clone(),
                Arc::clone(&live),
                Arc::clone(&metadata),
                self.handle.clone(),
            )),
            metadata,
            logs,
            replicas,
            groups,
            producer_ids: Arc::new(ProducerIds::new(broker_id, self.zk.clone())),
            background: self.handle.clone(),
        });
        let changes = Arc::new(Changes {
            replicas: Arc::clone(&api.replicas),
            controller,
            server: Arc::clone(&server),
            pool: OnceLock::new(),
        });
        let pool = self.serve_requests(&api, &server, &metrics)?;
        drop(changes.pool.set(Arc::clone(&pool)));
        let tasks = vec![self.handle.spawn(dynamic.follow(self.zk.clone(), changes))];
        api.logs.start_background()?;
        tracing::info!(broker = %broker_id, listeners = ?server.bound(), "serving requests");
        Ok(Parts { api, server, pool, upkeep, membership, metrics, metrics_address, tasks, ended })
    }
}
