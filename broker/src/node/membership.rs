//! The registration of this broker, and the runtime file that goes with it. The controller renews it in every new session,
//! since it has to resign before.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::runtime_file::{RuntimeFile, ZookeeperSession, process_start_time};
use crate::types::{BrokerEpoch, BrokerId};
use crate::zk::layout::broker::Registration;
use crate::zk::session::Error;
use crate::zk::{Zk, registration};

/// This broker's place in the cluster.
#[derive(Debug)]
pub(crate) struct Membership {
    broker: BrokerId,
    zk: Zk,
    registration: Registration,
    epoch: AtomicI64,
    runtime_file: Option<PathBuf>,
    metrics_address: Option<String>,
}

impl Membership {
    /// Prepares a registration; nothing is said yet.
    pub(crate) fn new(
        broker: BrokerId,
        zk: Zk,
        registration: Registration,
        runtime_file: Option<PathBuf>,
        metrics_address: Option<String>,
    ) -> Self {
        let epoch = AtomicI64::new(BrokerEpoch::UNKNOWN.0);
        Self { broker, zk, registration, epoch, runtime_file, metrics_address }
    }

    /// Returns the epoch of the registration; -1 before the first.
    pub(crate) fn epoch(&self) -> BrokerEpoch {
        BrokerEpoch(self.epoch.load(Ordering::Acquire))
    }

    /// Registers in the current session, and writes the runtime file.
    pub(crate) async fn register(&self) -> Result<BrokerEpoch, Error> {
        let epoch = registration::register(&self.zk, self.broker, &self.registration).await?;
        self.epoch.store(epoch.0, Ordering::Release);
        tracing::info!(broker = %self.broker, %epoch, "registered");
        self.write_runtime_file();
        Ok(epoch)
    }

    /// A broker without a runtime file still serves; only its supervisor knows less.
    fn write_runtime_file(&self) {
        let Some(path) = &self.runtime_file else { return };
        if let Err(error) = self.describe().write(path) {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::error!(%error, cause, "the runtime file is not written");
        }
    }

    fn describe(&self) -> RuntimeFile {
        let endpoint = self.registration.endpoints.first();
        let pid = std::process::id();
        RuntimeFile {
            pid,
            start_time: process_start_time(pid).unwrap_or(0),
            broker_id: self.broker.0,
            host: endpoint.map(|endpoint| endpoint.host.clone()).unwrap_or_default(),
            port: endpoint.and_then(|endpoint| u16::try_from(endpoint.port).ok()).unwrap_or(0),
            metrics_address: self.metrics_address.clone(),
            zookeeper: ZookeeperSession {
                connect: self.zk.connect_string().to_string(),
                session_id: self.zk.session().identity().session_id,
            },
        }
    }
}
