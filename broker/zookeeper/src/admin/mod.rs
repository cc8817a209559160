//! Four-letter words: what an administrator, a monitor or a client asks without a session.
//!
//! The formats are those of Apache ZooKeeper, so that what was written to read its answers reads these. Reports only
//! read what the driver lays out for them; the two words that reset counters ask the driver to do it.

mod connections;
mod environment;
mod figures;
mod monitor;
mod statistics;
mod status;
mod watches;
mod words;

pub(crate) use figures::{Answer, ConnectionFigures, Figures, Reset};
pub(crate) use statistics::{ConnectionStatistics, Latency, Statistics};
pub(crate) use words::{answer, word_at_start};
