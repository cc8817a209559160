//! The broker: its parts, started and stopped in the one order that is safe.
//!
//! ```text
//! start: session, ids ─► dynamic settings ─► logs ─► listeners bound ─► replicas ─► coordinators
//!          ─► registered ─► controller ─► settings followed ─► requests served
//! stop:  leaderships handed over ─► no more requests ─► coordinators ─► replicas ─► logs
//!          ─► controller ─► session ─► sockets
//! ```
//!
//! Listeners are bound early, so that a port in use is known before anything is said; clients that connect wait until
//! requests are served. Commands of the controller can come only after the registration.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::{self, Handle, Runtime};

use crate::config::{BrokerConfig, ConfigErrors, LiveConfig, Origin, TopicConfig};
use crate::controller::{Controller, ControllerOptions};
use crate::coordinator::group::{GroupCoordinator, ReplicaStorage, machine as groups};
use crate::coordinator::producer_ids::ProducerIds;
use crate::dynamic_config::DynamicConfig;
use crate::handler::{self, Api, HandlerPool};
use crate::log::LogManager;
use crate::metadata::MetadataCache;
use crate::metrics::{self, Metrics};
use crate::net::{BoundListener, NetMetrics, Server};
use crate::node::{self, AutoTopics, Changes, Membership, StartError};
use crate::replica::{
    FetchSessionCache, LeadershipListener, ReplicaDependencies, ReplicaManager, ReplicaOptions, ReplicaUpkeep,
};
use crate::types::BrokerId;
use crate::zk::{Zk, ZkOptions, cluster};

/// Threads for what is asynchronous and not of a connection: the session, the controller, proposals, metrics.
const BACKGROUND_THREADS: usize = 2;
/// How long handing over leaderships may take in all.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long closing the session may take; afterwards it ends by its own timeout.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// What a broker is told beside its configuration.
#[derive(Debug, Clone, Default)]
pub struct BrokerOptions {
    /// Where it says who it is, for its supervisor.
    pub runtime_file: Option<PathBuf>,
    /// The settings that were written down, as [`crate::config::load`] returns them: DescribeConfigs tells them from
    /// defaults.
    pub origin: Origin,
}

/// A running broker.
#[derive(Debug)]
pub struct Broker {
    api: Arc<Api>,
    server: Arc<Server>,
    pool: Arc<HandlerPool>,
    upkeep: ReplicaUpkeep,
    membership: Arc<Membership>,
    metrics: Arc<Metrics>,
    metrics_address: Option<SocketAddr>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    ended: Arc<Ended>,
    /// Last, so that everything on it is gone before.
    background: Runtime,
}

/// Tells those who wait that the broker cannot go on.
#[derive(Debug, Default)]
struct Ended {
    reason: Mutex<Option<String>>,
    changed: Condvar,
}

impl Broker {
    /// Starts a broker and returns once it is registered and serves requests.
    ///
    /// Must not be called on a thread of an asynchronous runtime.
    ///
    /// # Errors
    /// What was wrong, with what to do about it where that can be known.
    pub fn start(config: BrokerConfig, options: BrokerOptions) -> Result<Self, StartError> {
        let mistakes = config.check();
        if !mistakes.is_empty() {
            return Err(ConfigErrors(mistakes).into());
        }
        let background = runtime::Builder::new_multi_thread()
            .worker_threads(BACKGROUND_THREADS)
            .thread_name("background")
            .enable_all()
            .build()
            .map_err(StartError::thread("the background runtime"))?;
        let zk = background.block_on(connect(&config))?;
        let started = Start { config, options, zk: zk.clone(), handle: background.handle().clone() }.run();
        match started {
            Ok(parts) => Ok(parts.into_broker(background)),
            Err(error) => {
                // What was registered must not outlive the attempt.
                drop(background.block_on(async { tokio::time::timeout(CLOSE_TIMEOUT, zk.close()).await }));
                Err(error)
            }
        }
    }

    /// Returns the broker's id.
    #[must_use]
    pub fn id(&self) -> BrokerId {
        self.api.broker_id
    }

    /// Returns the id of its cluster.
    #[must_use]
    pub fn cluster_id(&self) -> &str {
        &self.api.cluster_id
    }

    /// Returns where its listeners are bound, in the order of the configuration.
    #[must_use]
    pub fn bound(&self) -> &[BoundListener] {
        self.server.bound()
    }

