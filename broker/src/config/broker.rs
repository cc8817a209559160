//! The broker's keys. Defaults are Kafka 3.9's where not said otherwise.

use super::key::{Valid, config_table};
use super::listener::Listener;
use super::value::{CleanupPolicy, CompressionType, TimestampType};

use Valid::{Any, AtLeast, Between, NotEmpty};

config_table! {
    /// Everything a broker can be told, one field for each key of the table.
    ///
    /// A field has the key's name with underscores. Numbers keep Kafka's units, which the names end in, and its special
    /// values (such as -1 for no limit).
    pub struct BrokerConfig;

    // Who and where.
    "broker.id" broker_id: i32 = "-1", AtLeast(-1), ReadOnly, "The broker's id; -1 lets the cluster generate one.";
    "broker.id.generation.enable" broker_id_generation_enable: bool = "true", Any, ReadOnly, "Generate an id when broker.id is -1.";
    "reserved.broker.max.id" reserved_broker_max_id: i32 = "1000", AtLeast(0), ReadOnly, "Largest id that people choose; generated ones lie above.";
    "broker.rack" broker_rack: Option<String> = "", Any, ReadOnly, "The rack this broker stands in; replicas of a partition are spread over racks.";
    "listeners" listeners: Vec<Listener> = "PLAINTEXT://127.0.0.1:9092", NotEmpty, ReadOnly, "Where the broker listens, as NAME://host:port. Kafka's default is every interface; this one is loopback only.";
    "advertised.listeners" advertised_listeners: Vec<Listener> = "", Any, ReadOnly, "Where clients and other brokers reach it; empty: as in listeners, with the ports that were really bound.";
    "listener.security.protocol.map" listener_security_protocol_map: Vec<String> = "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL", NotEmpty, ReadOnly, "The security protocol of each listener name, as NAME:PROTOCOL.";
    "inter.broker.listener.name" inter_broker_listener_name: Option<String> = "", Any, ReadOnly, "The listener that brokers use among each other; unset: the first with the protocol security.inter.broker.protocol.";
    "security.inter.broker.protocol" security_inter_broker_protocol: String = "PLAINTEXT", Valid::OneOf(&["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]), ReadOnly, "The protocol between brokers when no listener is named for it.";
    "inter.broker.protocol.version" inter_broker_protocol_version: String = "3.9-IV0", NotEmpty, ReadOnly, "The version that brokers speak among each other; only 3.9 is spoken.";

    // ZooKeeper and the controller.
    "zookeeper.connect" zookeeper_connect: Option<String> = "", Any, ReadOnly, "Servers of the ensemble and an optional chroot: h1:p1,h2:p2/chroot.";
    "zookeeper.session.timeout.ms" zookeeper_session_timeout_ms: i32 = "18000", AtLeast(1), ReadOnly, "After this long without contact the ensemble declares the broker dead.";
    "zookeeper.connection.timeout.ms" zookeeper_connection_timeout_ms: Option<i32> = "", AtLeast(1), ReadOnly, "How long a start waits for the first session; unset: as the session timeout.";
    "zookeeper.max.in.flight.requests" zookeeper_max_in_flight_requests: i32 = "10", AtLeast(1), ReadOnly, "Requests sent to ZooKeeper without waiting for the answers.";
    "zookeeper.set.acl" zookeeper_set_acl: bool = "false", Any, ReadOnly, "Protect the nodes that brokers create.";
    "controller.socket.timeout.ms" controller_socket_timeout_ms: i32 = "30000", AtLeast(1), ReadOnly, "How long the controller waits for a broker's answer.";
    "controlled.shutdown.enable" controlled_shutdown_enable: bool = "true", Any, ReadOnly, "Move leaderships away before stopping.";
    "controlled.shutdown.max.retries" controlled_shutdown_max_retries: i32 = "3", AtLeast(0), ReadOnly, "How often moving them is tried.";
    "controlled.shutdown.retry.backoff.ms" controlled_shutdown_retry_backoff_ms: i64 = "5000", AtLeast(0), ReadOnly, "The pause between tries.";
    "auto.leader.rebalance.enable" auto_leader_rebalance_enable: bool = "true", Any, ReadOnly, "Give leaderships back to preferred leaders from time to time.";
    "leader.imbalance.check.interval.seconds" leader_imbalance_check_interval_seconds: i64 = "300", AtLeast(1), ReadOnly, "How often the controller looks at the balance.";
    "leader.imbalance.per.broker.percentage" leader_imbalance_per_broker_percentage: i32 = "10", Between(0, 100), ReadOnly, "The imbalance of one broker from which leaders are moved.";
    "unclean.leader.election.enable" unclean_leader_election_enable: bool = "false", Any, ClusterWide, "Let a replica that is not in sync lead when no other is left; loses records.";
    "delete.topic.enable" delete_topic_enable: bool = "true", Any, ReadOnly, "Allow topics to be deleted.";

    // Topics.
    "auto.create.topics.enable" auto_create_topics_enable: bool = "true", Any, ReadOnly, "Create a topic when a client asks for one that does not exist.";
    "num.partitions" num_partitions: i32 = "1", AtLeast(1), ReadOnly, "Partitions of a topic created without a number.";
    "default.replication.factor" default_replication_factor: i32 = "1", AtLeast(1), ReadOnly, "Replicas of a topic created without a number.";
    "min.insync.replicas" min_insync_replicas: i32 = "1", AtLeast(1), ClusterWide, "Replicas that must be in sync for acks=all to be taken.";

    // Network.
    "num.network.threads" num_network_threads: i32 = "3", Between(1, 1024), ClusterWide, "Processors: threads that read requests and send answers.";
    "num.io.threads" num_io_threads: i32 = "8", Between(1, 1024), ClusterWide, "Handlers: threads that run requests.";
    "queued.max.requests" queued_max_requests: i32 = "500", Between(1, 1_000_000), ReadOnly, "Requests that wait for a handler before processors stop reading.";
    "socket.request.max.bytes" socket_request_max_bytes: i32 = "104857600", AtLeast(1024), ReadOnly, "Largest request; a larger one closes its connection.";
    "socket.send.buffer.bytes" socket_send_buffer_bytes: i32 = "-1", AtLeast(-1), ReadOnly, "Send buffer of each socket; -1 leaves it to the system. Kafka's default is 102400, which slows large fetches.";
    "socket.receive.buffer.bytes" socket_receive_buffer_bytes: i32 = "-1", AtLeast(-1), ReadOnly, "Receive buffer of each socket; -1 leaves it to the system. Kafka's default is 102400.";
    "socket.listen.backlog.size" socket_listen_backlog_size: i32 = "128", AtLeast(1), ReadOnly, "Connections that the system holds before they are accepted.";
    "max.connections" max_connections: i32 = "2147483647", AtLeast(0), ClusterWide, "Connections of the whole broker; at the limit new ones wait to be accepted.";
    "max.connections.per.ip" max_connections_per_ip: i32 = "2147483647", AtLeast(0), ClusterWide, "Connections from one address; more are closed.";
    "max.connections.per.ip.overrides" max_connections_per_ip_overrides: Vec<String> = "", Any, ClusterWide, "Other limits for some addresses, as address:count.";
    "connections.max.idle.ms" connections_max_idle_ms: i64 = "600000", AtLeast(1), ReadOnly, "A connection without traffic for this long is closed.";

    // Fetching and replication.
    "fetch.max.bytes" fetch_max_bytes: i32 = "57671680", AtLeast(1024), ReadOnly, "Most bytes in the answer to one fetch.";
    "fetch.purgatory.purge.interval.requests" fetch_purgatory_purge_interval_requests: i32 = "1000", Any, ReadOnly, "Completed fetches that may stay in the watch lists before these are swept.";
    "producer.purgatory.purge.interval.requests" producer_purgatory_purge_interval_requests: i32 = "1000", Any, ReadOnly, "The same for produces.";
    "delete.records.purgatory.purge.interval.requests" delete_records_purgatory_purge_interval_requests: i32 = "1", Any, ReadOnly, "The same for record deletions.";
    "max.incremental.fetch.session.cache.slots" max_incremental_fetch_session_cache_slots: i32 = "1000", AtLeast(0), ReadOnly, "Fetch sessions that are kept.";
    "replica.fetch.wait.max.ms" replica_fetch_wait_max_ms: i32 = "500", AtLeast(0), ReadOnly, "How long a leader may hold a follower's fetch; must stay below replica.lag.time.max.ms.";
    "replica.fetch.min.bytes" replica_fetch_min_bytes: i32 = "1", AtLeast(0), ReadOnly, "Bytes a follower waits for.";
    "replica.fetch.max.bytes" replica_fetch_max_bytes: i32 = "1048576", AtLeast(0), ReadOnly, "Bytes of one partition in a follower's fetch; a larger batch still comes whole.";
    "replica.fetch.response.max.bytes" replica_fetch_response_max_bytes: i32 = "10485760", AtLeast(0), ReadOnly, "Bytes of all partitions in a follower's fetch.";
    "replica.fetch.backoff.ms" replica_fetch_backoff_ms: i32 = "1000", AtLeast(0), ReadOnly, "The pause after a failed fetch.";
    "replica.socket.timeout.ms" replica_socket_timeout_ms: i32 = "30000", AtLeast(1), ReadOnly, "How long a follower waits for its leader's answer.";
    "replica.lag.time.max.ms" replica_lag_time_max_ms: i64 = "30000", AtLeast(1), ReadOnly, "A follower not caught up for this long leaves the in-sync replicas.";
    "num.replica.fetchers" num_replica_fetchers: i32 = "1", Between(1, 256), ClusterWide, "Threads that fetch from each leader.";
    "replica.high.watermark.checkpoint.interval.ms" replica_high_watermark_checkpoint_interval_ms: i64 = "5000", AtLeast(1), ReadOnly, "How often high watermarks are written to disk.";

    // Logs.
    "log.dir" log_dir: String = "/tmp/kafka-logs", NotEmpty, ReadOnly, "The directory of the logs when log.dirs is not set.";
    "log.dirs" log_dirs: Vec<String> = "", Any, ReadOnly, "The directories of the logs.";
    "log.segment.bytes" log_segment_bytes: i32 = "1073741824", AtLeast(14), ClusterWide, "Size at which a segment is closed.";
    "log.roll.ms" log_roll_ms: Option<i64> = "", AtLeast(1), ClusterWide, "Age at which a segment is closed; wins over log.roll.hours.";
    "log.roll.hours" log_roll_hours: i32 = "168", AtLeast(1), ReadOnly, "The same in hours.";
    "log.roll.jitter.ms" log_roll_jitter_ms: Option<i64> = "", AtLeast(0), ClusterWide, "Most that is taken off the age at random, so that segments do not all roll at once.";
    "log.roll.jitter.hours" log_roll_jitter_hours: i32 = "0", AtLeast(0), ReadOnly, "The same in hours.";
    "log.index.size.max.bytes" log_index_size_max_bytes: i32 = "10485760", AtLeast(4), ClusterWide, "Largest size of an index.";
    "log.index.interval.bytes" log_index_interval_bytes: i32 = "4096", AtLeast(0), ClusterWide, "Bytes between two entries of an index.";
    "log.retention.ms" log_retention_ms: Option<i64> = "", AtLeast(-1), ClusterWide, "Age at which records may go; -1 never; wins over minutes and hours.";
    "log.retention.minutes" log_retention_minutes: Option<i32> = "", AtLeast(-1), ReadOnly, "The same in minutes; wins over hours.";
    "log.retention.hours" log_retention_hours: i32 = "168", AtLeast(-1), ReadOnly, "The same in hours.";
    "log.retention.bytes" log_retention_bytes: i64 = "-1", AtLeast(-1), ClusterWide, "Size of a partition above which old segments go; -1 none.";
    "log.retention.check.interval.ms" log_retention_check_interval_ms: i64 = "300000", AtLeast(1), ReadOnly, "How often retention is looked at.";
    "log.cleanup.policy" log_cleanup_policy: CleanupPolicy = "delete", Any, ClusterWide, "delete, compact, or both.";
    "log.cleaner.enable" log_cleaner_enable: bool = "true", Any, ReadOnly, "Compact the topics that ask for it.";
    "log.cleaner.threads" log_cleaner_threads: i32 = "1", AtLeast(0), ClusterWide, "Threads that compact.";
    "log.cleaner.dedupe.buffer.size" log_cleaner_dedupe_buffer_size: i64 = "134217728", AtLeast(1), ClusterWide, "Memory for keys while compacting, over all threads.";
    "log.cleaner.backoff.ms" log_cleaner_backoff_ms: i64 = "15000", AtLeast(0), ClusterWide, "The pause when nothing was to compact.";
    "log.cleaner.delete.retention.ms" log_cleaner_delete_retention_ms: i64 = "86400000", AtLeast(0), ClusterWide, "How long tombstones are kept.";
    "log.cleaner.min.compaction.lag.ms" log_cleaner_min_compaction_lag_ms: i64 = "0", AtLeast(0), ClusterWide, "Age below which a record is not compacted.";
    "log.cleaner.max.compaction.lag.ms" log_cleaner_max_compaction_lag_ms: i64 = "9223372036854775807", AtLeast(1), ClusterWide, "Age at which a record must have been considered.";
    "log.cleaner.min.cleanable.ratio" log_cleaner_min_cleanable_ratio: f64 = "0.5", Between(0, 1), ClusterWide, "Share of not yet compacted bytes from which it is worth it.";
    "log.segment.delete.delay.ms" log_segment_delete_delay_ms: i64 = "60000", AtLeast(0), ClusterWide, "How long files stay after they were taken out of a log.";
    "log.flush.interval.messages" log_flush_interval_messages: i64 = "9223372036854775807", AtLeast(1), ClusterWide, "Records after which a log is synced to disk.";
    "log.flush.interval.ms" log_flush_interval_ms: Option<i64> = "", AtLeast(0), ClusterWide, "Age of unsynced records at which a log is synced.";
    "log.flush.scheduler.interval.ms" log_flush_scheduler_interval_ms: i64 = "9223372036854775807", AtLeast(1), ReadOnly, "How often that is looked at.";
    "log.flush.offset.checkpoint.interval.ms" log_flush_offset_checkpoint_interval_ms: i32 = "60000", AtLeast(0), ReadOnly, "How often recovery points are written.";
    "log.flush.start.offset.checkpoint.interval.ms" log_flush_start_offset_checkpoint_interval_ms: i32 = "60000", AtLeast(0), ReadOnly, "How often log start offsets are written.";
    "log.initial.task.delay.ms" log_initial_task_delay_ms: i64 = "30000", AtLeast(0), ReadOnly, "When the log's tasks run for the first time after a start.";
    "log.preallocate" log_preallocate: bool = "false", Any, ClusterWide, "Reserve a segment's space when it is made.";
    "log.message.timestamp.type" log_message_timestamp_type: TimestampType = "CreateTime", Any, ClusterWide, "Whose clock stamps records.";
    "log.message.timestamp.before.max.ms" log_message_timestamp_before_max_ms: i64 = "9223372036854775807", AtLeast(0), ClusterWide, "How far a record's time may lie back.";
    "log.message.timestamp.after.max.ms" log_message_timestamp_after_max_ms: i64 = "9223372036854775807", AtLeast(0), ClusterWide, "How far a record's time may lie ahead.";
    "log.message.downconversion.enable" log_message_downconversion_enable: bool = "true", Any, ClusterWide, "Convert records for clients that know only older formats.";
    "message.max.bytes" message_max_bytes: i32 = "1048588", AtLeast(0), ClusterWide, "Largest batch, with the 12 bytes of its offset and length.";
    "compression.type" compression_type: CompressionType = "producer", Any, ClusterWide, "How the leader stores batches.";
    "compression.gzip.level" compression_gzip_level: i32 = "-1", Between(-1, 9), ClusterWide, "Level of gzip; -1 the library's.";
    "compression.lz4.level" compression_lz4_level: i32 = "9", Between(1, 17), ClusterWide, "Level of lz4.";
    "compression.zstd.level" compression_zstd_level: i32 = "3", Between(-131_072, 22), ClusterWide, "Level of zstd.";
    "num.recovery.threads.per.data.dir" num_recovery_threads_per_data_dir: i32 = "1", Between(1, 256), ClusterWide, "Threads for each directory that load logs at a start.";
    "producer.id.expiration.ms" producer_id_expiration_ms: i32 = "86400000", AtLeast(1), ClusterWide, "Idle time after which a partition forgets a producer.";
    "producer.id.expiration.check.interval.ms" producer_id_expiration_check_interval_ms: i32 = "600000", AtLeast(1), ReadOnly, "How often that is looked at.";

    // Groups.
    "group.min.session.timeout.ms" group_min_session_timeout_ms: i32 = "6000", AtLeast(0), ReadOnly, "Least session timeout of a member.";
    "group.max.session.timeout.ms" group_max_session_timeout_ms: i32 = "1800000", AtLeast(0), ReadOnly, "Largest session timeout of a member.";
    "group.initial.rebalance.delay.ms" group_initial_rebalance_delay_ms: i32 = "3000", AtLeast(0), ReadOnly, "How long an empty group waits for more members.";
    "group.max.size" group_max_size: i32 = "2147483647", AtLeast(1), ReadOnly, "Most members of a group.";
    "offset.metadata.max.bytes" offset_metadata_max_bytes: i32 = "4096", AtLeast(0), ReadOnly, "Largest metadata of a committed offset.";
    "offsets.topic.num.partitions" offsets_topic_num_partitions: i32 = "50", AtLeast(1), ReadOnly, "Partitions of __consumer_offsets; never change it afterwards.";
    "offsets.topic.replication.factor" offsets_topic_replication_factor: i16 = "3", AtLeast(1), ReadOnly, "Replicas of __consumer_offsets; it is not created with fewer brokers.";
    "offsets.topic.segment.bytes" offsets_topic_segment_bytes: i32 = "104857600", AtLeast(1), ReadOnly, "Segment size of __consumer_offsets.";
    "offsets.topic.compression.codec" offsets_topic_compression_codec: i32 = "0", Between(0, 4), ReadOnly, "Codec of its batches, by its number in batch attributes.";
    "offsets.load.buffer.size" offsets_load_buffer_size: i32 = "5242880", AtLeast(1), ReadOnly, "Bytes read at once when a coordinator loads.";
    "offsets.commit.timeout.ms" offsets_commit_timeout_ms: i32 = "5000", AtLeast(1), ReadOnly, "How long a commit may take to be replicated.";
    "offsets.commit.required.acks" offsets_commit_required_acks: i16 = "-1", Between(-1, 1), ReadOnly, "Acknowledgements of a commit.";
    "offsets.retention.minutes" offsets_retention_minutes: i32 = "10080", AtLeast(1), ReadOnly, "How long offsets of an empty group are kept.";
    "offsets.retention.check.interval.ms" offsets_retention_check_interval_ms: i64 = "600000", AtLeast(1), ReadOnly, "How often that is looked at.";

    // Transactions.
    "transaction.state.log.num.partitions" transaction_state_log_num_partitions: i32 = "50", AtLeast(1), ReadOnly, "Partitions of __transaction_state.";
    "transaction.state.log.replication.factor" transaction_state_log_replication_factor: i16 = "3", AtLeast(1), ReadOnly, "Replicas of __transaction_state.";
    "transaction.state.log.min.isr" transaction_state_log_min_isr: i32 = "2", AtLeast(1), ReadOnly, "Its min.insync.replicas.";
    "transaction.state.log.segment.bytes" transaction_state_log_segment_bytes: i32 = "104857600", AtLeast(1), ReadOnly, "Its segment size.";

    // Ottla's own.
    "ottla.metrics.listen" ottla_metrics_listen: Option<String> = "127.0.0.1:0", Any, ReadOnly, "Address of the page of metrics (GET /metrics); port 0 lets the system choose; empty: none.";
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// What several keys say together: the finer unit wins.
impl BrokerConfig {
    /// Returns the directories of the logs.
    #[must_use]
    pub fn log_directories(&self) -> &[String] {
        if self.log_dirs.is_empty() { std::slice::from_ref(&self.log_dir) } else { &self.log_dirs }
    }

    /// Returns the age at which records may go, in milliseconds; -1 for never.
    #[must_use]
    pub fn effective_retention_ms(&self) -> i64 {
        let minutes = || self.log_retention_minutes.map(|minutes| scaled(minutes, MINUTE_MS));
        self.log_retention_ms.or_else(minutes).unwrap_or_else(|| scaled(self.log_retention_hours, HOUR_MS))
    }

    /// Returns the age at which a segment is closed, in milliseconds.
    #[must_use]
    pub fn effective_roll_ms(&self) -> i64 {
        self.log_roll_ms.unwrap_or_else(|| scaled(self.log_roll_hours, HOUR_MS))
    }

    /// Returns the most that is taken off that age, in milliseconds.
    #[must_use]
    pub fn effective_roll_jitter_ms(&self) -> i64 {
        self.log_roll_jitter_ms.unwrap_or_else(|| scaled(self.log_roll_jitter_hours, HOUR_MS))
    }

    /// Returns the age of unsynced records at which a log is synced, in milliseconds.
    #[must_use]
    pub fn effective_flush_ms(&self) -> i64 {
        self.log_flush_interval_ms.unwrap_or(self.log_flush_scheduler_interval_ms)
    }

    /// Returns how long a start waits for the first ZooKeeper session, in milliseconds.
    #[must_use]
    pub fn effective_zookeeper_connection_timeout_ms(&self) -> i32 {
        self.zookeeper_connection_timeout_ms.unwrap_or(self.zookeeper_session_timeout_ms)
    }

    /// Returns the limit of connections from `address`.
    #[must_use]
    pub fn connections_limit_of(&self, address: std::net::IpAddr) -> i32 {
        let own = self.max_connections_per_ip_overrides.iter().find_map(|entry| {
            let (host, limit) = entry.rsplit_once(':')?;
            let host: std::net::IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
            (host == address).then(|| limit.trim().parse().ok()).flatten()
        });
        own.unwrap_or(self.max_connections_per_ip)
    }
}

/// -1 stays -1 in every unit.
fn scaled(count: i32, unit_ms: i64) -> i64 {
    if count < 0 { -1 } else { i64::from(count).saturating_mul(unit_ms) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Value;

    #[test]
    fn every_default_is_a_value_and_reads_back_as_itself() {
        let config = BrokerConfig::default();
        for key in BrokerConfig::KEYS {
            let mut copy = config.clone();
            let text = config.get(key.name).unwrap();
            copy.set(key.name, &text).unwrap_or_else(|problem| panic!("{}: {problem}", key.name));
            assert_eq!(copy, config, "{}", key.name);
        }
    }

    #[test]
    fn the_finer_unit_wins() {
        let mut config = BrokerConfig::default();
        assert_eq!(config.effective_retention_ms(), 604_800_000);
        config.set("log.retention.minutes", "2").unwrap();
        assert_eq!(config.effective_retention_ms(), 120_000);
        config.set("log.retention.ms", "-1").unwrap();
        assert_eq!(config.effective_retention_ms(), -1);
    }

    #[test]
    fn an_address_can_have_its_own_limit() {
        let mut config = BrokerConfig::default();
        config.set("max.connections.per.ip", "5").unwrap();
        config.set("max.connections.per.ip.overrides", "127.0.0.1:9,[::1]:7").unwrap();
        assert_eq!(config.connections_limit_of("127.0.0.1".parse().unwrap()), 9);
        assert_eq!(config.connections_limit_of("::1".parse().unwrap()), 7);
        assert_eq!(config.connections_limit_of("10.0.0.1".parse().unwrap()), 5);
    }

    #[test]
    fn listeners_are_loopback_by_default() {
        assert_eq!(BrokerConfig::default().listeners.render(), "PLAINTEXT://127.0.0.1:9092");
    }
}
