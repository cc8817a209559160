//! What replication counts, under Kafka's names.

use std::sync::{Arc, Weak};

use super::machine::{PartitionView, RoleKind};
use super::manager::ReplicaManager;
use super::partition_metrics;
use crate::metrics::{Counter, Metrics, Samples};

/// Counters of the replica manager.
#[derive(Debug)]
pub(super) struct ReplicaMetrics {
    pub(super) isr_shrinks: Arc<Counter>,
    pub(super) isr_expands: Arc<Counter>,
    pub(super) failed_isr_updates: Arc<Counter>,
    pub(super) halted_partitions: Arc<Counter>,
    pub(super) committed_records_lost: Arc<Counter>,
    pub(super) bytes_in: Arc<Counter>,
    pub(super) bytes_out: Arc<Counter>,
    pub(super) replication_bytes_in: Arc<Counter>,
    pub(super) replication_bytes_out: Arc<Counter>,
    pub(super) produce_requests: Arc<Counter>,
    pub(super) failed_produce_requests: Arc<Counter>,
    pub(super) fetch_requests: Arc<Counter>,
    pub(super) failed_fetch_requests: Arc<Counter>,
}

impl ReplicaMetrics {
    pub(super) fn new(metrics: &Metrics) -> Self {
        let counter = |name, help| metrics.counter(name, help, &[]);
        Self {
            isr_shrinks: counter(
                "kafka_server_replicamanager_isrshrinks_total",
                "Proposals to drop replicas from the in-sync ones.",
            ),
            isr_expands: counter(
                "kafka_server_replicamanager_isrexpands_total",
                "Proposals to add replicas to the in-sync ones.",
            ),
            failed_isr_updates: counter(
                "kafka_server_replicamanager_failedisrupdates_total",
                "Proposals that the controller refused.",
            ),
            halted_partitions: counter(
                "kafka_server_replicafetchermanager_failedpartitions_total",
                "Times a partition stopped being replicated here until the controller's next command.",
            ),
            committed_records_lost: counter(
                "ottla_replica_truncations_below_high_watermark_total",
                "Truncations that took committed records, after an unclean election.",
            ),
            bytes_in: counter("kafka_server_brokertopicmetrics_bytesin_total", "Bytes from producers."),
            bytes_out: counter("kafka_server_brokertopicmetrics_bytesout_total", "Bytes to consumers."),
            replication_bytes_in: counter(
                "kafka_server_brokertopicmetrics_replicationbytesin_total",
                "Bytes from leaders.",
            ),
            replication_bytes_out: counter(
                "kafka_server_brokertopicmetrics_replicationbytesout_total",
                "Bytes to followers.",
            ),
            produce_requests: counter(
                "kafka_server_brokertopicmetrics_totalproducerequests_total",
                "Partitions of produce requests.",
            ),
            failed_produce_requests: counter(
                "kafka_server_brokertopicmetrics_failedproducerequests_total",
                "Partitions of produce requests that failed.",
            ),
            fetch_requests: counter(
                "kafka_server_brokertopicmetrics_totalfetchrequests_total",
                "Partitions of fetch requests.",
            ),
            failed_fetch_requests: counter(
                "kafka_server_brokertopicmetrics_failedfetchrequests_total",
                "Partitions of fetch requests that failed.",
            ),
        }
    }
}

/// Registers what is read when the page is printed.
pub(super) fn register(manager: &Arc<ReplicaManager>) {
    let weak: Weak<ReplicaManager> = Arc::downgrade(manager);
    manager.dependencies.metrics.collector(move |samples| {
        if let Some(manager) = weak.upgrade() {
            collect(&manager, samples);
        }
    });
}

/// How many partitions there are of each kind.
#[derive(Debug, Default)]
struct Census {
    partitions: usize,
    leaders: usize,
    offline: usize,
    under_replicated: usize,
    under_min_isr: usize,
    reassigning: usize,
    max_lag: i64,
}

impl Census {
    fn count(&mut self, view: &PartitionView, is_gone: bool) {
        self.partitions += 1;
        self.offline += usize::from(is_gone);
        if view.role != RoleKind::Leader {
            return;
        }
        self.leaders += 1;
        let target = view.assignment.replicas.len().saturating_sub(view.assignment.adding.len());
        self.under_replicated += usize::from(view.isr.len() < target);
        self.under_min_isr += usize::from(view.is_under_min_isr);
        let moves = !view.assignment.adding.is_empty() || !view.assignment.removing.is_empty();
        self.reassigning += usize::from(moves);
        let lags = view.followers.iter().map(|follower| view.log.end.distance_from(follower.log_end));
        self.max_lag = self.max_lag.max(lags.max().unwrap_or(0));
    }
}

fn collect(manager: &ReplicaManager, samples: &mut Samples) {
    let mut census = Census::default();
    for partition in manager.partitions() {
        census.count(&partition.ask(|machine| machine.view()), partition.is_gone());
        partition_metrics::collect(&partition, samples);
    }
    let mut gauge = |name, help, value: f64| samples.gauge(name, help, &[], value);
    gauge("kafka_server_replicamanager_partitioncount", "Partitions held here.", number(census.partitions));
    gauge("kafka_server_replicamanager_leadercount", "Partitions led here.", number(census.leaders));
    gauge(
        "kafka_server_replicamanager_offlinereplicacount",
        "Partitions held here whose disk has failed.",
        number(census.offline),
    );
    gauge(
        "kafka_server_replicamanager_underreplicatedpartitions",
        "Partitions led here with fewer in-sync replicas than replicas.",
        number(census.under_replicated),
    );
    gauge(
        "kafka_server_replicamanager_underminisrpartitioncount",
        "Partitions led here with too few in-sync replicas for acks=all.",
        number(census.under_min_isr),
    );
    gauge(
        "kafka_server_replicamanager_reassigningpartitions",
        "Partitions led here whose replicas are being moved.",
        number(census.reassigning),
    );
    #[expect(clippy::cast_precision_loss, reason = "a lag beyond 2^52 is printed rounded")]
    let max_lag = census.max_lag as f64;
    gauge(
        "ottla_replica_follower_lag_records_max",
        "Records that the slowest follower of a partition led here is behind.",
        max_lag,
    );
    gauge(
        "kafka_server_replicafetchermanager_fetcherthreads",
        "Threads that fetch from leaders.",
        number(manager.fetchers.threads()),
    );
    collect_purgatories(manager, samples);
}

fn collect_purgatories(manager: &ReplicaManager, samples: &mut Samples) {
    let sizes = [
        ("Produce", manager.produce_purgatory.delayed(), manager.produce_purgatory.watched()),
        ("Fetch", manager.fetch_purgatory.delayed(), manager.fetch_purgatory.watched()),
        ("DeleteRecords", manager.delete_purgatory.delayed(), manager.delete_purgatory.watched()),
    ];
    for (operation, delayed, watched) in sizes {
        let labels = [("delayedOperation", operation)];
        samples.gauge(
            "kafka_server_delayedoperationpurgatory_numdelayedoperations",
            "Operations that wait.",
            &labels,
            number(delayed),
        );
        samples.gauge(
            "kafka_server_delayedoperationpurgatory_purgatorysize",
            "Entries of the watch lists, completed ones included until they are swept out.",
            &labels,
            number(watched),
        );
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
