//! Those who depend on who leads: the coordinators.

use crate::types::{LeaderEpoch, TopicPartition};

/// Told about every change of a partition's role on this broker, in the order of the controller's commands.
///
/// Called on the thread that runs the command, without locks held; it must not wait.
pub trait LeadershipListener: Send + Sync + std::fmt::Debug {
    /// This broker leads the partition from this epoch on. Called again when an election in which it stays the leader
    /// raises the epoch.
    fn became_leader(&self, partition: &TopicPartition, epoch: LeaderEpoch);

    /// Another broker leads the partition from this epoch on.
    fn became_follower(&self, partition: &TopicPartition, epoch: LeaderEpoch);

    /// This broker no longer takes part in the partition.
    fn stopped(&self, partition: &TopicPartition);
}
