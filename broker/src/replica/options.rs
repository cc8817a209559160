//! What a replica manager needs to know, and what it needs from others.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{BrokerConfig, TopicConfig};
use crate::log::LogConfig;
use crate::metrics::Metrics;
use crate::types::{BrokerEpoch, BrokerId, Millis};

/// The keys of a broker's configuration that concern replication.
#[derive(Debug, Clone)]
pub struct ReplicaOptions {
    /// This broker.
    pub broker_id: BrokerId,
    /// The listener that brokers use among each other.
    pub inter_broker_listener: String,
    /// `replica.lag.time.max.ms`.
    pub lag_time_max: Millis,
    /// What a follower asks its leader for.
    pub fetcher: FetcherOptions,
    /// When watch lists are swept.
    pub purge_intervals: PurgeIntervals,
}

/// What a follower asks its leader for.
#[derive(Debug, Clone)]
pub struct FetcherOptions {
    /// `num.replica.fetchers`: threads for each leader.
    pub per_leader: usize,
    /// `replica.fetch.wait.max.ms`.
    pub max_wait_ms: i32,
    /// `replica.fetch.min.bytes`.
    pub min_bytes: i32,
    /// `replica.fetch.max.bytes`, of each partition.
    pub partition_max_bytes: i32,
    /// `replica.fetch.response.max.bytes`.
    pub response_max_bytes: i32,
    /// `replica.fetch.backoff.ms`.
    pub backoff: Duration,
    /// `replica.socket.timeout.ms`.
    pub socket_timeout: Duration,
}

/// After how many completed operations the remains are swept out of a purgatory's watch lists.
#[derive(Debug, Clone)]
pub struct PurgeIntervals {
    /// `producer.purgatory.purge.interval.requests`.
    pub produce: usize,
    /// `fetch.purgatory.purge.interval.requests`.
    pub fetch: usize,
    /// `delete.records.purgatory.purge.interval.requests`.
    pub delete: usize,
}

impl ReplicaOptions {
    /// Takes what concerns replication from a broker's configuration.
    #[must_use]
    pub fn of_config(broker_id: BrokerId, inter_broker_listener: &str, config: &BrokerConfig) -> Self {
        let at_least_one = |number: i32| usize::try_from(number).unwrap_or(0).max(1);
        let duration = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        Self {
            broker_id,
            inter_broker_listener: inter_broker_listener.to_owned(),
            lag_time_max: Millis(config.replica_lag_time_max_ms),
            fetcher: FetcherOptions {
                per_leader: at_least_one(config.num_replica_fetchers),
                max_wait_ms: config.replica_fetch_wait_max_ms,
                min_bytes: config.replica_fetch_min_bytes,
                partition_max_bytes: config.replica_fetch_max_bytes,
                response_max_bytes: config.replica_fetch_response_max_bytes,
                backoff: duration(i64::from(config.replica_fetch_backoff_ms)),
                socket_timeout: duration(i64::from(config.replica_socket_timeout_ms)),
            },
            purge_intervals: PurgeIntervals {
                produce: at_least_one(config.producer_purgatory_purge_interval_requests),
                fetch: at_least_one(config.fetch_purgatory_purge_interval_requests),
                delete: at_least_one(config.delete_records_purgatory_purge_interval_requests),
            },
        }
    }
}

/// What the manager needs from the rest of the broker.
#[derive(Clone)]
pub struct ReplicaDependencies {
    /// Where its metrics are registered.
    pub metrics: Arc<Metrics>,
    /// The epoch of this broker's registration; changes when it registers anew.
    pub broker_epoch: Arc<dyn Fn() -> BrokerEpoch + Send + Sync>,
    /// What holds for a topic: its own settings over the broker's defaults. Asked when a log is made; may read ZooKeeper.
    pub topic_config: Arc<dyn Fn(&str) -> TopicConfig + Send + Sync>,
    /// Where asynchronous work runs: the proposals to the controller.
    pub background: tokio::runtime::Handle,
}

impl ReplicaDependencies {
    pub(super) fn log_config(&self, topic: &str) -> (TopicConfig, LogConfig) {
        let config = (self.topic_config)(topic);
        let log_config = LogConfig::from(&config);
        (config, log_config)
    }
}

impl fmt::Debug for ReplicaDependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaDependencies").finish_non_exhaustive()
    }
}
