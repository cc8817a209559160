//! Record batches (v2), message sets (v0, v1), control records, codecs and checksums.
//!
//! The log handles batches as bytes: it reads a [`BatchHeader`], has the records walked in place by [`check_records`],
//! and writes a rewritten header in front of the untouched record bytes. Only who really wants records iterates them.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod batch;
mod build;
mod check;
mod compression;
mod control;
mod crc;
mod error;
mod iterate;
mod lz4;
mod message_set;
mod snappy;

pub use batch::{Attributes, BATCH_HEADER_BYTES, BatchHeader, LOG_OVERHEAD_BYTES, TimestampType};
pub use build::{BatchBuilder, NewRecord};
pub use check::{Checked, RecordRules, check_batch, check_records};
pub use compression::{Compression, Decompressed, compress, decompress};
pub use control::{ControlRecord, EndTransactionMarker, build_marker};
pub use crc::{crc32, crc32c};
pub use error::{BatchError, CompressionError, RecordError};
pub use iterate::{Header, Record, RecordIter, iterate};
pub use message_set::{LegacyEntry, LegacyMessage, convert_to_batch, entries, messages};
