//! Offsets by time, and the ends of epochs.

use ottla_protocol::message::ErrorCode;

use super::error_code;
use super::hosted::{HostedPartition, Reader};
use super::machine::{EpochEnd, Partition};
use super::manager::ReplicaManager;
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset, TopicPartition};

/// Who asks for offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetsReader {
    /// A client: what it could fetch, from the leader.
    Client {
        /// Whether it reads committed transactions only.
        committed: bool,
    },
    /// A follower: the leader's log end offset.
    Follower(BrokerId),
    /// A debugging consumer (replica id −2): the log end offset of any local replica, leader or follower.
    Debugging,
}

/// What is asked for, by the special timestamps of the ListOffsets request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetQuery {
    /// −1: the end.
    Latest,
    /// −2 and −4: the beginning.
    Earliest,
    /// −3: the record with the largest timestamp.
    MaxTimestamp,
    /// −5: the end of what is in tiered storage, which there is none of.
    LatestTiered,
    /// The first record at or after this moment.
    At(Millis),
}

impl OffsetQuery {
    /// Reads the timestamp field of a request.
    ///
    /// # Errors
    /// UNSUPPORTED_VERSION for a negative number without a meaning in this version.
    pub fn from_wire(timestamp: i64, version: i16) -> Result<Self, ErrorCode> {
        match timestamp {
            0.. => Ok(Self::At(Millis(timestamp))),
            -1 => Ok(Self::Latest),
            -2 => Ok(Self::Earliest),
            -3 if version >= 7 => Ok(Self::MaxTimestamp),
            -4 if version >= 8 => Ok(Self::Earliest),
            -5 if version >= 9 => Ok(Self::LatestTiered),
            _ => Err(ErrorCode::UnsupportedVersion),
        }
    }
}

/// An offset that was found; all −1 when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundOffset {
    /// The record's timestamp; −1 for the ends.
    pub timestamp: Millis,
    /// The offset.
    pub offset: Offset,
    /// The epoch the offset belongs to; −1 when not known.
    pub leader_epoch: LeaderEpoch,
}

impl FoundOffset {
    /// There is no such record.
    pub const NONE: Self =
        Self { timestamp: Millis(-1), offset: Offset::UNKNOWN, leader_epoch: LeaderEpoch::UNKNOWN };
}

impl ReplicaManager {
    /// Finds an offset of one partition.
    ///
    /// # Errors
    /// As for fetching; OFFSET_NOT_AVAILABLE right after an election, until the new leader knows how far it is committed.
    pub fn list_offset(
        &self,
        id: &TopicPartition,
        reader: OffsetsReader,
        leader_epoch: Option<LeaderEpoch>,
        query: OffsetQuery,
    ) -> Result<FoundOffset, ErrorCode> {
        let partition = self.hosted(id)?;
        if reader == OffsetsReader::Debugging {
            // A replica that the controller has not addressed yet is shown, too.
            let upper = partition.readable_end(Reader::Follower);
            return self.find(&partition, query, upper, false);
        }
        partition.ask(|machine| machine.check_readable(leader_epoch, true))?;
        let (upper, is_client) = match reader {
            OffsetsReader::Client { committed: true } => {
                (partition.readable_end(Reader::CommittedConsumer), true)
            }
            OffsetsReader::Client { committed: false } => (partition.readable_end(Reader::Consumer), true),
            OffsetsReader::Follower(_) | OffsetsReader::Debugging => {
                (partition.readable_end(Reader::Follower), false)
            }
        };
        self.find(&partition, query, upper, is_client)
    }

    fn find(
        &self,
        partition: &HostedPartition,
        query: OffsetQuery,
        upper: Offset,
        is_client: bool,
    ) -> Result<FoundOffset, ErrorCode> {
        let log = partition.log();
        let end_known = || {
            if is_client { partition.ask(Partition::check_end_known) } else { Ok(()) }
        };
        let failed = |error: crate::log::Error| {
            self.note_log_error(partition, &error);
            error_code::of_read(&error)
        };
        let found = match query {
            OffsetQuery::Latest => {
                end_known()?;
                let leader_epoch = partition.ask(Partition::leader_epoch);
                return Ok(FoundOffset { timestamp: Millis(-1), offset: upper, leader_epoch });
            }
            OffsetQuery::Earliest => {
                let offset = log.log_start_offset();
                return Ok(FoundOffset {
                    timestamp: Millis(-1),
                    offset,
                    leader_epoch: log.epoch_for_offset(offset).unwrap_or(LeaderEpoch::UNKNOWN),
                });
            }
            OffsetQuery::LatestTiered => return Ok(FoundOffset::NONE),
            OffsetQuery::MaxTimestamp => log.max_timestamp_offset(upper).map_err(failed)?,
            OffsetQuery::At(moment) => log.offset_for_timestamp(moment, upper).map_err(failed)?,
        };
        let Some(found) = found else {
            // What is beyond the known end may become readable; only then is there certainly nothing.
            end_known()?;
            return Ok(FoundOffset::NONE);
        };
        Ok(FoundOffset {
            timestamp: found.timestamp,
            offset: found.offset,
            leader_epoch: found.leader_epoch.unwrap_or(LeaderEpoch::UNKNOWN),
        })
    }

    /// Returns where an epoch ends in one partition: the largest epoch not above it, and its end.
    ///
    /// # Errors
    /// As for fetching from a leader.
    pub fn offset_for_leader_epoch(
        &self,
        id: &TopicPartition,
        current: Option<LeaderEpoch>,
        epoch: LeaderEpoch,
    ) -> Result<Option<EpochEnd>, ErrorCode> {
        let partition = self.hosted(id)?;
        partition.ask(|machine| machine.check_readable(current, true))?;
        Ok(partition.epoch_end(epoch))
    }
}
