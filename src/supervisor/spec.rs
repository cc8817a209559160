//! What a local cluster is made of, as kept in `cluster.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most brokers a local cluster may have: each is a process.
pub(super) const BROKERS_MAX: u16 = 64;
/// Where the first broker listens when nobody else does.
const BROKER_PORT_FIRST: u16 = 9092;
/// Where the embedded ZooKeeper server listens when nobody else does.
const ZOOKEEPER_PORT_FIRST: u16 = 2181;
/// The only layout of the file so far.
const FORMAT: u32 = 1;

/// A cluster: its name, its brokers, its ZooKeeper, and the settings that all its brokers start with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterSpec {
    /// The layout of this file.
    pub format: u32,
    /// What the operator calls the cluster.
    pub name: String,
    /// The coordination service.
    pub zookeeper: ZookeeperSpec,
    /// The brokers, by ascending id.
    pub brokers: Vec<BrokerSpec>,
    /// Kafka's keys and values, given to every broker at its start.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// One broker of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerSpec {
    /// The broker's id.
    pub id: i32,
    /// Where it listened last, and will again if the port is free.
    pub port: u16,
}

/// The coordination service of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZookeeperSpec {
    /// Our own server, a process of the cluster.
    Embedded {
        /// Where it listened last, and will again.
        port: u16,
    },
    /// Somebody else's: `host:port,host:port/chroot`.
    External {
        /// The connect string.
        connect: String,
    },
}

/// What the command line asks of a cluster; whatever is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wishes {
    /// `--name`.
    pub name: Option<String>,
    /// `--brokers`.
    pub brokers: Option<u16>,
    /// `--zookeeper`.
    pub zookeeper: Option<String>,
    /// `--first-port`: where a new cluster looks for ports.
    pub first_port: Option<u16>,
    /// `--set`, in the order given.
    pub settings: Vec<(String, String)>,
}

/// Why a wish cannot be met by the cluster that is there.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WishError {
    /// The directory belongs to a cluster of another name.
    #[error(
        "it belongs to the cluster '{present}', not to '{wished}'; give '{wished}' a --data-dir of its own"
    )]
    Name {
        /// The cluster that is there.
        present: String,
        /// The cluster that was asked for.
        wished: String,
    },
    /// The cluster has another ZooKeeper, and its brokers' state with it.
    #[error(
        "its cluster keeps its state in {present}, not in the ZooKeeper at {wished}; use another --data-dir for that"
    )]
    Zookeeper {
        /// In words.
        present: String,
        /// The connect string given.
        wished: String,
    },
    /// Fewer brokers than there are.
    #[error("its cluster has {present} brokers and cannot shrink to {wished}: their data would be lost")]
    Shrink {
        /// How many there are.
        present: usize,
        /// How many were asked for.
        wished: u16,
    },
    /// None, or too many.
    #[error("{0} brokers cannot be run on one machine; ask for 1 to {BROKERS_MAX}")]
    Count(u16),
    /// A file from a later Ottla, or not ours.
    #[error("its cluster.json has format {0}, which this version of ottla does not know")]
    Format(u32),
}

impl ClusterSpec {
    /// Returns a new cluster as wished: `dev`, three brokers and an embedded ZooKeeper server unless said otherwise.
    ///
    /// # Errors
    /// When the number of brokers is out of range.
    pub fn new(wishes: &Wishes) -> Result<Self, WishError> {
        let zookeeper = match &wishes.zookeeper {
            Some(connect) => ZookeeperSpec::External { connect: connect.clone() },
            None => ZookeeperSpec::Embedded { port: wishes.first_port.unwrap_or(ZOOKEEPER_PORT_FIRST) },
        };
        let mut spec = Self {
            format: FORMAT,
            name: wishes.name.clone().unwrap_or_else(|| "dev".to_owned()),
            zookeeper,
            brokers: Vec::new(),
            settings: wishes.settings.iter().cloned().collect(),
        };
        spec.grow(
            wishes.brokers.unwrap_or(3),
            wishes.first_port.map_or(BROKER_PORT_FIRST, |port| port.saturating_add(1)),
        )?;
        Ok(spec)
    }

    /// Changes the cluster as wished, or says why not. Running brokers keep the settings they were started with.
    ///
    /// # Errors
    /// When the wish contradicts what is there; nothing is changed then.
    pub fn adopt(&mut self, wishes: &Wishes) -> Result<(), WishError> {
        if self.format != FORMAT {
            return Err(WishError::Format(self.format));
        }
        if let Some(wished) = wishes.name.as_ref().filter(|name| **name != self.name) {
            return Err(WishError::Name { present: self.name.clone(), wished: wished.clone() });
        }
        if let Some(wished) = &wishes.zookeeper {
            let present = match &self.zookeeper {
                ZookeeperSpec::External { connect } if connect == wished => None,
                ZookeeperSpec::External { connect } => Some(format!("the ZooKeeper at {connect}")),
                ZookeeperSpec::Embedded { .. } => Some("its own embedded ZooKeeper server".to_owned()),
            };
            if let Some(present) = present {
                return Err(WishError::Zookeeper { present, wished: wished.clone() });
            }
        }
        if let Some(wished) = wishes.brokers {
            if usize::from(wished) < self.brokers.len() {
                return Err(WishError::Shrink { present: self.brokers.len(), wished });
            }
            let first_port = self.brokers.first().map_or(BROKER_PORT_FIRST, |broker| broker.port);
            self.grow(wished, first_port)?;
        }
        self.settings.extend(wishes.settings.iter().cloned());
        Ok(())
    }

