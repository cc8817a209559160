//! What is counted about groups, under Kafka's names.

use std::sync::Arc;
use std::time::Duration;

use super::machine::{Effect, Generation, Reply, Report, State};
use crate::metrics::{Counter, Histogram, Metrics};

/// Counters and the load time of the group coordinator.
#[derive(Debug)]
pub(super) struct CoordinatorMetrics {
    completed_rebalances: Arc<Counter>,
    committed_offsets: Arc<Counter>,
    expired_offsets: Arc<Counter>,
    expired_members: Arc<Counter>,
    load_time: Arc<Histogram>,
}

/// Every state, with the name of the gauge that counts the groups in it.
pub(super) const STATE_GAUGES: [(State, &str); 5] = [
    (State::Empty, "kafka_coordinator_group_groupmetadatamanager_numgroupsempty"),
    (State::PreparingRebalance, "kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance"),
    (State::CompletingRebalance, "kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance"),
    (State::Stable, "kafka_coordinator_group_groupmetadatamanager_numgroupsstable"),
    (State::Dead, "kafka_coordinator_group_groupmetadatamanager_numgroupsdead"),
];

impl CoordinatorMetrics {
    pub(super) fn new(metrics: &Metrics) -> Self {
        let counter = |name, help| metrics.counter(name, help, &[]);
        Self {
            completed_rebalances: counter(
                "kafka_server_group_coordinator_metrics_group_completed_rebalance_total",
                "Generations that were completed.",
            ),
            committed_offsets: counter(
                "kafka_server_group_coordinator_metrics_offset_commit_total",
                "Offsets that were committed.",
            ),
            expired_offsets: counter(
                "kafka_server_group_coordinator_metrics_offset_expiration_total",
                "Offsets that expired.",
            ),
            expired_members: counter(
                "ottla_group_coordinator_expired_members_total",
                "Members that were silent for their session timeout.",
            ),
            load_time: metrics.histogram(
                "kafka_server_group_coordinator_metrics_partition_load_time",
                "How long loading a partition of __consumer_offsets took.",
                &[],
            ),
        }
    }

    /// Counts what a shard wants done.
    pub(super) fn count(&self, effect: &Effect) {
        match effect {
            Effect::Report(Report::GenerationStarted { generation, .. })
                if *generation > Generation::ZERO =>
            {
                self.completed_rebalances.increment();
            }
            Effect::Report(Report::OffsetsExpired { count, .. }) => self.expired_offsets.add(*count as u64),
            Effect::Report(Report::MemberExpired { .. }) => self.expired_members.increment(),
            Effect::Reply { reply: Reply::Commit(reply), .. } => {
                let none = super::machine::ErrorCode::None;
                let committed = reply.partitions.iter().filter(|(_, error)| *error == none).count();
                self.committed_offsets.add(committed as u64);
            }
            Effect::Report(_) | Effect::Reply { .. } | Effect::Append { .. } => {}
        }
    }

    pub(super) fn loaded(&self, took: Duration) {
        self.load_time.observe(took);
    }
}
