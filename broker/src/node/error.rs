//! Why a broker does not start.

use std::io;

use crate::config::ConfigErrors;
use crate::net::NetError;
use crate::{log, zk};

/// Why a broker does not start. Each says what to do about it, where that can be known.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings do not fit together.
    #[error("{0}")]
    Config(#[from] ConfigErrors),
    /// No ensemble is named.
    #[error("zookeeper.connect is not set: name the ensemble as host:port,host:port/chroot")]
    NoZookeeper,
    /// ZooKeeper does not answer, or refuses.
    #[error(transparent)]
    Zookeeper(#[from] zk::Error),
    /// The log directories cannot be used.
    #[error("open logs: {0}")]
    Log(#[from] log::Error),
    /// A listener cannot be bound, or a network thread cannot be had.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The page of metrics cannot be served.
    #[error("serve metrics at {address} (ottla.metrics.listen): {source}")]
    Metrics {
        /// Where it should be.
        address: String,
        /// Why it cannot be there.
        source: io::Error,
    },
    /// A thread cannot be had.
    #[error("start {what}: {source}")]
    Thread {
        /// What it was for.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Randomness cannot be had.
    #[error("draw a random id: {0}")]
    Random(io::Error),
    /// The cluster's ids and those in the log directories do not agree.
    #[error("{0}")]
    Identity(String),
}

impl StartError {
    /// Says that a thread could not be had.
    pub(crate) fn thread(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Thread { what, source }
    }
}
