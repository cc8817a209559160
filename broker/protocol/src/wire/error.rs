//! What can be wrong with bytes, and with values that should become bytes.

use thiserror::Error;

/// Bytes that are not what they should be: where, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path} at byte {offset}: {kind}")]
pub struct DecodeError {
    /// The field, from the message down: `FetchRequest.topics[3].partitions[0].fetch_offset`.
    pub path: String,
    /// Bytes from the beginning of what was decoded.
    pub offset: usize,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeErrorKind {
    /// They end too early.
    #[error("{wanted} bytes are wanted and {left} are left")]
    Short {
        /// How many bytes the field needs.
        wanted: usize,
        /// How many there are.
        left: usize,
    },
    /// A length that cannot be: negative, or more than the bytes that are left can hold.
    #[error("a length of {0} cannot be")]
    Length(i64),
    /// Null where nothing may be null.
    #[error("null is not allowed in version {0}")]
    Null(i16),
    /// A string that is not UTF-8.
    #[error("the string is not UTF-8")]
    Utf8,
    /// A varint that does not end.
    #[error("the varint is too long")]
    Varint,
    /// A value that has no meaning here.
    #[error("{0} has no meaning here")]
    Value(i64),
    /// The same tag twice, or tags that do not rise.
    #[error("tag {0} is out of order")]
    TagOrder(u32),
    /// More elements than one message may have.
    #[error("the message has too many elements")]
    TooMany,
    /// Bytes are left over.
    #[error("{0} bytes are left over")]
    Surplus(usize),
    /// A version that the message does not have.
    #[error("version {0} is unknown")]
    Version(i16),
}

/// A value that a version cannot carry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    Version {
        /// Which message.
        message: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A field that this version does not have is set, and losing it would change the meaning.
    #[error("{field} is set and version {version} does not have it")]
    Unavailable {
        /// Which field.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// Null where nothing may be null.
    #[error("{field} is null, which version {version} does not allow")]
    Null {
        /// Which field.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// Too long for the length in front of it.
    #[error("{what} of {size} is too long")]
    TooLong {
        /// What kind of thing.
        what: &'static str,
        /// How long it is.
        size: usize,
    },
}
