//! The audit log: every command and its outcome, a JSON line each, private to its owner.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::action::Command;

/// A log that has grown past this is put aside, so that two such lengths are kept and no more.
const LOG_BYTES_MAX: u64 = 4 << 20;

/// The log of one data directory.
#[derive(Debug, Clone)]
pub(super) struct Audit {
    path: PathBuf,
}

#[derive(Serialize)]
struct Line<'a> {
    at_ms: u64,
    console_pid: u32,
    command: &'a Command,
    outcome: &'a str,
}

impl Audit {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes a line. A log that cannot be written is mentioned and stops nobody.
    pub(super) fn write(&self, command: &Command, outcome: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let line = Line { at_ms, console_pid: std::process::id(), command, outcome };
        if let Err(error) = self.append(&line) {
            tracing::warn!("write the audit log {}: {error}", self.path.display());
        }
    }

    fn append(&self, line: &Line<'_>) -> io::Result<()> {
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
            fs::rename(&self.path, self.path.with_extension("log.old"))?;
        }
        let mut file: File = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        let mut text = serde_json::to_vec(line).map_err(io::Error::from)?;
        text.push(b'\n');
        file.write_all(&text)
    }
}