    /// Adds brokers until there are `count`, on the ports from `first_port` on.
    fn grow(&mut self, count: u16, first_port: u16) -> Result<(), WishError> {
        if count == 0 || count > BROKERS_MAX {
            return Err(WishError::Count(count));
        }
        for id in 1..=count {
            if !self.brokers.iter().any(|broker| broker.id == i32::from(id)) {
                self.brokers.push(BrokerSpec { id: i32::from(id), port: first_port.saturating_add(id - 1) });
            }
        }
        self.brokers.sort_by_key(|broker| broker.id);
        Ok(())
    }

    /// Returns what brokers and tools connect to for coordination.
    pub fn zookeeper_connect(&self) -> String {
        match &self.zookeeper {
            ZookeeperSpec::Embedded { port } => format!("127.0.0.1:{port}"),
            ZookeeperSpec::External { connect } => connect.clone(),
        }
    }

    /// Returns the addresses at which a Kafka client finds the cluster.
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<_> =
            self.brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port)).collect();
        addresses.join(",")
    }

    /// Returns the settings of a broker that suit a cluster on one machine: everything replicated as far as it goes,
    /// and nobody waiting for a death or a member longer than a person at a keyboard likes.
    ///
    /// What the operator set comes last and wins.
    pub fn broker_settings(&self) -> BTreeMap<String, String> {
        let replicas = self.brokers.len().min(3);
        let in_sync = if replicas >= 3 { 2 } else { 1 };
        let defaults = [
            ("default.replication.factor", replicas.to_string()),
            ("offsets.topic.replication.factor", replicas.to_string()),
            ("transaction.state.log.replication.factor", replicas.to_string()),
            ("transaction.state.log.min.isr", in_sync.to_string()),
            ("min.insync.replicas", in_sync.to_string()),
            ("group.initial.rebalance.delay.ms", "300".to_owned()),
            ("zookeeper.session.timeout.ms", "6000".to_owned()),
            ("controlled.shutdown.max.retries", "1".to_owned()),
            ("controlled.shutdown.retry.backoff.ms", "200".to_owned()),
        ];
        let mut settings: BTreeMap<_, _> =
            defaults.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        settings.extend(self.settings.clone());
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes() -> Wishes {
        Wishes::default()
    }

    #[test]
    fn nothing_wished_is_three_brokers_on_kafkas_ports_beside_zookeepers() {
        let spec = ClusterSpec::new(&wishes()).unwrap();
        assert_eq!(spec.name, "dev");
        assert_eq!(spec.bootstrap(), "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094");
        assert_eq!(spec.zookeeper_connect(), "127.0.0.1:2181");
    }

    #[test]
    fn a_cluster_grows_and_never_shrinks() {
        let mut spec = ClusterSpec::new(&wishes()).unwrap();
        spec.adopt(&Wishes { brokers: Some(5), ..wishes() }).unwrap();
        assert_eq!(spec.brokers.iter().map(|broker| broker.id).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        let refusal = spec.adopt(&Wishes { brokers: Some(2), ..wishes() }).unwrap_err();
        assert_eq!(refusal, WishError::Shrink { present: 5, wished: 2 });
        assert_eq!(
            spec.adopt(&Wishes { brokers: Some(0), ..wishes() }),
            Err(WishError::Shrink { present: 5, wished: 0 })
        );
        assert_eq!(ClusterSpec::new(&Wishes { brokers: Some(0), ..wishes() }), Err(WishError::Count(0)));
    }

    #[test]
    fn a_cluster_is_not_moved_to_another_zookeeper() {
        let mut spec = ClusterSpec::new(&wishes()).unwrap();
        let refusal = spec.adopt(&Wishes { zookeeper: Some("zk:2181/a".into()), ..wishes() }).unwrap_err();
        assert!(refusal.to_string().contains("embedded"), "{refusal}");
        let mut spec = ClusterSpec::new(&Wishes { zookeeper: Some("zk:2181/a".into()), ..wishes() }).unwrap();
        spec.adopt(&Wishes { zookeeper: Some("zk:2181/a".into()), ..wishes() }).unwrap();
    }

    #[test]
    fn what_the_operator_sets_wins_over_what_suits_one_machine() {
        let settings = vec![("min.insync.replicas".to_owned(), "1".to_owned())];
        let spec = ClusterSpec::new(&Wishes { settings, ..wishes() }).unwrap();
        assert_eq!(spec.broker_settings()["min.insync.replicas"], "1");
        assert_eq!(spec.broker_settings()["default.replication.factor"], "3");
    }
}
