//! Where a group stands between two rebalances.

use std::fmt;

/// The states of a group.
///
/// ```text
///              join                all joined, or time is up            assignment is durable
///   Empty ──────────► PreparingRebalance ──────────► CompletingRebalance ──────────► Stable
///     ▲                 │   ▲    ▲ join with new metadata, leave, failed sync │         │
///     └── nobody left ──┘   │    └──────────────────────────────────────────┘         │
///                           └──────── join, leave, session expired ────────────────────┘
///   Empty ──► Dead: removed, or about to be
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No members; offsets may remain.
    Empty,
    /// Waiting for members to join.
    PreparingRebalance,
    /// Waiting for the leader's assignment.
    CompletingRebalance,
    /// Every member has an assignment.
    Stable,
    /// Being removed, or not there.
    Dead,
}

impl State {
    /// Returns the state as Kafka writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
        }
    }

    /// Returns whether the state can follow `earlier` (Kafka: `GroupMetadata.validPreviousStates`).
    pub(super) fn may_follow(self, earlier: Self) -> bool {
        match self {
            Self::Empty => earlier == Self::PreparingRebalance,
            Self::PreparingRebalance => {
                matches!(earlier, Self::Empty | Self::CompletingRebalance | Self::Stable)
            }
            Self::CompletingRebalance => earlier == Self::PreparingRebalance,
            Self::Stable => earlier == Self::CompletingRebalance,
            Self::Dead => true,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
