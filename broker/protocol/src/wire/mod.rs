//! Bytes in and out: a reader that trusts no length, a writer that copies no records, and the errors of both.
//!
//! Kafka's protocol guide is the source of the encodings: big-endian integers, strings and arrays with a length in
//! front (16 and 32 bits in the old versions, an unsigned varint of length + 1 in the flexible ones), zig-zag varints
//! in records.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod error;
mod field;
mod reader;
mod tagged;
mod uuid;
mod varint;
mod writer;

pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use field::{Field, Form};
pub use reader::Reader;
pub use tagged::TaggedFields;
pub use uuid::{ParseUuidError, Uuid};
pub use varint::{varint_size, varlong_size};
pub use writer::{Part, Records, Region, Writer};
