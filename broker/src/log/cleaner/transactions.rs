//! Which batches belong to aborted transactions, and when a marker has nothing left to mark (Kafka:
//! `CleanedTransactionMetadata`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::log::entry_header::EntryHeader;
use crate::log::producer_state::Marker;
use crate::log::transaction_index::AbortedTransaction;

/// Follows the transactions of a log from batch to batch.
#[derive(Debug)]
pub(super) struct Transactions {
    /// Aborted ones that have not begun yet, by first offset.
    upcoming: VecDeque<AbortedTransaction>,
    /// Aborted ones that have begun, by producer, and whether a batch of theirs was seen.
    aborted: BTreeMap<i64, (AbortedTransaction, bool)>,
    /// Producers with data in a transaction that is not aborted.
    committed: BTreeSet<i64>,
    /// Aborted ones whose marker stays.
    still_marked: Vec<AbortedTransaction>,
}

impl Transactions {
    pub(super) fn new(mut aborted: Vec<AbortedTransaction>) -> Self {
        aborted.sort_unstable_by_key(|transaction| transaction.first_offset);
        Self {
            upcoming: aborted.into(),
            aborted: BTreeMap::new(),
            committed: BTreeSet::new(),
            still_marked: Vec::new(),
        }
    }

    /// Takes the next batch. Returns whether it can be discarded: it is of an aborted transaction, or a marker of a
    /// transaction that has no batch left.
    pub(super) fn is_discardable(&mut self, header: &EntryHeader, marker: Option<Marker>) -> bool {
        while let Some(next) = self.upcoming.pop_front_if(|next| next.first_offset <= header.base_offset) {
            self.aborted.entry(next.producer_id).or_insert((next, false));
        }
        if header.is_control() {
            return marker.is_some_and(|marker| self.ends_nothing(header.producer_id, marker));
        }
        if !header.is_transactional() {
            return false;
        }
        if let Some((_, seen)) = self.aborted.get_mut(&header.producer_id) {
            *seen = true;
            return true;
        }
        self.committed.insert(header.producer_id);
        false
    }

    fn ends_nothing(&mut self, producer_id: i64, marker: Marker) -> bool {
        if marker.commit {
            return !self.committed.remove(&producer_id);
        }
        match self.aborted.remove(&producer_id) {
            Some((transaction, true)) => {
                self.still_marked.push(transaction);
                false
            }
            _ => true,
        }
    }

    /// Returns the aborted transactions whose marker stays, since the last call.
    pub(super) fn take_still_marked(&mut self) -> Vec<AbortedTransaction> {
        std::mem::take(&mut self.still_marked)
    }
}
