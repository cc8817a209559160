//! What the machine knows about brokers, partitions and replicas.

use crate::types::ControllerEpoch;
use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch};
use crate::zk::layout::broker::Registration;
use crate::zk::layout::partition_state::{LeaderRecoveryState, PartitionState as StateNode};

/// What the machine is told once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// This broker.
    pub me: BrokerId,
    /// The listener that brokers use among each other.
    pub inter_broker_listener: String,
    /// `delete.topic.enable`.
    pub delete_topics: bool,
    /// `unclean.leader.election.enable`, the default of the topics.
    pub unclean_election: bool,
    /// `auto.leader.rebalance.enable`.
    pub auto_balance: bool,
    /// `leader.imbalance.check.interval.seconds`, in milliseconds.
    pub balance_interval_ms: i64,
    /// `leader.imbalance.per.broker.percentage`.
    pub imbalance_percentage: i32,
}

/// A broker that is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveBroker {
    /// Its epoch: the creation of its node.
    pub epoch: BrokerEpoch,
    /// What its node says.
    pub registration: Registration,
}

/// Who leads a partition and who is in sync, with the version of the node that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderAndIsr {
    /// The leader, [`BrokerId::NONE`] when there is none.
    pub leader: BrokerId,
    /// Grows with every election.
    pub leader_epoch: LeaderEpoch,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Whether the leader came from an unclean election and has not recovered yet.
    pub recovery: LeaderRecoveryState,
    /// The state node's data version.
    pub partition_epoch: PartitionEpoch,
    /// The controller that wrote the node.
    pub controller_epoch: ControllerEpoch,
}

impl LeaderAndIsr {
    /// Returns what a state node says.
    #[must_use]
    pub fn from_node(node: StateNode, version: i32) -> Self {
        Self {
            leader: node.leader,
            leader_epoch: node.leader_epoch,
            isr: node.isr,
            recovery: node.recovery,
            partition_epoch: PartitionEpoch(version),
            controller_epoch: node.controller_epoch,
        }
    }

    /// Returns the data of the state node, as the controller with this epoch writes it.
    #[must_use]
    pub fn to_node(&self, controller_epoch: ControllerEpoch) -> StateNode {
        StateNode {
            leader: self.leader,
            leader_epoch: self.leader_epoch,
            controller_epoch,
            isr: self.isr.clone(),
            recovery: self.recovery,
        }
    }
}

/// Where a partition stands. One that does not exist is not in the context, or its topic is being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionStatus {
    /// Has no state node yet: no replica was alive to lead it.
    New,
    /// Has a living leader.
    Online,
    /// Has none.
    Offline,
    /// Is being deleted.
    NonExistent,
}

/// Where a replica stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaStatus {
    /// About to be told that it exists.
    New,
    /// Its broker is alive.
    Online,
    /// Its broker, or its log directory, is not.
    Offline,
    /// Told to delete its log.
    DeletionStarted,
    /// Has deleted its log.
    DeletionSuccessful,
    /// Could not delete its log, or its broker is dead: deletion waits.
    DeletionIneligible,
}

impl ReplicaStatus {
    /// Says whether a replica may go from this status to `next` (Kafka's `ReplicaStateMachine`).
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use ReplicaStatus as S;
        matches!(
            (self, next),
            (S::New | S::Online | S::Offline | S::DeletionIneligible, S::Online | S::Offline)
                | (S::Offline, S::DeletionStarted | S::DeletionIneligible)
                | (S::DeletionStarted, S::DeletionSuccessful | S::DeletionIneligible)
        )
    }
}

impl PartitionStatus {
    /// Says whether a partition may go from this status to `next` (Kafka's `PartitionStateMachine`).
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use PartitionStatus as S;
        matches!(
            (self, next),
            (S::New | S::Online | S::Offline, S::Online | S::Offline)
                | (S::Offline, S::NonExistent)
                | (S::NonExistent, S::New)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kafkas_transitions_of_replicas() {
        use ReplicaStatus as S;
        let all =
            [S::New, S::Online, S::Offline, S::DeletionStarted, S::DeletionSuccessful, S::DeletionIneligible];
        let allowed = [
            (S::New, S::Online),
            (S::New, S::Offline),
            (S::Online, S::Online),
            (S::Online, S::Offline),
            (S::Offline, S::Online),
            (S::Offline, S::Offline),
            (S::Offline, S::DeletionStarted),
            (S::Offline, S::DeletionIneligible),
            (S::DeletionStarted, S::DeletionSuccessful),
            (S::DeletionStarted, S::DeletionIneligible),
            (S::DeletionIneligible, S::Online),
            (S::DeletionIneligible, S::Offline),
        ];
        for from in all {
            for to in all {
                assert_eq!(from.may_become(to), allowed.contains(&(from, to)), "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn only_kafkas_transitions_of_partitions() {
        use PartitionStatus as S;
        let all = [S::New, S::Online, S::Offline, S::NonExistent];
        let refused = [
            (S::New, S::New),
            (S::Online, S::New),
            (S::Offline, S::New),
            (S::New, S::NonExistent),
            (S::Online, S::NonExistent),
            (S::NonExistent, S::Online),
            (S::NonExistent, S::Offline),
            (S::NonExistent, S::NonExistent),
        ];
        for from in all {
            for to in all {
                assert_eq!(from.may_become(to), !refused.contains(&(from, to)), "{from:?} to {to:?}");
            }
        }
    }
}
