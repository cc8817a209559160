//! What outlives the process: the transaction log, snapshots, recovery.
//!
//! ```text
//!  log.0000000000000001      magic ─ salt ─ first zxid ─ crc ─ batch ─ batch ─ … ─ batch
//!  snapshot.00000000000186a0 magic ─ zxid ─ sessions ─ nodes ─ crc
//!
//!  batch:  marker u32 ─ length u32 ─ crc u32 ─ transactions        crc over salt, position, length, transactions
//! ```
//!
//! The log is append-only. What was written with one `write` and made durable with one `fdatasync` is one batch, and
//! it counts whole or not at all. A batch goes to the disk only when the one before is durable, so a damaged batch at
//! the end is one that was never acknowledged: recovery cuts it off and says so. A damaged batch that has a whole one
//! after it was acknowledged once; recovery refuses it, because going on would lose what clients were promised.
//! Every zxid has its transaction, so a missing file shows as a gap.
//!
//! When enough transactions have gathered, the log goes on in a new file, and a thread of its own rebuilds the state
//! from the old files, as recovery would, and writes it as a snapshot. Serving never waits for that. Start reading at
//! `journal`.

mod batch;
mod compaction;
mod directory;
pub mod disk;
mod error;
mod journal;
mod layout;
mod log;
mod recovery;
mod snapshot;

pub use directory::Directory;
pub use error::Error;
pub use journal::{AppendError, Journal, Options, sizes};
pub use recovery::{Recovered, Recovery};
