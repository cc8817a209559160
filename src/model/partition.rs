//! Partitions: who leads, who follows, who is in sync, how far each log reaches.

use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch};
use serde::{Deserialize, Serialize};

use super::update::ReplicaOffsets;

/// How much a new rate counts against the ones before it, so that a figure on the screen can be read.
const RATE_WEIGHT: f64 = 0.5;

/// What can become known of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionUpdate {
    /// Its state node.
    State(PartitionState),
    /// It has no state node: nobody was elected yet.
    Stateless,
}

/// A partition's state node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    /// Who leads; [`BrokerId::NONE`] while nobody does.
    pub leader: BrokerId,
    /// How many leaders there have been.
    pub leader_epoch: LeaderEpoch,
    /// The controller that wrote this.
    pub controller_epoch: ControllerEpoch,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// The node's version.
    pub partition_epoch: PartitionEpoch,
}

/// One copy of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replica {
    /// The first offset it still has.
    pub log_start_offset: Option<Offset>,
    /// The offset of its next record.
    pub log_end_offset: Option<Offset>,
    /// The first offset that is not committed, as it knows it.
    pub high_watermark: Option<Offset>,
    /// The bytes of its segments.
    pub size_bytes: Option<u64>,
    /// When its offsets were read.
    pub seen: Option<Millis>,
    /// How many records it is behind the leader; `None` while either end is unknown.
    pub lag: Option<i64>,
}

/// A time without anybody to write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaderless {
    /// Since when.
    pub since: Millis,
    /// Who led before.
    pub was: Option<BrokerId>,
}

/// What is wrong with a partition, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartitionHealth {
    /// Nobody serves it.
    pub offline: bool,
    /// Fewer replicas are in sync than are assigned.
    pub under_replicated: bool,
    /// It is led, but not by its preferred leader.
    pub not_preferred: bool,
}

impl PartitionHealth {
    /// Returns the gravest finding in a word.
    pub fn word(self) -> &'static str {
        if self.offline {
            "offline"
        } else if self.under_replicated {
            "under-replicated"
        } else if self.not_preferred {
            "not preferred"
        } else {
            "ok"
        }
    }
}

/// What is known of a partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Partition {
    /// The assigned replicas, the preferred leader first.
    pub replicas: Vec<BrokerId>,
    /// Its state node, once there is one.
    pub state: Option<PartitionState>,
    /// Its copies, those assigned and those still being read.
    pub logs: BTreeMap<BrokerId, Replica>,
    /// Set while nobody serves it.
    pub leaderless: Option<Leaderless>,
    /// Since when each assigned replica has been out of the in-sync set.
    pub out_of_sync_since: BTreeMap<BrokerId, Millis>,
    /// What is wrong with it.
    pub health: PartitionHealth,
    /// Records per second, from the growth of its leader's log.
    pub records_per_second: f64,
    /// Whether its last records came within the last few seconds.
    measured: Option<(Millis, Offset)>,
}

impl Partition {
    /// Returns who leads, whether or not that broker is alive.
    pub fn leader(&self) -> Option<BrokerId> {
        self.state.as_ref().map(|state| state.leader).filter(|leader| *leader != BrokerId::NONE)
    }

    /// Returns who should lead when all is well.
    pub fn preferred_leader(&self) -> Option<BrokerId> {
        self.replicas.first().copied()
    }

    /// Returns the in-sync replicas.
    pub fn isr(&self) -> &[BrokerId] {
        self.state.as_ref().map_or(&[], |state| &state.isr)
    }

    /// Returns the leader's log.
    pub fn leader_log(&self) -> Option<&Replica> {
        self.logs.get(&self.leader()?)
    }

    /// Returns the offset of the next record: the leader's, or while its is unknown the furthest of any copy.
    pub fn log_end_offset(&self) -> Option<Offset> {
        self.leader_log()
            .and_then(|log| log.log_end_offset)
            .or_else(|| self.logs.values().filter_map(|log| log.log_end_offset).max())
    }

    /// Returns the first offset that can still be read.
    pub fn log_start_offset(&self) -> Option<Offset> {
        self.leader_log()
            .and_then(|log| log.log_start_offset)
            .or_else(|| self.logs.values().filter_map(|log| log.log_start_offset).min())
    }

    /// Returns the first offset that is not committed, as the leader knows it.
    pub fn high_watermark(&self) -> Option<Offset> {
        self.leader_log()
            .and_then(|log| log.high_watermark)
            .or_else(|| self.logs.values().filter_map(|log| log.high_watermark).max())
    }

    /// Returns where a consumer that has read everything stands.
    pub fn readable_end(&self) -> Option<Offset> {
        self.high_watermark().or_else(|| self.log_end_offset())
    }

    /// Returns the bytes of the leader's segments, or while they are unknown those of the largest copy.
    pub fn size_bytes(&self) -> Option<u64> {
        self.leader_log()
            .and_then(|log| log.size_bytes)
            .or_else(|| self.logs.values().filter_map(|log| log.size_bytes).max())
    }

    /// Returns how far the slowest assigned replica is behind, as far as that is known.
    pub fn replica_lag_max(&self) -> Option<i64> {
        self.replicas.iter().filter_map(|broker| self.logs.get(broker)?.lag).max()
    }

    /// Takes in the reading of one copy.
    pub(super) fn apply_offsets(&mut self, now: Millis, broker: BrokerId, read: &ReplicaOffsets) {
        let log = self.logs.entry(broker).or_default();
        log.log_start_offset = read.log_start_offset.or(log.log_start_offset);
        log.log_end_offset = read.log_end_offset.or(log.log_end_offset);
        log.high_watermark = read.high_watermark.or(log.high_watermark);
        log.size_bytes = read.size_bytes.or(log.size_bytes);
        log.seen = Some(now);
        self.settle_lag();
        if self.leader() == Some(broker) {
            self.settle_rate(now);
        }
    }

    /// Works out how far each copy is behind the leader's.
    pub(super) fn settle_lag(&mut self) {
        let leader = self.leader();
        let end = leader.and_then(|leader| self.logs.get(&leader)?.log_end_offset);
        for (broker, log) in &mut self.logs {
            log.lag = if Some(*broker) == leader {
                log.log_end_offset.map(|_| 0)
            } else {
                end.zip(log.log_end_offset).map(|(end, own)| end.distance_from(own))
            };
        }
    }

    fn settle_rate(&mut self, now: Millis) {
        let Some(end) = self.leader_log().and_then(|log| log.log_end_offset) else { return };
        if let Some((then, before)) = self.measured {
            let elapsed_ms = now.since(then).0;
            if elapsed_ms <= 0 {
                return;
            }
            let rate = end.distance_from(before) as f64 * 1000.0 / elapsed_ms as f64;
            let smooth = self.records_per_second + (rate - self.records_per_second) * RATE_WEIGHT;
            self.records_per_second = if smooth < 0.05 { 0.0 } else { smooth };
        }
        self.measured = Some((now, end));
    }
}
