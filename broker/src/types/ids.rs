//! Identifiers and epochs as they travel in requests and in ZooKeeper nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares a number that only compares with its own kind.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }
    };
}

number! {
    /// A broker's id: unique in the cluster, never reused while the broker's data lives.
    BrokerId(i32)
}

number! {
    /// Counts the leaders of one partition; grows with every election, even when the same broker wins.
    LeaderEpoch(i32)
}

number! {
    /// Counts the controllers of the cluster; a command with a lower one is refused.
    ControllerEpoch(i32)
}

number! {
    /// The data version of a partition's state node, `zkVersion` in older requests.
    PartitionEpoch(i32)
}

number! {
    /// The transaction id that created the broker's registration node: a new one for every registration.
    BrokerEpoch(i64)
}

impl BrokerId {
    /// No broker: what a leader field holds while a partition has none.
    pub const NONE: Self = Self(-1);
}

impl LeaderEpoch {
    /// Not known, or not sent by the client.
    pub const UNKNOWN: Self = Self(-1);

    /// Returns the epoch of the next election.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl BrokerEpoch {
    /// Not known, or sent by a peer older than broker epochs.
    pub const UNKNOWN: Self = Self(-1);
}
