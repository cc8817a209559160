//! Appending: what a leader writes for producers, and what a follower copies.

use std::io::IoSlice;
use std::sync::Arc;

use bytes::Bytes;

use super::entry_header::{EntryHeader, Parsed};
use super::error::{Error, Result};
use super::partition_log::{Appender, PartitionLog};
use super::producer_state::{Marker, Origin, Refusal, RememberedBatch};
use super::scan::marker_of;
use super::segment::{RELATIVE_OFFSET_MAX, Segment};
use super::transaction_index::AbortedTransaction;
use super::validate::{self, Validated};
use crate::types::{LeaderEpoch, Millis, Offset};

/// How a leader appends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendOptions {
    /// Who asks.
    pub origin: Origin,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendInfo {
    /// The offset of the first record.
    pub first_offset: Offset,
    /// The offset of the last record.
    pub last_offset: Offset,
    /// The largest timestamp, −1 for none.
    pub max_timestamp: Millis,
    /// When it was appended, if the topic's timestamps are set by the leader.
    pub log_append_time: Option<Millis>,
    /// The log start offset at that moment.
    pub log_start_offset: Offset,
    /// Whether the producer had sent the same before: nothing was appended, the offsets are those of then.
    pub duplicate: bool,
}

/// An entry about to be written: its final header, and what it says about a transaction.
type Entry = (EntryHeader, Option<Marker>);

impl PartitionLog {
    /// Appends what a producer or a coordinator sent, as the leader of `epoch`: validates, gives offsets, writes once.
    ///
    /// # Errors
    /// What is wrong with the records, with the producer's sequence, or with the disk. Nothing was appended then.
    pub fn append_as_leader(
        &self,
        records: &Bytes,
        epoch: LeaderEpoch,
        options: AppendOptions,
    ) -> Result<AppendInfo> {
        self.check_usable()?;
        let config = self.config.load_full();
        let now = self.now();
        let validated = validate::produced(&self.name, records, &config, options.origin, now)?;
        let info = {
            let mut appender = self.lock_usable()?;
            self.append_validated(&mut appender, validated, epoch, options)
        };
        let info = info.map_err(|error| self.directory.note(error))?;
        self.flush_if_due()?;
        Ok(info)
    }

    fn append_validated(
        &self,
        appender: &mut Appender,
        mut validated: Validated,
        epoch: LeaderEpoch,
        options: AppendOptions,
    ) -> Result<AppendInfo> {
        self.refresh_producers(appender)?;
        let log_end = self.log_end_offset();
        let marker = validated.marker;
        if let Some(known) = self.check_producer(appender, &validated.header, marker, options.origin)? {
            return Ok(self.duplicate(known, validated.log_append_time));
        }
        validated.place_at(log_end, epoch);
        let header = validated.header;
        let segment_bytes = self.config.load().segment_bytes;
        if header.size > segment_bytes {
            return Err(Error::LargerThanSegment {
                partition: self.name.clone(),
                size: header.size.into(),
                limit: segment_bytes.into(),
            });
        }
        let mut parts = [IoSlice::new(&validated.header_bytes), IoSlice::new(&validated.records)];
        self.write(appender, &mut parts, std::iter::once((header, marker)))?;
        Ok(AppendInfo {
            first_offset: header.base_offset,
            last_offset: header.last_offset,
            max_timestamp: header.max_timestamp,
            log_append_time: validated.log_append_time,
            log_start_offset: self.log_start_offset(),
            duplicate: false,
        })
    }

    fn check_producer(
        &self,
        appender: &Appender,
        header: &EntryHeader,
        marker: Option<Marker>,
        origin: Origin,
    ) -> Result<Option<RememberedBatch>> {
        if !header.has_producer() {
            return Ok(None);
        }
        if origin == Origin::Client
            && let Some(known) = appender.producers.duplicate_of(header)
        {
            return Ok(Some(known));
        }
        match appender.producers.check(header, marker, origin) {
            Ok(()) => Ok(None),
            Err(refusal) => Err(self.refused(header, marker, refusal)),
        }
    }

