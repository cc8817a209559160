//! Writing a recording.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ottla_broker::types::Millis;

use super::line::{FORMAT, Head, Stamped};
use crate::model::Update;

/// How long lines may stay unwritten.
const FLUSH_MS: i64 = 1_000;
/// A recording ends at this size rather than fill the disk.
const BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Writes a recording.
pub struct Recorder {
    out: Box<dyn Write + Send>,
    flushed_at: Millis,
    bytes: u64,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates the file, in place of one that is there.
    ///
    /// # Errors
    /// Those of creating and writing it.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::new(Box::new(BufWriter::new(File::create(path)?)))
    }

    /// Writes to anything.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut recorder = Self { out, flushed_at: Millis(0), bytes: 0 };
        recorder.line(&Head { ottla_recording: FORMAT })?;
        Ok(recorder)
    }

    /// Writes an update.
    ///
    /// # Errors
    /// Those of writing, and when the recording has become too large.
    pub fn write(&mut self, at: Millis, update: &Update) -> io::Result<()> {
        if self.bytes > BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has reached 4 GiB"));
        }
        self.line(&Stamped { at, update: update.clone() })?;
        if at.since(self.flushed_at).0 >= FLUSH_MS {
            self.out.flush()?;
            self.flushed_at = at;
        }
        Ok(())
    }

    fn line<T: serde::Serialize>(&mut self, line: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).map_err(io::Error::from)?;
        text.push(b'\n');
        self.bytes += text.len() as u64;
        self.out.write_all(&text)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Nobody is left to be told.
        self.out.flush().ok();
    }
}
