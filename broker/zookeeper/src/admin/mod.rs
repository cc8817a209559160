//! Four-letter words: what an administrator, a monitor or a client asks without a session.
//!
//! The formats are those of Apache ZooKeeper, so that what was written to read its answers reads these. Reports only
//! read; the two words that reset counters do it through the driver.

mod connections;
mod environment;
mod monitor;
mod status;
mod watches;
mod words;

pub(crate) use words::{answer, word_at_start};