    fn refused(&self, header: &EntryHeader, marker: Option<Marker>, refusal: Refusal) -> Error {
        let (partition, producer_id) = (self.name.clone(), header.producer_id);
        match refusal {
            Refusal::OutOfOrderSequence { last_sequence } => {
                let sequence = header.base_sequence;
                Error::OutOfOrderSequence { partition, producer_id, sequence, last_sequence }
            }
            Refusal::Fenced { current } => {
                Error::ProducerFenced { partition, producer_id, epoch: header.producer_epoch, current }
            }
            Refusal::CoordinatorFenced { current } => {
                let epoch = marker.map_or(-1, |marker| marker.coordinator_epoch);
                Error::CoordinatorFenced { partition, producer_id, epoch, current }
            }
            Refusal::NotInTransaction => Error::InvalidTransactionState {
                partition,
                producer_id,
                reason: "plain records while its transaction is open",
            },
        }
    }

    fn duplicate(&self, known: RememberedBatch, log_append_time: Option<Millis>) -> AppendInfo {
        AppendInfo {
            first_offset: known.last_offset.plus(-i64::from(known.offset_delta)),
            last_offset: known.last_offset,
            max_timestamp: known.timestamp,
            log_append_time: log_append_time.map(|_| known.timestamp),
            log_start_offset: self.log_start_offset(),
            duplicate: true,
        }
    }

    /// Appends what a leader sent, its offsets and epochs as they are. A batch that is cut at the end is left out.
    ///
    /// # Errors
    /// [`Error::CorruptBatch`], [`Error::OffsetsNotRising`], or what the disk answered. Batches before the failed one may
    /// have been appended: the log end says so.
    pub fn append_as_follower(&self, records: &Bytes) -> Result<Option<AppendInfo>> {
        self.check_usable()?;
        let whole = validate::replicated(&self.name, records)?;
        let bytes = records.get(..whole).unwrap_or_default();
        let Some((first, _)) = entries(bytes).next() else { return Ok(None) };
        let info = {
            let mut appender = self.lock_usable()?;
            self.append_replicated(&mut appender, bytes, &first)
        };
        let info = info.map_err(|error| self.directory.note(error))?;
        self.flush_if_due()?;
        Ok(Some(info))
    }

    fn append_replicated(
        &self,
        appender: &mut Appender,
        bytes: &[u8],
        first: &EntryHeader,
    ) -> Result<AppendInfo> {
        self.refresh_producers(appender)?;
        let first_offset = first.base_offset;
        self.check_rising(bytes, first)?;
        if first_offset < self.log_end_offset() {
            // The leader deleted records up to the middle of a batch, and this log is to start there (KAFKA-6975).
            let log_start = self.log_start_offset();
            self.start_over(appender, first_offset, log_start)?;
        }
        let mut rest = bytes;
        let mut max_timestamp = Millis(-1);
        while !rest.is_empty() {
            let (run, after) = rest.split_at(self.fitting(rest));
            max_timestamp =
                entries(run).map(|(header, _)| header.max_timestamp).fold(max_timestamp, Ord::max);
            self.write(appender, &mut [IoSlice::new(run)], entries(run))?;
            rest = after;
        }
        Ok(AppendInfo {
            first_offset,
            last_offset: self.log_end_offset().plus(-1),
            max_timestamp,
            log_append_time: None,
            log_start_offset: self.log_start_offset(),
            duplicate: false,
        })
    }

    fn check_rising(&self, bytes: &[u8], first: &EntryHeader) -> Result<()> {
        let log_end = self.log_end_offset();
        let not_rising = |offset| {
            let partition = self.name.clone();
            Err(Error::OffsetsNotRising { partition, offset, log_end })
        };
        let is_empty = self.log_start_offset() >= log_end;
        if first.base_offset < log_end && !(is_empty && first.last_offset >= log_end) {
            return not_rising(first.base_offset);
        }
        let mut expected = first.base_offset;
        for (header, _) in entries(bytes) {
            if header.base_offset < expected {
                return not_rising(header.base_offset);
            }
            expected = header.next_offset();
        }
        Ok(())
    }

    /// Returns how many bytes of `bytes` go into the active segment: at least one entry, else as many as fit.
    fn fitting(&self, bytes: &[u8]) -> usize {
        let limit = u64::from(self.config.load().segment_bytes);
        let room = limit.saturating_sub(self.segments.load().active().size());
        let mut taken = 0;
        let mut first_offset = None;
        for (header, _) in entries(bytes) {
            let first = *first_offset.get_or_insert(header.base_offset);
            let end = taken + u64::from(header.size);
            let out_of_range = header.last_offset.distance_from(first) > RELATIVE_OFFSET_MAX;
            if taken > 0 && (end > room || out_of_range) {
                break;
            }
            taken = end;
        }
        usize::try_from(taken).unwrap_or(usize::MAX).min(bytes.len())
    }

