//! The in-sync replicas as their leader sees them: what the controller has stored, and what it was asked to store.
//!
//! A leader never changes the set on its own word (KIP-497). While a proposal is under way it cannot know whether it is
//! in force already, so it counts as if the larger of both sets were: the high watermark waits for the *maximal* set,
//! while the check against `min.insync.replicas` before an append trusts only the committed one.

use std::collections::BTreeSet;

use ottla_protocol::message::ErrorCode;

use super::event::{IsrAnswer, LeaderRecovery};
use crate::types::{BrokerId, LeaderEpoch, PartitionEpoch};

/// A change the leader asks the controller for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsrProposal {
    /// The epoch in which the leader asks.
    pub leader_epoch: LeaderEpoch,
    /// The stored version the change builds on.
    pub partition_epoch: PartitionEpoch,
    /// The whole new set.
    pub isr: BTreeSet<BrokerId>,
}

/// What is stored, and what has been asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Isr {
    committed: BTreeSet<BrokerId>,
    recovery: LeaderRecovery,
    pending: Option<IsrProposal>,
}

/// What an answer from the controller leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reaction {
    /// The stored state is known again; it has this version.
    Committed(PartitionEpoch),
    /// The proposal was certainly not applied and is withdrawn.
    RolledBack,
    /// Whether it was applied cannot be known: a LeaderAndIsr with a newer state is on its way.
    AwaitsCommand,
    /// Ask again.
    Retry(IsrProposal),
    /// The answer belongs to something already settled.
    Ignored,
}

impl Isr {
    pub(super) fn new(committed: BTreeSet<BrokerId>, recovery: LeaderRecovery) -> Self {
        Self { committed, recovery, pending: None }
    }

    pub(super) fn committed(&self) -> &BTreeSet<BrokerId> {
        &self.committed
    }

    pub(super) fn recovery(&self) -> LeaderRecovery {
        self.recovery
    }

    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns whether `broker` is in the committed or the proposed set.
    pub(super) fn maximal_contains(&self, broker: BrokerId) -> bool {
        self.committed.contains(&broker) || self.proposed().is_some_and(|isr| isr.contains(&broker))
    }

    /// Returns the size of the union of the committed and the proposed set.
    pub(super) fn maximal_len(&self) -> usize {
        let added = self.proposed().map_or(0, |isr| isr.difference(&self.committed).count());
        self.committed.len() + added
    }

    /// Makes a proposal and counts with it from now on.
    pub(super) fn propose(
        &mut self,
        leader_epoch: LeaderEpoch,
        partition_epoch: PartitionEpoch,
        isr: BTreeSet<BrokerId>,
    ) -> IsrProposal {
        debug_assert!(self.pending.is_none(), "one change of a partition is under way at a time");
        let proposal = IsrProposal { leader_epoch, partition_epoch, isr };
        self.pending = Some(proposal.clone());
        proposal
    }

    /// Takes the controller's answer to `proposal`.
    pub(super) fn answered(
        &mut self,
        proposal: &IsrProposal,
        answer: Result<IsrAnswer, ErrorCode>,
        leader_epoch: LeaderEpoch,
        partition_epoch: PartitionEpoch,
    ) -> Reaction {
        if self.pending.as_ref() != Some(proposal) {
            return Reaction::Ignored;
        }
        match answer {
            Ok(state) if state.leader_epoch != leader_epoch => Reaction::AwaitsCommand,
            Ok(state) if state.partition_epoch < partition_epoch => Reaction::AwaitsCommand,
            Ok(state) => {
                *self = Self::new(state.isr, state.recovery);
                Reaction::Committed(state.partition_epoch)
            }
            // The controller says that this version is current and that it stored nothing.
            Err(ErrorCode::IneligibleReplica | ErrorCode::OperationNotAttempted) => {
                self.pending = None;
                Reaction::RolledBack
            }
            Err(
                ErrorCode::UnknownTopicOrPartition
                | ErrorCode::UnknownTopicId
                | ErrorCode::FencedLeaderEpoch
                | ErrorCode::InvalidUpdateVersion
                | ErrorCode::InvalidRequest,
            ) => Reaction::AwaitsCommand,
            Err(_) => Reaction::Retry(proposal.clone()),
        }
    }

