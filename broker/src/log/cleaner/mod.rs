//! Compaction: of records with the same key only the last one stays (Kafka: `LogCleaner`, `Cleaner`).
//!
//! ```text
//!  0         first dirty      end of the round    first uncleanable    log end
//!  |   clean     |  keys are collected here |  too young, undecided, or active  |
//!  |<------- these segments are rewritten ->|
//! ```
//! A round collects the last offset of every key of the dirty part in a map of bounded size, then writes the segments from
//! the start of the log up to there anew, leaving out what the map outdates, and swaps each group in under the append lock.
//! A crash at any moment leaves the old segments, or complete new ones that the next start swaps in.

mod filter;
mod offset_map;
mod raw_record;
mod round;
mod swap;
mod target;
mod transactions;
mod worker;

pub(super) use worker::Cleaner;
pub use worker::CleanerOptions;