    /// Writes one run of entries to the active segment, rolling first if need be, and publishes the new end.
    fn write(
        &self,
        appender: &mut Appender,
        parts: &mut [IoSlice<'_>],
        run: impl Iterator<Item = Entry> + Clone,
    ) -> Result<()> {
        self.save_lowered_offsets()?;
        self.save_topic_id(appender)?;
        self.roll_if_due(appender, run.clone().map(|(header, _)| header))?;
        self.note_epochs(appender, run.clone().map(|(header, _)| header))?;
        let segment = self.segments.load().active().clone();
        let log_end = run.clone().last().map_or(self.log_end_offset(), |(header, _)| header.next_offset());
        let transactions_before = segment.transactions.entries().count();
        let interval = self.config.load().index_interval_bytes;
        let written = note_producers(appender, &segment, run.clone())
            .and_then(|()| segment.append(parts, run.map(|(header, _)| header), interval));
        if let Err(error) = written {
            segment.transactions.entries().forget_from(transactions_before);
            return Err(error);
        }
        appender.producers_stale = false;
        // Producer state first: whoever sees the new end must not see an older last stable offset.
        self.publish_first_unstable(appender);
        self.publish_end(log_end);
        Ok(())
    }

    /// Notes epochs that begin in the run; the file is written before the batches are.
    fn note_epochs(&self, appender: &mut Appender, run: impl Iterator<Item = EntryHeader>) -> Result<()> {
        let known = self.epochs.load();
        let mut changed = None;
        for header in run {
            let cache = changed.as_ref().unwrap_or(&**known);
            if cache.would_assign(header.leader_epoch, header.base_offset) {
                changed
                    .get_or_insert_with(|| (**known).clone())
                    .assign(header.leader_epoch, header.base_offset);
            }
        }
        let Some(changed) = changed else {
            return if appender.epochs_unsaved { self.save_epochs(appender, &known) } else { Ok(()) };
        };
        self.save_epochs(appender, &changed)?;
        self.epochs.store(Arc::new(changed));
        Ok(())
    }

    /// Notes that a leader epoch begins at `start`, as a new leader does before it appends.
    ///
    /// The file is written before the first append of the epoch, not here: an election of many partitions must not wait
    /// for the disk as often. An epoch without records can be forgotten by a crash, since whoever leads next has a newer.
    ///
    /// # Errors
    /// [`Error::EpochOutOfRange`] when `start` is above the log end; [`Error::Closed`] or [`Error::Offline`].
    pub fn assign_epoch_start(&self, epoch: LeaderEpoch, start: Offset) -> Result<()> {
        let mut appender = self.lock_usable()?;
        let log_end = self.log_end_offset();
        if start > log_end {
            return Err(Error::EpochOutOfRange { partition: self.name.clone(), epoch, start, log_end });
        }
        let known = self.epochs.load();
        if !known.would_assign(epoch, start) {
            return Ok(());
        }
        let mut changed = (**known).clone();
        changed.assign(epoch, start);
        appender.epochs_unsaved = true;
        self.epochs.store(Arc::new(changed));
        Ok(())
    }
}

/// Applies a run to the state of producers and indexes the transactions it aborts, before its bytes are written.
///
/// The index may then hold a transaction that did not end, which costs a reader nothing; one that is missing would
/// show aborted records.
fn note_producers(
    appender: &mut Appender,
    segment: &Segment,
    run: impl Iterator<Item = Entry>,
) -> Result<()> {
    for (header, marker) in run.filter(|(header, _)| header.has_producer()) {
        // Until the bytes are written, the state is ahead of the log.
        appender.producers_stale = true;
        if let Some(ended) = appender.producers.apply(&header, marker)
            && ended.aborted
        {
            segment.transactions.append(&AbortedTransaction::from(ended))?;
        }
    }
    Ok(())
}

/// Walks whole entries at the start of `bytes`.
pub(super) fn entries(bytes: &[u8]) -> Entries<'_> {
    Entries { rest: bytes }
}

/// The whole entries at the start of a buffer; ends at the first that is cut or none.
#[derive(Debug, Clone)]
pub(super) struct Entries<'a> {
    rest: &'a [u8],
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let Parsed::Header(header) = EntryHeader::parse(self.rest) else { return None };
        let (entry, rest) = self.rest.split_at_checked(usize::try_from(header.size).ok()?)?;
        self.rest = rest;
        let marker = if header.is_control() { marker_of(entry) } else { None };
        Some((header, marker))
    }
}