    /// Returns where its page of metrics is, if it has one.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// Returns its metrics.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Waits until the broker cannot go on, and returns why. A broker that is well is waited for without end.
    pub fn wait(&self) -> String {
        let mut reason = self.ended.reason.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(reason) = reason.as_ref() {
                return reason.clone();
            }
            reason = self.ended.changed.wait(reason).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Stops the broker in good order: leaderships are handed over, logs closed, the session ended.
    pub fn shutdown(self) {
        self.hand_over();
        for task in &self.tasks {
            task.abort();
        }
        self.server.stop_requests();
        self.pool.join();
        self.api.groups.shutdown();
        self.upkeep.stop();
        self.api.replicas.shutdown();
        self.api.metadata.shutdown();
        self.api.logs.shutdown(self.membership.epoch());
        self.background.block_on(self.api.controller.shutdown());
        let close = async { tokio::time::timeout(CLOSE_TIMEOUT, self.api.zk.close()).await };
        if self.background.block_on(close).is_err() {
            tracing::warn!("ZooKeeper does not answer; the session ends by its timeout");
        }
        self.server.shutdown();
        tracing::info!(broker = %self.api.broker_id, "stopped");
    }

    fn hand_over(&self) {
        let config = self.api.config.current();
        if !config.controlled_shutdown_enable || !self.api.zk.is_connected() {
            return;
        }
        let session = self.api.zk.session();
        let leave = node::leave(&session, self.api.broker_id, self.membership.epoch(), &config);
        let left = self.background.block_on(async { tokio::time::timeout(LEAVE_TIMEOUT, leave).await });
        if left.is_err() {
            tracing::warn!("stopping without having handed over everything: it took too long");
        }
    }
}

impl Ended {
    fn end(&self, reason: String) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.changed.notify_all();
    }
}

async fn connect(config: &BrokerConfig) -> Result<Zk, StartError> {
    let connect = config.zookeeper_connect.as_deref().ok_or(StartError::NoZookeeper)?;
    let connect = connect.parse().map_err(crate::zk::Error::from)?;
    let ms = |ms: i32| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let options = ZkOptions {
        session_timeout: ms(config.zookeeper_session_timeout_ms),
        connection_timeout: ms(config.effective_zookeeper_connection_timeout_ms()),
        max_in_flight: usize::try_from(config.zookeeper_max_in_flight_requests).unwrap_or(1),
        set_acl: config.zookeeper_set_acl,
        ..ZkOptions::new(connect)
    };
    Ok(Zk::connect(options).await?)
}

/// A start under way, with what every step needs.
struct Start {
    config: BrokerConfig,
    options: BrokerOptions,
    zk: Zk,
    handle: Handle,
}

/// A broker but for its runtime.
struct Parts {
    api: Arc<Api>,
    server: Arc<Server>,
    pool: Arc<HandlerPool>,
    upkeep: ReplicaUpkeep,
    membership: Arc<Membership>,
    metrics: Arc<Metrics>,
    metrics_address: Option<SocketAddr>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    ended: Arc<Ended>,
}

impl Parts {
    fn into_broker(self, background: Runtime) -> Broker {
        let Self { api, server, pool, upkeep, membership, metrics, metrics_address, tasks, ended } = self;
        Broker { api, server, pool, upkeep, membership, metrics, metrics_address, tasks, ended, background }
    }
}

impl Start {
    fn run(self) -> Result<Parts, StartError> {
        let session = self.zk.session();
        self.handle.block_on(cluster::ensure_top_paths(&session))?;
        let cluster_id = self.handle.block_on(node::cluster_id(&session))?;
        let broker_id = self.handle.block_on(node::broker_id(&session, &self.config))?;
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
            node::registration(&live.current(), server.bound()),
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

    fn open_logs(
        &self,
        broker_id: BrokerId,
        cluster_id: &str,
        live: &LiveConfig,
        dynamic: &DynamicConfig,
        ended: &Arc<Ended>,
    ) -> Result<Arc<LogManager>, StartError> {
        let topics = self.handle.block_on(dynamic.topic_configs(&self.zk.session()))?;
        let mut options = node::log_options(broker_id, cluster_id, &live.current(), &topics);
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

    fn serve_metrics(&self, metrics: &Arc<Metrics>) -> Result<Option<SocketAddr>, StartError> {
        let Some(address) = &self.config.ottla_metrics_listen else { return Ok(None) };
        let serving = self.handle.block_on(metrics::serve(Arc::clone(metrics), address));
        let failed = |source| StartError::Metrics { address: address.clone(), source };
        // The task ends with the runtime.
        let (bound, _task) = serving.map_err(failed)?;
        Ok(Some(bound))
    }

    fn dependencies(
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

    fn replicas(
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

    fn controller(
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

    fn serve_requests(
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
fn groups_over(
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
fn fetch_sessions(config: &BrokerConfig) -> Result<FetchSessionCache, StartError> {
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

/// What follows when a directory fails: the controller is told, and a broker without any directory ends.
struct DirectoryFailures {
    broker_id: BrokerId,
    zk: Zk,
    handle: Handle,
    online: Mutex<usize>,
    ended: Arc<Ended>,
}

impl DirectoryFailures {
    fn note(&self, path: &std::path::Path, reason: &str) {
        tracing::error!(directory = %path.display(), reason, "a log directory is offline");
        let mut online = self.online.lock().unwrap_or_else(PoisonError::into_inner);
        *online = online.saturating_sub(1);
        if *online == 0 {
            self.ended.end(format!("every log directory failed; the last was {}: {reason}", path.display()));
            return;
        }
        let (zk, broker) = (self.zk.clone(), self.broker_id);
        let told = self.handle.spawn(async move {
            use crate::zk::layout::log_dir_event;
            use crate::zk::session::CreateMode;
            let data = log_dir_event::encode(broker);
            let mode = CreateMode::PersistentSequential;
            if let Err(error) = zk.session().create(log_dir_event::SEQUENCE_PATH, &data, mode).await {
                tracing::error!(%error, "the controller is not told of the failed directory");
            }
        });
        drop(told);
    }
}
