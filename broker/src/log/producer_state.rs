//! What is known of the producers that wrote to a log: epochs, sequences, open transactions.
//!
//! Plain data. It decides whether a produced batch is new, a repetition or out of order (Kafka: `ProducerStateManager`,
//! `ProducerAppendInfo`), and from which offset on transactions are undecided. Rebuilt by replaying batch headers.

use std::collections::BTreeMap;

use super::entry_header::EntryHeader;
use crate::types::{Millis, Offset};

/// How many batches of a producer are remembered: as many as a client may have in flight.
const WINDOW: usize = 5;

/// One remembered batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RememberedBatch {
    /// The sequence of its last record.
    pub last_sequence: i32,
    /// The offset of its last record.
    pub last_offset: Offset,
    /// The last offset relative to the first.
    pub offset_delta: i32,
    /// Its largest timestamp.
    pub timestamp: Millis,
}

/// What is known of one producer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProducerEntry {
    /// Its latest epoch.
    pub epoch: i16,
    /// The epoch of the coordinator that wrote its last marker, −1 for none.
    pub coordinator_epoch: i32,
    /// When it was last heard of.
    pub last_timestamp: Millis,
    /// Where its open transaction began.
    pub transaction_start: Option<Offset>,
    /// Its last batches, oldest first, at most five.
    pub batches: Vec<RememberedBatch>,
}

/// A marker that ends a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker {
    /// Whether the transaction's records count.
    pub commit: bool,
    /// The epoch of the coordinator that wrote it.
    pub coordinator_epoch: i32,
}

/// A transaction that a marker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedTransaction {
    /// Whose it was.
    pub producer_id: i64,
    /// Its first record.
    pub first_offset: Offset,
    /// Its marker.
    pub last_offset: Offset,
    /// Whether its records are void.
    pub aborted: bool,
    /// Up to where everything was decided at that moment.
    pub last_stable_offset: Offset,
}

/// Who asks for an append, which decides how strictly it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A producer: sequences and epochs are checked.
    Client,
    /// A coordinator of this broker: epochs are checked.
    Coordinator,
}

/// Why a produced batch is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The sequence does not follow.
    OutOfOrderSequence {
        /// The last sequence known, −1 for none.
        last_sequence: i32,
    },
    /// A newer epoch is known.
    Fenced {
        /// That epoch.
        current: i16,
    },
    /// The marker's coordinator was replaced.
    CoordinatorFenced {
        /// The epoch of the last marker.
        current: i32,
    },
    /// Plain data of a producer whose transaction is open.
    NotInTransaction,
}

/// The producers of one log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ProducerStates {
    producers: BTreeMap<i64, ProducerEntry>,
    /// Open transactions by first offset.
    open: BTreeMap<Offset, i64>,
    /// Ended transactions whose marker is not below the high watermark yet: first offset to marker.
    unreplicated: BTreeMap<Offset, Offset>,
}

impl ProducerEntry {
    fn new(epoch: i16) -> Self {
        let last_timestamp = Millis(-1);
        Self { epoch, coordinator_epoch: -1, last_timestamp, transaction_start: None, batches: Vec::new() }
    }

    fn last_sequence(&self) -> i32 {
        self.batches.last().map_or(-1, |batch| batch.last_sequence)
    }

    fn raise_epoch(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.batches.clear();
        }
    }

    fn remember(&mut self, batch: RememberedBatch) {
        if self.batches.len() >= WINDOW {
            self.batches.remove(0);
        }
        self.batches.push(batch);
    }
}

impl ProducerStates {
    /// Returns the producers by id.
    #[must_use]
    pub(super) fn producers(&self) -> &BTreeMap<i64, ProducerEntry> {
        &self.producers
    }

    /// Takes producers as a snapshot holds them.
    #[must_use]
    pub(super) fn from_producers(producers: BTreeMap<i64, ProducerEntry>) -> Self {
        let open = producers.iter().filter_map(|(id, entry)| Some((entry.transaction_start?, *id))).collect();
        Self { producers, open, unreplicated: BTreeMap::new() }
    }

    /// Returns the remembered batch that `batch` repeats: same epoch, same first and last sequence.
    #[must_use]
    pub(super) fn duplicate_of(&self, batch: &EntryHeader) -> Option<RememberedBatch> {
        let entry =
            self.producers.get(&batch.producer_id).filter(|entry| entry.epoch == batch.producer_epoch)?;
        let last_sequence = batch.last_sequence();
        let same = |known: &&RememberedBatch| {
            known.last_sequence == last_sequence && known.offset_delta == batch.offset_delta()
        };
        entry.batches.iter().find(same).copied()
    }

