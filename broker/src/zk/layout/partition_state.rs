//! `/brokers/topics/T/partitions/P/state`: who leads the partition and who is in sync.
//!
//! The node's data version is the partition epoch; it is not part of the data.

use serde::{Deserialize, Serialize};

use super::error::{parse, render};
use super::{LayoutError, topic};
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, TopicPartition};

/// Whether the leader lost records in an unclean election and has not yet said that it dealt with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeaderRecoveryState {
    /// The ordinary state.
    #[default]
    Recovered,
    /// Elected outside the in-sync replicas.
    Recovering,
}

impl LeaderRecoveryState {
    /// Returns the number that stands for the state on the wire and in the node.
    #[must_use]
    pub fn code(self) -> i8 {
        match self {
            Self::Recovered => 0,
            Self::Recovering => 1,
        }
    }

    /// Returns the state that `code` stands for.
    #[must_use]
    pub fn from_code(code: i8) -> Option<Self> {
        match code {
            0 => Some(Self::Recovered),
            1 => Some(Self::Recovering),
            _ => None,
        }
    }
}

/// What the node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionState {
    /// The leader, [`BrokerId::NONE`] when there is none.
    pub leader: BrokerId,
    /// How many leaders there have been.
    pub leader_epoch: LeaderEpoch,
    /// The epoch of the controller that last wrote the node.
    pub controller_epoch: ControllerEpoch,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Whether the leader came from an unclean election.
    pub recovery: LeaderRecoveryState,
}

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    leader: BrokerId,
    leader_epoch: LeaderEpoch,
    controller_epoch: ControllerEpoch,
    isr: Vec<BrokerId>,
    #[serde(default, skip_serializing_if = "is_zero")]
    leader_recovery_state: i8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(code: &i8) -> bool {
    *code == 0
}

/// Returns the path of the partition's own node.
#[must_use]
pub fn partition_path(partition: &TopicPartition) -> String {
    format!("{}/{}", topic::partitions_path(&partition.topic), partition.partition)
}

/// Returns the path of the partition's state node.
#[must_use]
pub fn path(partition: &TopicPartition) -> String {
    format!("{}/state", partition_path(partition))
}

impl PartitionState {
    /// Returns the node's data.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        render(&Node {
            version: 1,
            leader: self.leader,
            leader_epoch: self.leader_epoch,
            controller_epoch: self.controller_epoch,
            isr: self.isr.clone(),
            leader_recovery_state: self.recovery.code(),
        })
    }

    /// Reads the data of the state node at `path`.
    ///
    /// # Errors
    /// When the data is not the node's JSON.
    pub fn decode(path: &str, data: &[u8]) -> Result<Self, LayoutError> {
        let node: Node = parse(path, data)?;
        let recovery = LeaderRecoveryState::from_code(node.leader_recovery_state).ok_or_else(|| {
            LayoutError::invalid(
                path,
                format!("unknown leader recovery state {}", node.leader_recovery_state),
            )
        })?;
        Ok(Self {
            leader: node.leader,
            leader_epoch: node.leader_epoch,
            controller_epoch: node.controller_epoch,
            isr: node.isr,
            recovery,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(recovery: LeaderRecoveryState) -> PartitionState {
        PartitionState {
            leader: BrokerId(2),
            leader_epoch: LeaderEpoch(7),
            controller_epoch: ControllerEpoch(17),
            isr: vec![BrokerId(2), BrokerId(3)],
            recovery,
        }
    }

    #[test]
    fn golden() {
        let recovered = br#"{"version":1,"leader":2,"leader_epoch":7,"controller_epoch":17,"isr":[2,3]}"#;
        assert_eq!(state(LeaderRecoveryState::Recovered).encode(), recovered);
        assert_eq!(PartitionState::decode("s", recovered).unwrap(), state(LeaderRecoveryState::Recovered));
        let recovering =
            br#"{"version":1,"leader":2,"leader_epoch":7,"controller_epoch":17,"isr":[2,3],"leader_recovery_state":1}"#;
        assert_eq!(state(LeaderRecoveryState::Recovering).encode(), recovering);
        assert_eq!(PartitionState::decode("s", recovering).unwrap(), state(LeaderRecoveryState::Recovering));
    }

    #[test]
    fn the_path_names_topic_and_partition() {
        assert_eq!(path(&TopicPartition::new("orders", 3)), "/brokers/topics/orders/partitions/3/state");
    }

    #[test]
    fn an_unknown_recovery_state_is_an_error() {
        let data =
            br#"{"version":1,"leader":2,"leader_epoch":7,"controller_epoch":17,"isr":[2],"leader_recovery_state":9}"#;
        assert!(PartitionState::decode("s", data).is_err());
    }
}
