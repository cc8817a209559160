//! What the records of the internal topics mean: keys and values of `__consumer_offsets` and `__transaction_state`, and
//! the blobs by which consumers agree on an assignment.
//!
//! These are not messages: they are written to disk, in the versions that Kafka 3.9 writes, and read in every version
//! that Kafka ever wrote. An unknown key version is not an error but something to be skipped.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod consumer_protocol;
mod fields;
mod group;
mod offset;
mod transaction;

pub use consumer_protocol::{Assignment, Subscription, TopicPartitions};
pub use group::{GroupKey, GroupMember, GroupValue};
pub use offset::{OffsetKey, OffsetValue};
pub use transaction::{TransactionKey, TransactionStatus, TransactionValue};

use bytes::Bytes;

use crate::wire::DecodeError;

/// A key of `__consumer_offsets`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsumerOffsetsKey {
    /// A committed offset.
    Offset(OffsetKey),
    /// A group.
    Group(GroupKey),
    /// Something of a later version, to be skipped.
    Unknown(i16),
}

impl ConsumerOffsetsKey {
    /// Reads a key.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        match fields::version(bytes)? {
            0 | 1 => OffsetKey::decode(bytes).map(Self::Offset),
            2 => GroupKey::decode(bytes).map(Self::Group),
            unknown => Ok(Self::Unknown(unknown)),
        }
    }
}
