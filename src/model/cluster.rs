//! The cluster as a whole.

use ottla_broker::types::{BrokerId, ControllerEpoch, Millis};
use serde::{Deserialize, Serialize};

/// What can become known of the cluster as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterUpdate {
    /// What the console was told to look at.
    Profile(Profile),
    /// The id in `/cluster/id`.
    ClusterId(String),
    /// Who holds `/controller`; `None` while nobody does.
    Controller(Option<BrokerId>),
    /// The number in `/controller_epoch`.
    ControllerEpoch(ControllerEpoch),
    /// How the connection to ZooKeeper is.
    Zookeeper(ZookeeperConnection),
}

/// What the console was told to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// What the operator calls the cluster.
    pub name: String,
    /// The data directory of a local cluster; `None` for one that was only attached to.
    pub data_dir: Option<String>,
    /// Where ZooKeeper is: `host:port,host:port/chroot`.
    pub zookeeper: String,
    /// Whether this console runs ZooKeeper's process.
    pub zookeeper_embedded: bool,
    /// Whether changes are refused.
    pub read_only: bool,
}

/// How the connection to ZooKeeper is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ZookeeperConnection {
    /// Not tried yet.
    #[default]
    Unknown,
    /// Trying.
    Connecting {
        /// Why the last try failed, if there was one.
        #[serde(default)]
        why: Option<String>,
    },
    /// Connected.
    Connected {
        /// The session, as in ZooKeeper's own logs.
        session_id: i64,
    },
    /// Connected before, not now.
    Disconnected {
        /// Why.
        why: String,
    },
    /// The session has expired; a new one is being made.
    Expired,
}

impl ZookeeperConnection {
    /// Returns the state in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Connecting { .. } => "connecting",
            Self::Connected { .. } => "connected",
            Self::Disconnected { .. } => "disconnected",
            Self::Expired => "expired",
        }
    }
}

/// What is known of the cluster as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cluster {
    /// What the console was told to look at.
    pub profile: Profile,
    /// The id in `/cluster/id`.
    pub cluster_id: Option<String>,
    /// Who holds `/controller`.
    pub controller: Option<BrokerId>,
    /// How many controllers there have been.
    pub controller_epoch: Option<ControllerEpoch>,
    /// Since when there has been no controller, once there was one.
    pub controllerless_since: Option<Millis>,
    /// Who was the controller before.
    pub controller_before: Option<BrokerId>,
    /// How the connection to ZooKeeper is.
    pub zookeeper: ZookeeperConnection,
    /// Since when it is so.
    pub zookeeper_since: Option<Millis>,
}
