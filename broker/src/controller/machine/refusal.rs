//! Why a request is refused, under the protocol's names and codes.

/// An error of the Kafka protocol that the controller answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The topic or partition is not known.
    UnknownTopicOrPartition,
    /// No broker has the id.
    BrokerNotAvailable,
    /// The controller's epoch is old.
    StaleControllerEpoch,
    /// The topic cannot be touched, for it is being deleted.
    InvalidTopic,
    /// The number of partitions is impossible.
    InvalidPartitions,
    /// The number of replicas is impossible.
    InvalidReplicationFactor,
    /// The replica list is impossible.
    InvalidReplicaAssignment,
    /// This broker is not the controller.
    NotController,
    /// The request contradicts itself.
    InvalidRequest,
    /// Another part of the request failed.
    OperationNotAttempted,
    /// A reassignment runs.
    ReassignmentInProgress,
    /// The leader's epoch is old.
    FencedLeaderEpoch,
    /// The broker's epoch is old.
    StaleBrokerEpoch,
    /// The preferred replica cannot lead.
    PreferredLeaderNotAvailable,
    /// No replica can lead.
    EligibleLeadersNotAvailable,
    /// The leader is already the wanted one.
    ElectionNotNeeded,
    /// No reassignment runs.
    NoReassignmentInProgress,
    /// The partition's epoch is old.
    InvalidUpdateVersion,
    /// The topic's id is not known.
    UnknownTopicId,
    /// A proposed in-sync replica is not alive.
    IneligibleReplica,
    /// ZooKeeper did not take the write.
    Unknown,
}

impl Refusal {
    /// Returns the protocol's code.
    #[must_use]
    pub fn code(self) -> i16 {
        match self {
            Self::Unknown => -1,
            Self::UnknownTopicOrPartition => 3,
            Self::BrokerNotAvailable => 8,
            Self::StaleControllerEpoch => 11,
            Self::InvalidTopic => 17,
            Self::InvalidPartitions => 37,
            Self::InvalidReplicationFactor => 38,
            Self::InvalidReplicaAssignment => 39,
            Self::NotController => 41,
            Self::InvalidRequest => 42,
            Self::OperationNotAttempted => 55,
            Self::ReassignmentInProgress => 60,
            Self::FencedLeaderEpoch => 74,
            Self::StaleBrokerEpoch => 77,
            Self::PreferredLeaderNotAvailable => 80,
            Self::EligibleLeadersNotAvailable => 83,
            Self::ElectionNotNeeded => 84,
            Self::NoReassignmentInProgress => 85,
            Self::InvalidUpdateVersion => 95,
            Self::UnknownTopicId => 100,
            Self::IneligibleReplica => 107,
        }
    }
}
