//! What can be wrong with batches and records.

use thiserror::Error;

use super::compression::Compression;

/// A batch that is not one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BatchError {
    /// Fewer bytes than it claims.
    #[error("a batch of {wanted} bytes is cut at {left}")]
    Short {
        /// How many bytes it claims.
        wanted: usize,
        /// How many there are.
        left: usize,
    },
    /// A length below that of the smallest batch.
    #[error("a length of {0} is below that of the smallest batch")]
    Length(i32),
    /// Neither 0, 1 nor 2.
    #[error("magic {0} is unknown")]
    Magic(i8),
    /// The checksum does not fit the bytes.
    #[error("the checksum is {stored:08x} and should be {computed:08x}")]
    Crc {
        /// The one that is stored.
        stored: u32,
        /// The one that fits the bytes.
        computed: u32,
    },
    /// A codec that there is not.
    #[error("compression {0} is unknown")]
    Codec(i16),
    /// A record, or the records as a whole.
    #[error("record {index}: {error}")]
    Record {
        /// Which record, from 0.
        index: i32,
        /// What is wrong.
        error: RecordError,
    },
    /// The records do not decompress.
    #[error(transparent)]
    Compression(#[from] CompressionError),
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The bytes end inside it, or it does not end where it says.
    #[error("its length does not fit")]
    Length,
    /// A number that does not end.
    #[error("a varint is too long")]
    Varint,
    /// A header without a key, or with one that is not UTF-8.
    #[error("a header's key is missing or not UTF-8")]
    HeaderKey,
    /// Its offset is not the next one.
    #[error("its offset delta is {found} and should be {expected}")]
    OffsetDelta {
        /// What it is.
        found: i32,
        /// What follows from the record before.
        expected: i32,
    },
    /// There are more or fewer records than the batch says.
    #[error("the batch says {claimed} records and has more or fewer")]
    Count {
        /// What the header says.
        claimed: i32,
    },
    /// It has no key, and the topic is compacted by key.
    #[error("it has no key and the topic is compacted")]
    NoKey,
    /// Its timestamp is outside the bounds that the topic sets.
    #[error("its timestamp {0} is outside the bounds of the topic")]
    Timestamp(i64),
}

/// Bytes that do not decompress, or to too much.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompressionError {
    /// They are damaged.
    #[error("{codec} data is damaged: {why}")]
    Damaged {
        /// Which codec.
        codec: Compression,
        /// What the codec says.
        why: String,
    },
    /// They are more than the bound.
    #[error("{codec} data is more than {limit} bytes when decompressed")]
    TooLarge {
        /// Which codec.
        codec: Compression,
        /// The bound.
        limit: usize,
    },
}
