//! Which brokers hold a partition.

use crate::types::BrokerId;

/// The replicas of a partition in order of preference, and those a running reassignment adds and removes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// All of them, the added and the removed ones included.
    pub replicas: Vec<BrokerId>,
    /// Those a reassignment brings in.
    pub adding: Vec<BrokerId>,
    /// Those a reassignment takes away.
    pub removing: Vec<BrokerId>,
}

impl Assignment {
    /// Returns whether `broker` holds a replica.
    #[must_use]
    pub fn contains(&self, broker: BrokerId) -> bool {
        self.replicas.contains(&broker)
    }
}