    /// Checks that a produced batch may be appended.
    ///
    /// # Errors
    /// The rule it breaks.
    pub(super) fn check(
        &self,
        batch: &EntryHeader,
        marker: Option<Marker>,
        origin: Origin,
    ) -> Result<(), Refusal> {
        let Some(entry) = self.producers.get(&batch.producer_id) else { return Ok(()) };
        if batch.producer_epoch < entry.epoch {
            return Err(Refusal::Fenced { current: entry.epoch });
        }
        if let Some(marker) = marker {
            let fenced = marker.coordinator_epoch < entry.coordinator_epoch;
            return if fenced {
                Err(Refusal::CoordinatorFenced { current: entry.coordinator_epoch })
            } else {
                Ok(())
            };
        }
        if origin == Origin::Client {
            check_sequence(entry, batch)?;
        }
        if entry.transaction_start.is_some() && !batch.is_transactional() {
            return Err(Refusal::NotInTransaction);
        }
        Ok(())
    }

    /// Notes a batch that is in the log. Returns the transaction that it ended.
    pub(super) fn apply(
        &mut self,
        batch: &EntryHeader,
        marker: Option<Marker>,
    ) -> Option<CompletedTransaction> {
        if !batch.has_producer() {
            return None;
        }
        let entry = self
            .producers
            .entry(batch.producer_id)
            .or_insert_with(|| ProducerEntry::new(batch.producer_epoch));
        entry.raise_epoch(batch.producer_epoch);
        entry.last_timestamp = batch.max_timestamp;
        if let Some(marker) = marker {
            entry.coordinator_epoch = marker.coordinator_epoch;
            let first_offset = entry.transaction_start.take()?;
            return Some(self.complete(batch, first_offset, marker));
        }
        if batch.is_control() {
            return None;
        }
        entry.remember(RememberedBatch {
            last_sequence: batch.last_sequence(),
            last_offset: batch.last_offset,
            offset_delta: batch.offset_delta(),
            timestamp: batch.max_timestamp,
        });
        if batch.is_transactional() && entry.transaction_start.is_none() {
            entry.transaction_start = Some(batch.base_offset);
            self.open.insert(batch.base_offset, batch.producer_id);
        }
        None
    }

    fn complete(
        &mut self,
        batch: &EntryHeader,
        first_offset: Offset,
        marker: Marker,
    ) -> CompletedTransaction {
        self.open.remove(&first_offset);
        self.unreplicated.insert(first_offset, batch.last_offset);
        let next_open = self.open.first_key_value().map(|(first, _)| *first);
        CompletedTransaction {
            producer_id: batch.producer_id,
            first_offset,
            last_offset: batch.last_offset,
            aborted: !marker.commit,
            last_stable_offset: next_open.unwrap_or_else(|| batch.last_offset.plus(1)),
        }
    }

    /// Returns where the earliest transaction begins that is open, or ended by a marker that is not replicated yet.
    #[must_use]
    pub(super) fn first_unstable_offset(&self) -> Option<Offset> {
        let open = self.open.first_key_value().map(|(first, _)| *first);
        let unreplicated = self.unreplicated.first_key_value().map(|(first, _)| *first);
        [open, unreplicated].into_iter().flatten().min()
    }

    /// Forgets ended transactions whose marker is below the high watermark.
    pub(super) fn high_watermark_reached(&mut self, high_watermark: Offset) {
        if !self.unreplicated.is_empty() {
            self.unreplicated.retain(|_, marker| *marker >= high_watermark);
        }
    }

    /// Forgets producers that were not heard of for `expiration` and have no open transaction.
    pub(super) fn expire(&mut self, now: Millis, expiration: Millis) {
        self.producers.retain(|_, entry| {
            entry.transaction_start.is_some() || now.since(entry.last_timestamp) < expiration
        });
    }
}

