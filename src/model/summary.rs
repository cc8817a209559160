//! Sums over all partitions, kept up to date by what each change takes away and adds.

use std::collections::BTreeMap;

use ottla_broker::types::BrokerId;

use super::partition::Partition;

/// Sums over the whole cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Partitions.
    pub partitions: i64,
    /// Partitions that nobody serves.
    pub offline: i64,
    /// Partitions with fewer replicas in sync than assigned.
    pub under_replicated: i64,
    /// Partitions led by another than their preferred leader.
    pub not_preferred: i64,
    /// Records per second.
    pub records_per_second: f64,
    /// What each broker has of it.
    pub shares: BTreeMap<BrokerId, BrokerShare>,
    /// Brokers that serve.
    pub brokers_up: usize,
    /// Brokers that are known.
    pub brokers: usize,
    /// Groups between two assignments.
    pub rebalancing: usize,
    /// The sum of all groups' lags.
    pub lag: i64,
}

/// What one broker has of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BrokerShare {
    /// Partitions it leads.
    pub leaders: i64,
    /// Partitions it should lead.
    pub preferred: i64,
    /// Partitions it holds a copy of.
    pub replicas: i64,
    /// Copies of it that are not in sync.
    pub out_of_sync: i64,
    /// Records per second into the partitions it leads.
    pub records_per_second: f64,
    /// Records its copies are behind.
    pub lag: i64,
}

impl Summary {
    /// Returns the share of partitions that are not led by their preferred leader.
    pub fn imbalance(&self) -> f64 {
        if self.partitions > 0 { self.not_preferred as f64 / self.partitions as f64 } else { 0.0 }
    }

    /// Returns what a broker has.
    pub fn share(&self, broker: BrokerId) -> BrokerShare {
        self.shares.get(&broker).copied().unwrap_or_default()
    }

    /// Counts a partition in.
    pub(super) fn add(&mut self, partition: &Partition) {
        self.count(partition, 1);
    }

    /// Counts a partition out, before it changes or goes.
    pub(super) fn remove(&mut self, partition: &Partition) {
        self.count(partition, -1);
    }

    fn count(&mut self, partition: &Partition, sign: i64) {
        let health = partition.health;
        self.partitions += sign;
        self.offline += sign * i64::from(health.offline);
        self.under_replicated += sign * i64::from(health.under_replicated);
        self.not_preferred += sign * i64::from(health.not_preferred);
        let rate = partition.records_per_second * sign as f64;
        self.records_per_second = (self.records_per_second + rate).max(0.0);
        for (place, broker) in partition.replicas.iter().enumerate() {
            let in_sync = partition.isr().contains(broker);
            let share = self.shares.entry(*broker).or_default();
            share.replicas += sign;
            share.preferred += sign * i64::from(place == 0);
            share.out_of_sync += sign * i64::from(!in_sync);
            share.lag += sign * partition.logs.get(broker).and_then(|log| log.lag).unwrap_or(0);
        }
        if let Some(leader) = partition.leader() {
            let share = self.shares.entry(leader).or_default();
            share.leaders += sign;
            share.records_per_second = (share.records_per_second + rate).max(0.0);
        }
    }
}
