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
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{self, Runtime};

use crate::config::{BrokerConfig, ConfigErrors};
use crate::metadata::ClusterSnapshot;
use crate::metrics::Metrics;
use crate::net::BoundListener;
use crate::node::{self, BrokerOptions, Ending, Parts, Start, StartError};
use crate::types::BrokerId;
use crate::zk::{Zk, ZkOptions};

/// Threads for what is asynchronous and not of a connection: the session, the controller, proposals, metrics.
const BACKGROUND_THREADS: usize = 2;
/// How long handing over leaderships may take in all.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long closing the session may take; afterwards it ends by its own timeout.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A running broker.
#[derive(Debug)]
pub struct Broker {
    parts: Parts,
    /// Last, so that everything on it is gone before.
    background: Runtime,
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
            Ok(parts) => Ok(Self { parts, background }),
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
        self.parts.api.broker_id
    }

    /// Returns the id of its cluster.
    #[must_use]
    pub fn cluster_id(&self) -> &str {
        &self.parts.api.cluster_id
    }

    /// Returns what it knows of the cluster.
    #[must_use]
    pub fn metadata(&self) -> Arc<ClusterSnapshot> {
        self.parts.api.metadata.load()
    }

    /// Returns where its listeners are bound, in the order of the configuration.
    #[must_use]
    pub fn bound(&self) -> &[BoundListener] {
        self.parts.server.bound()
    }

    /// Returns where its page of metrics is, if it has one.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.parts.metrics_address
    }

    /// Returns its metrics.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.parts.metrics
    }

    /// Returns what tells when the broker cannot go on; it does not keep the broker from being stopped.
    #[must_use]
    pub fn ending(&self) -> Ending {
        Ending(Arc::clone(&self.parts.ended))
    }

    /// Stops the broker in good order: leaderships are handed over, logs closed, the session ended.
    pub fn shutdown(self) {
        self.hand_over();
        for task in &self.parts.tasks {
            task.abort();
        }
        self.parts.server.stop_requests();
        self.parts.pool.join();
        self.parts.api.groups.shutdown();
        self.parts.upkeep.stop();
        self.parts.api.replicas.shutdown();
        self.parts.api.metadata.shutdown();
        self.parts.api.logs.shutdown(self.parts.membership.epoch());
        self.background.block_on(self.parts.api.controller.shutdown());
        let close = async { tokio::time::timeout(CLOSE_TIMEOUT, self.parts.api.zk.close()).await };
        if self.background.block_on(close).is_err() {
            tracing::warn!("ZooKeeper does not answer; the session ends by its timeout");
        }
        self.parts.server.shutdown();
        tracing::info!(broker = %self.parts.api.broker_id, "stopped");
    }

    fn hand_over(&self) {
        let config = self.parts.api.config.current();
        if !config.controlled_shutdown_enable || !self.parts.api.zk.is_connected() {
            return;
        }
        let session = self.parts.api.zk.session();
        let leave = node::leave(&session, self.parts.api.broker_id, self.parts.membership.epoch(), &config);
        let left = self.background.block_on(async { tokio::time::timeout(LEAVE_TIMEOUT, leave).await });
        if left.is_err() {
            tracing::warn!("stopping without having handed over everything: it took too long");
        }
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
