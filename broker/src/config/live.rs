//! The configuration of a running broker: what was written down at the start, and over it what was changed since.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::broker::BrokerConfig;
use super::error::{ConfigError, Place, Problem};
use super::key::Update;
use super::load::Origin;

/// For whom a setting was changed while running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamicScope {
    /// For all brokers (`/config/brokers/<default>`).
    Cluster,
    /// For this broker; wins over the cluster's.
    Broker,
}

/// Where the value of a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Changed while running, for this broker.
    DynamicBroker,
    /// Changed while running, for all brokers.
    DynamicDefault,
    /// Written down at the start.
    Static,
    /// Nobody set it.
    Default,
}

impl Source {
    /// Returns the number DescribeConfigs uses (Kafka's `ConfigSource`).
    #[must_use]
    pub fn code(self) -> i8 {
        match self {
            Self::DynamicBroker => 2,
            Self::DynamicDefault => 3,
            Self::Static => 4,
            Self::Default => 5,
        }
    }
}

#[derive(Debug, Default)]
struct Dynamic {
    cluster: BTreeMap<String, String>,
    broker: BTreeMap<String, String>,
}

/// The configuration in force, and where it comes from.
#[derive(Debug)]
pub struct LiveConfig {
    base: BrokerConfig,
    origin: Origin,
    dynamic: Mutex<Dynamic>,
    current: Arc<ArcSwap<BrokerConfig>>,
}

impl LiveConfig {
    /// Begins with what was written down.
    #[must_use]
    pub fn new(base: BrokerConfig, origin: Origin) -> Self {
        let current = Arc::new(ArcSwap::from_pointee(base.clone()));
        Self { base, origin, dynamic: Mutex::default(), current }
    }

    /// Returns the configuration in force now.
    #[must_use]
    pub fn current(&self) -> Arc<BrokerConfig> {
        self.current.load_full()
    }

    /// Returns the handle through which changes are seen as they happen.
    #[must_use]
    pub fn handle(&self) -> Arc<ArcSwap<BrokerConfig>> {
        Arc::clone(&self.current)
    }

    /// Replaces what was changed for `scope`, and returns the settings that were left out for not being valid: what
    /// other programs wrote into ZooKeeper must not stop a broker.
    pub fn apply(&self, scope: DynamicScope, settings: BTreeMap<String, String>) -> Vec<ConfigError> {
        let mut dynamic = self.lock();
        match scope {
            DynamicScope::Cluster => dynamic.cluster = settings,
            DynamicScope::Broker => dynamic.broker = settings,
        }
        let mut config = self.base.clone();
        let mut errors = Vec::new();
        for (key, value) in dynamic.cluster.iter().chain(&dynamic.broker) {
            if let Err(problem) = set_dynamic(&mut config, key, value) {
                errors.push(ConfigError { place: Place::Dynamic, key: key.clone(), problem });
            }
        }
        self.current.store(Arc::new(config));
        errors
    }

    /// Returns where the value of `key` comes from.
    #[must_use]
    pub fn source(&self, key: &str) -> Source {
        let dynamic = self.lock();
        if dynamic.broker.contains_key(key) {
            Source::DynamicBroker
        } else if dynamic.cluster.contains_key(key) {
            Source::DynamicDefault
        } else if self.origin.contains_key(key) {
            Source::Static
        } else {
            Source::Default
        }
    }

    /// Returns the values written down for `key`, the one in force first, each with where it comes from; the default
    /// comes last.
    #[must_use]
    pub fn layers(&self, key: &str) -> Vec<(String, Source)> {
        let dynamic = self.lock();
        let written = [
            (dynamic.broker.get(key), Source::DynamicBroker),
            (dynamic.cluster.get(key), Source::DynamicDefault),
            (self.origin.get(key), Source::Static),
        ];
        let written = written.into_iter().filter_map(|(value, source)| Some((value?.clone(), source)));
        let default = BrokerConfig::key(key).filter(|row| !row.default.is_empty());
        written.chain(default.map(|row| (row.default.to_owned(), Source::Default))).collect()
    }

    /// Returns the settings changed for all brokers.
    #[must_use]
    pub fn cluster_settings(&self) -> BTreeMap<String, String> {
        self.lock().cluster.clone()
    }

    /// Returns whether `key` may be changed to `value` while running.
    ///
    /// # Errors
    /// When there is no such key, it needs a restart, or the text is not one of its values.
    pub fn check_change(&self, key: &str, value: &str) -> Result<(), Problem> {
        set_dynamic(&mut self.current().as_ref().clone(), key, value)
    }

    fn lock(&self) -> MutexGuard<'_, Dynamic> {
        self.dynamic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn set_dynamic(config: &mut BrokerConfig, key: &str, value: &str) -> Result<(), Problem> {
    match BrokerConfig::key(key) {
        Some(row) if row.update == Update::ReadOnly => {
            Err(Problem::Conflict("changes only with a restart".to_owned()))
        }
        Some(_) => config.set(key, value),
        None => Err(Problem::Unknown { nearest: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_broker_wins_over_the_cluster_and_both_over_what_was_written() {
        let mut base = BrokerConfig::default();
        base.set("num.io.threads", "4").unwrap();
        let live = LiveConfig::new(base, settings(&[("num.io.threads", "4")]));
        assert_eq!(live.source("num.io.threads"), Source::Static);
        assert!(live.apply(DynamicScope::Cluster, settings(&[("num.io.threads", "5")])).is_empty());
        assert_eq!(
            (live.current().num_io_threads, live.source("num.io.threads")),
            (5, Source::DynamicDefault)
        );
        assert!(live.apply(DynamicScope::Broker, settings(&[("num.io.threads", "6")])).is_empty());
        assert_eq!(
            (live.current().num_io_threads, live.source("num.io.threads")),
            (6, Source::DynamicBroker)
        );
        live.apply(DynamicScope::Broker, BTreeMap::new());
        live.apply(DynamicScope::Cluster, BTreeMap::new());
        assert_eq!((live.current().num_io_threads, live.source("num.network.threads")), (4, Source::Default));
    }

    #[test]
    fn what_is_not_valid_is_left_out_and_told() {
        let live = LiveConfig::new(BrokerConfig::default(), Origin::new());
        let bad =
            settings(&[("broker.id", "9"), ("num.io.threads", "0"), ("log.retention.ms", "7"), ("x", "y")]);
        let keys: Vec<_> = live.apply(DynamicScope::Broker, bad).into_iter().map(|error| error.key).collect();
        assert_eq!(keys, ["broker.id", "num.io.threads", "x"]);
        assert_eq!(live.current().log_retention_ms, Some(7));
        assert!(live.check_change("num.io.threads", "9").is_ok());
        assert!(live.check_change("listeners", "PLAINTEXT://:1").is_err());
    }
}
