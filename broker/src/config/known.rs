//! Keys that Kafka 3.9 has for brokers and Ottla does not act on: a warning names them, they are no mistake.

/// Returns whether Kafka has a broker key of this name that is not in Ottla's table.
pub(crate) fn is_known_unsupported(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || is_listener_override(name)
}

/// `listener.name.<listener>.<key>` sets a security or connection key for one listener.
fn is_listener_override(name: &str) -> bool {
    name.strip_prefix("listener.name.").is_some_and(|rest| rest.contains('.'))
}

/// Families of keys, whole.
const PREFIXES: &[&str] =
    &["sasl.", "ssl.", "remote.log.", "zookeeper.ssl.", "password.encoder.", "delegation.token."];

/// Sorted.
const NAMES: &[&str] = &[
    "alter.config.policy.class.name",
    "alter.log.dirs.replication.quota.window.num",
    "alter.log.dirs.replication.quota.window.size.seconds",
    "authorizer.class.name",
    "auto.include.jmx.reporter",
    "background.threads",
    "broker.heartbeat.interval.ms",
    "broker.session.timeout.ms",
    "client.quota.callback.class",
    "connection.failed.authentication.delay.ms",
    "connections.max.reauth.ms",
    "control.plane.listener.name",
    "controller.listener.names",
    "controller.quorum.append.linger.ms",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.election.backoff.max.ms",
    "controller.quorum.election.timeout.ms",
    "controller.quorum.fetch.timeout.ms",
    "controller.quorum.request.timeout.ms",
    "controller.quorum.retry.backoff.ms",
    "controller.quorum.voters",
    "controller.quota.window.num",
    "controller.quota.window.size.seconds",
    "create.topic.policy.class.name",
    "early.start.listeners",
    "eligible.leader.replicas.enable",
    "group.consumer.assignors",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.max.heartbeat.interval.ms",
    "group.consumer.max.session.timeout.ms",
    "group.consumer.max.size",
    "group.consumer.migration.policy",
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.session.timeout.ms",
    "group.coordinator.append.linger.ms",
    "group.coordinator.new.enable",
    "group.coordinator.rebalance.protocols",
    "group.coordinator.threads",
    "initial.broker.registration.timeout.ms",
    "kafka.metrics.polling.interval.secs",
    "kafka.metrics.reporters",
    "leader.replication.throttled.rate",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.max.bytes.per.second",
    "log.dir.failure.timeout.ms",
    "log.local.retention.bytes",
    "log.local.retention.ms",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "max.connection.creation.rate",
    "metadata.log.dir",
    "metadata.log.max.record.bytes.between.snapshots",
    "metadata.log.max.snapshot.interval.ms",
    "metadata.log.segment.bytes",
    "metadata.log.segment.min.bytes",
    "metadata.log.segment.ms",
    "metadata.max.idle.interval.ms",
    "metadata.max.retention.bytes",
    "metadata.max.retention.ms",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "node.id",
    "num.replica.alter.log.dirs.threads",
    "principal.builder.class",
    "process.roles",
    "quota.window.num",
    "quota.window.size.seconds",
    "replica.selector.class",
    "replica.socket.receive.buffer.bytes",
    "replication.quota.window.num",
    "replication.quota.window.size.seconds",
    "request.timeout.ms",
    "sasl.mechanism.inter.broker.protocol",
    "security.providers",
    "server.max.startup.time.ms",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
    "telemetry.max.bytes",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    "transaction.max.timeout.ms",
    "transaction.partition.verification.enable",
    "transaction.remove.expired.transaction.cleanup.interval.ms",
    "transaction.state.log.load.buffer.size",
    "transactional.id.expiration.ms",
    "unclean.leader.election.interval.ms",
    "unstable.api.versions.enable",
    "unstable.feature.versions.enable",
    "zookeeper.clientCnxnSocket",
    "zookeeper.metadata.migration.enable",
    "zookeeper.metadata.migration.min.batch.size",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BrokerConfig;

    #[test]
    fn names_are_sorted_and_not_in_the_table() {
        assert!(NAMES.is_sorted());
        for key in BrokerConfig::KEYS {
            assert!(!is_known_unsupported(key.name), "{}", key.name);
        }
    }

    #[test]
    fn families_and_listener_overrides_are_known() {
        for name in
            ["ssl.keystore.location", "listener.name.repl.ssl.keystore.location", "replica.selector.class"]
        {
            assert!(is_known_unsupported(name), "{name}");
        }
        assert!(!is_known_unsupported("listener.name."));
    }
}
