//! Reading a recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use thiserror::Error;

use super::line::{FORMAT, Head, Stamped};
use crate::model::Model;

/// No update is anywhere near this long.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A recording that cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("line {line}: {source}")]
    Read {
        /// Where.
        line: usize,
        /// Why not.
        source: io::Error,
    },
    /// It does not begin as a recording does.
    #[error("this is no recording: its first line names no format")]
    NoRecording,
    /// It was made by a later program.
    #[error("this recording has format {found}; this program reads {FORMAT}")]
    Format {
        /// Its format.
        found: u32,
    },
    /// A line is no update.
    #[error("line {line}: {source}")]
    Line {
        /// Where.
        line: usize,
        /// Why not.
        source: serde_json::Error,
    },
    /// A line is too long.
    #[error("line {line} is longer than any update")]
    TooLong {
        /// Where.
        line: usize,
    },
}

/// Reads a recording update by update. The last line may be cut off, as a crash leaves it: it is left out.
pub struct Recording {
    input: Box<dyn BufRead>,
    line: usize,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("line", &self.line).finish_non_exhaustive()
    }
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read or is no recording.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|source| RecordingError::Read { line: 0, source })?;
        Self::new(Box::new(BufReader::new(file)))
    }

    /// Reads from anything.
    ///
    /// # Errors
    /// When it is no recording.
    pub fn new(input: Box<dyn BufRead>) -> Result<Self, RecordingError> {
        let mut recording = Self { input, line: 0 };
        let first = recording.read_line()?.ok_or(RecordingError::NoRecording)?;
        match serde_json::from_slice::<Head>(&first) {
            Ok(Head { ottla_recording: FORMAT }) => Ok(recording),
            Ok(Head { ottla_recording: found }) => Err(RecordingError::Format { found }),
            Err(_) => Err(RecordingError::NoRecording),
        }
    }

    /// Returns the next line that is whole.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, RecordingError> {
        self.line += 1;
        let line = self.line;
        let mut text = Vec::new();
        let mut limited = self.input.by_ref().take(LINE_BYTES_MAX);
        limited.read_until(b'\n', &mut text).map_err(|source| RecordingError::Read { line, source })?;
        match text.last() {
            Some(b'\n') => Ok(Some(text)),
            Some(_) if text.len() as u64 == LINE_BYTES_MAX => Err(RecordingError::TooLong { line }),
            Some(_) | None => Ok(None),
        }
    }
}

impl Iterator for Recording {
    type Item = Result<Stamped, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = match self.read_line() {
            Ok(text) => text?,
            Err(error) => return Some(Err(error)),
        };
        let line = self.line;
        Some(serde_json::from_slice(&text).map_err(|source| RecordingError::Line { line, source }))
    }
}

/// Returns the model as it was at the end of a recording.
///
/// # Errors
/// When a line cannot be read.
pub fn replay(recording: Recording) -> Result<Model, RecordingError> {
    let mut model = Model::default();
    for stamped in recording {
        let Stamped { at, update } = stamped?;
        model.apply(at, update);
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::{Arc, Mutex};

    use ottla_broker::types::{BrokerId, Millis};

    use super::*;
    use crate::model::{ClusterUpdate, Severity, Update};
    use crate::recording::Recorder;

    /// A file in memory that can be read after the recorder is gone.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn recorded() -> Vec<u8> {
        let shared = Shared::default();
        let mut recorder = Recorder::new(Box::new(shared.clone())).unwrap();
        let controller = Update::Cluster(ClusterUpdate::Controller(Some(BrokerId(2))));
        recorder.write(Millis(1), &controller).unwrap();
        let text = "line\nbreak".to_owned();
        recorder.write(Millis(2), &Update::Notice { severity: Severity::Good, text }).unwrap();
        drop(recorder);
        let bytes = shared.0.lock().unwrap();
        bytes.clone()
    }

    #[test]
    fn a_replay_is_the_model_that_was_seen() {
        let recording = Recording::new(Box::new(Cursor::new(recorded()))).unwrap();
        let model = replay(recording).unwrap();
        assert_eq!(model.cluster.controller, Some(BrokerId(2)));
        assert_eq!(model.timeline.newest_first().next().unwrap().text, "line\nbreak");
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let mut bytes = recorded();
        bytes.truncate(bytes.len() - 5);
        let recording = Recording::new(Box::new(Cursor::new(bytes))).unwrap();
        assert_eq!(recording.collect::<Result<Vec<_>, _>>().unwrap().len(), 1);
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        let open = |text: &str| Recording::new(Box::new(Cursor::new(text.to_owned().into_bytes())));
        assert!(matches!(open(""), Err(RecordingError::NoRecording)));
        assert!(matches!(open("hello\n"), Err(RecordingError::NoRecording)));
        assert!(matches!(open("{\"ottla_recording\":99}\n"), Err(RecordingError::Format { found: 99 })));
        let mut bad = open("{\"ottla_recording\":1}\n{\"at\":1}\n").unwrap();
        assert!(matches!(bad.next(), Some(Err(RecordingError::Line { line: 2, .. }))));
    }
}