    fn proposed(&self) -> Option<&BTreeSet<BrokerId>> {
        self.pending.as_ref().map(|proposal| &proposal.isr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[i32]) -> BTreeSet<BrokerId> {
        ids.iter().copied().map(BrokerId).collect()
    }

    fn pending(committed: &[i32], proposed: &[i32]) -> (Isr, IsrProposal) {
        let mut isr = Isr::new(set(committed), LeaderRecovery::Recovered);
        let proposal = isr.propose(LeaderEpoch(3), PartitionEpoch(7), set(proposed));
        (isr, proposal)
    }

    fn stored(leader_epoch: i32, partition_epoch: i32, isr: &[i32]) -> IsrAnswer {
        IsrAnswer {
            leader_epoch: LeaderEpoch(leader_epoch),
            partition_epoch: PartitionEpoch(partition_epoch),
            isr: set(isr),
            recovery: LeaderRecovery::Recovered,
        }
    }

    #[test]
    fn the_maximal_set_counts_both_while_a_change_is_under_way() {
        for (committed, proposed, maximal) in
            [(&[1, 2][..], &[1, 2, 3][..], &[1, 2, 3][..]), (&[1, 2, 3], &[1], &[1, 2, 3])]
        {
            let (isr, _) = pending(committed, proposed);
            assert_eq!(isr.maximal_len(), maximal.len());
            assert!(maximal.iter().all(|id| isr.maximal_contains(BrokerId(*id))));
            assert_eq!(isr.committed(), &set(committed));
        }
    }

    #[test]
    fn every_answer_has_its_reaction() {
        use Reaction::{AwaitsCommand, Committed, RolledBack};
        for (answer, reaction, still_pending) in [
            (Ok(stored(3, 8, &[1, 2, 3])), Committed(PartitionEpoch(8)), false),
            (Ok(stored(3, 7, &[1, 2, 3])), Committed(PartitionEpoch(7)), false),
            (Ok(stored(4, 8, &[1, 2])), AwaitsCommand, true),
            (Ok(stored(3, 6, &[1, 2])), AwaitsCommand, true),
            (Err(ErrorCode::IneligibleReplica), RolledBack, false),
            (Err(ErrorCode::OperationNotAttempted), RolledBack, false),
            (Err(ErrorCode::UnknownTopicOrPartition), AwaitsCommand, true),
            (Err(ErrorCode::UnknownTopicId), AwaitsCommand, true),
            (Err(ErrorCode::FencedLeaderEpoch), AwaitsCommand, true),
            (Err(ErrorCode::InvalidUpdateVersion), AwaitsCommand, true),
            (Err(ErrorCode::InvalidRequest), AwaitsCommand, true),
        ] {
            let (mut isr, proposal) = pending(&[1, 2], &[1, 2, 3]);
            let got = isr.answered(&proposal, answer.clone(), LeaderEpoch(3), PartitionEpoch(7));
            assert_eq!((got, isr.is_pending()), (reaction, still_pending), "{answer:?}");
        }
        let (mut isr, proposal) = pending(&[1, 2], &[1, 2, 3]);
        let refused = Err(ErrorCode::NotController);
        let got = isr.answered(&proposal, refused, LeaderEpoch(3), PartitionEpoch(7));
        assert_eq!(got, Reaction::Retry(proposal));
    }

    #[test]
    fn an_answer_to_something_else_changes_nothing() {
        let (mut isr, proposal) = pending(&[1, 2], &[1, 2, 3]);
        let other = IsrProposal { partition_epoch: PartitionEpoch(6), ..proposal };
        let before = isr.clone();
        let got = isr.answered(&other, Ok(stored(3, 9, &[1])), LeaderEpoch(3), PartitionEpoch(7));
        assert_eq!((got, isr), (Reaction::Ignored, before));
    }
}