fn check_sequence(entry: &ProducerEntry, batch: &EntryHeader) -> Result<(), Refusal> {
    let last_sequence = entry.last_sequence();
    if batch.producer_epoch != entry.epoch {
        // A new epoch begins a new count.
        return if batch.base_sequence == 0 {
            Ok(())
        } else {
            Err(Refusal::OutOfOrderSequence { last_sequence })
        };
    }
    let follows = if last_sequence == i32::MAX { 0 } else { last_sequence + 1 };
    if batch.base_sequence == follows { Ok(()) } else { Err(Refusal::OutOfOrderSequence { last_sequence }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::entry_header::Parsed;

    fn batch(id: i64, epoch: i16, sequence: i32, offset: i64, count: i32) -> EntryHeader {
        let bytes =
            std::fs::read(format!("{}/tests/vectors/v2-none.log", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let Parsed::Header(header) = EntryHeader::parse(&bytes) else { panic!("a header") };
        EntryHeader {
            producer_id: id,
            producer_epoch: epoch,
            base_sequence: sequence,
            base_offset: Offset(offset),
            last_offset: Offset(offset + i64::from(count) - 1),
            ..header
        }
    }

    fn transactional(batch: EntryHeader) -> EntryHeader {
        EntryHeader { attributes: 1 << 4, ..batch }
    }

    fn marker(id: i64, epoch: i16, offset: i64) -> EntryHeader {
        EntryHeader { attributes: 3 << 4, ..batch(id, epoch, -1, offset, 1) }
    }

    const COMMIT: Option<Marker> = Some(Marker { commit: true, coordinator_epoch: 3 });
    const ABORT: Option<Marker> = Some(Marker { commit: false, coordinator_epoch: 3 });

    #[test]
    fn a_sequence_must_follow_the_last_of_its_epoch() {
        let mut states = ProducerStates::default();
        states.apply(&batch(7, 2, 10, 0, 5), None);
        let out_of_order = Err(Refusal::OutOfOrderSequence { last_sequence: 14 });
        let cases = [
            (batch(7, 2, 15, 5, 1), Ok(())),
            (batch(7, 2, 16, 5, 1), out_of_order),
            (batch(7, 2, 14, 5, 1), out_of_order),
            (batch(7, 3, 0, 5, 1), Ok(())),
            (batch(7, 3, 15, 5, 1), out_of_order),
            (batch(7, 1, 15, 5, 1), Err(Refusal::Fenced { current: 2 })),
            (batch(8, 0, 99, 5, 1), Ok(())),
        ];
        for (batch, expected) in cases {
            assert_eq!(states.check(&batch, None, Origin::Client), expected, "{batch:?}");
        }
        states.check(&batch(7, 2, 99, 5, 1), None, Origin::Coordinator).unwrap();
    }

    #[test]
    fn sequences_wrap_to_zero() {
        let mut states = ProducerStates::default();
        states.apply(&batch(7, 0, i32::MAX - 1, 0, 2), None);
        states.check(&batch(7, 0, 0, 2, 1), None, Origin::Client).unwrap();
        states.check(&batch(7, 0, 1, 2, 1), None, Origin::Client).unwrap_err();
        let wrapping = batch(7, 0, i32::MAX, 2, 3);
        states.apply(&wrapping, None);
        assert_eq!(states.duplicate_of(&wrapping).unwrap().last_sequence, 1);
    }

    #[test]
    fn the_last_five_batches_are_known_again() {
        let mut states = ProducerStates::default();
        let batches: Vec<_> = (0..7).map(|at| batch(7, 0, at * 2, i64::from(at) * 10, 2)).collect();
        for batch in &batches {
            states.apply(batch, None);
        }
        for (at, batch) in batches.iter().enumerate() {
            let found = states.duplicate_of(batch).map(|known| known.last_offset);
            assert_eq!(found, (at >= 2).then_some(batch.last_offset), "batch {at}");
        }
        assert_eq!(states.duplicate_of(&EntryHeader { producer_epoch: 1, ..batches[6] }), None);
        assert_eq!(states.duplicate_of(&batch(7, 0, 12, 60, 1)), None);
    }

    #[test]
    fn a_transaction_is_unstable_until_its_marker_is_replicated() {
        let mut states = ProducerStates::default();
        states.apply(&transactional(batch(1, 0, 0, 0, 2)), None);
        states.apply(&transactional(batch(2, 0, 0, 2, 3)), None);
        assert_eq!(states.first_unstable_offset(), Some(Offset(0)));
        assert_eq!(states.check(&batch(1, 0, 2, 5, 1), None, Origin::Client), Err(Refusal::NotInTransaction));
        let ended = states.apply(&marker(1, 0, 5), ABORT).unwrap();
        let expected = CompletedTransaction {
            producer_id: 1,
            first_offset: Offset(0),
            last_offset: Offset(5),
            aborted: true,
            last_stable_offset: Offset(2),
        };
        assert_eq!(ended, expected);
        assert_eq!(states.first_unstable_offset(), Some(Offset(0)));
        states.high_watermark_reached(Offset(5));
        assert_eq!(states.first_unstable_offset(), Some(Offset(0)));
        states.high_watermark_reached(Offset(6));
        assert_eq!(states.first_unstable_offset(), Some(Offset(2)));
        let ended = states.apply(&marker(2, 0, 6), COMMIT).unwrap();
        assert_eq!((ended.aborted, ended.last_stable_offset), (false, Offset(7)));
        assert_eq!(states.apply(&marker(2, 0, 7), COMMIT), None);
        let old = Some(Marker { commit: true, coordinator_epoch: 2 });
        let refused = states.check(&marker(2, 0, 8), old, Origin::Coordinator);
        assert_eq!(refused, Err(Refusal::CoordinatorFenced { current: 3 }));
    }

    #[test]
    fn idle_producers_are_forgotten_but_not_in_a_transaction() {
        let mut states = ProducerStates::default();
        let at = |batch: EntryHeader, time| EntryHeader { max_timestamp: Millis(time), ..batch };
        states.apply(&at(batch(1, 0, 0, 0, 1), 100), None);
        states.apply(&at(transactional(batch(2, 0, 0, 1, 1)), 100), None);
        states.apply(&at(batch(3, 0, 0, 2, 1), 200), None);
        states.expire(Millis(200), Millis(100));
        assert_eq!(states.producers().keys().copied().collect::<Vec<_>>(), [2, 3]);
    }
}
