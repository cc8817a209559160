//! The file in which a running broker says who it is: read by whoever supervises it.
//!
//! It names the broker's ZooKeeper session, so that a supervisor that knows the process has ended can tell which nodes
//! are a dead broker's and remove them, and the cluster need not wait for the session's timeout. (The client library
//! keeps session passwords to itself, so the session cannot be attached to and closed.)

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a running broker says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeFile {
    /// The process.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine did (`/proc/PID/stat`, field 22): tells a process
    /// from a later one with the same number.
    pub start_time: u64,
    /// The broker's id.
    pub broker_id: i32,
    /// The host that clients connect to.
    pub host: String,
    /// The port that clients connect to.
    pub port: u16,
    /// Where the page of metrics is, if there is one.
    pub metrics_address: Option<String>,
    /// The session with ZooKeeper.
    pub zookeeper: ZookeeperSession,
}

/// A session with ZooKeeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZookeeperSession {
    /// Servers and chroot.
    pub connect: String,
    /// The session's id: the owner of the broker's ephemeral nodes.
    pub session_id: i64,
}

/// What can go wrong with the file.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeFileError {
    /// It cannot be read or written.
    #[error("{operation} runtime file {}", path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is not what a broker writes.
    #[error("read runtime file {}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: serde_json::Error,
    },
}

/// A file larger than this was not written by a broker.
const MAX_BYTES: u64 = 64 * 1024;

impl RuntimeFile {
    /// Writes the file so that a reader sees either the old or the new one, never a part.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write(&self, path: &Path) -> Result<(), RuntimeFileError> {
        let failed =
            |operation| move |source| RuntimeFileError::Io { operation, path: path.to_owned(), source };
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let text = serde_json::to_vec_pretty(self).expect("plain data becomes JSON");
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)
            .map_err(failed("create"))?;
        file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed("write"))?;
        fs::rename(&temporary, path).map_err(failed("replace"))
    }

    /// Reads the file; none when there is no such file.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(path: &Path) -> Result<Option<Self>, RuntimeFileError> {
        use std::io::Read as _;
        let failed = |source| RuntimeFileError::Io { operation: "read", path: path.to_owned(), source };
        let file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text).map_err(failed)?;
        let malformed = |source| RuntimeFileError::Malformed { path: path.to_owned(), source };
        serde_json::from_slice(&text).map(Some).map_err(malformed)
    }
}

/// Returns when the process `pid` started, in clock ticks since the machine did; none when there is no such process.
#[must_use]
pub fn process_start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn sample() -> RuntimeFile {
        RuntimeFile {
            pid: 4711,
            start_time: 99,
            broker_id: 2,
            host: "127.0.0.1".to_owned(),
            port: 19092,
            metrics_address: Some("127.0.0.1:7071".to_owned()),
            zookeeper: ZookeeperSession { connect: "127.0.0.1:2181".to_owned(), session_id: -5 },
        }
    }

    #[test]
    fn only_the_owner_reads_it_and_it_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.json");
        assert_eq!(RuntimeFile::read(&path).unwrap(), None);
        sample().write(&path).unwrap();
        assert_eq!(RuntimeFile::read(&path).unwrap(), Some(sample()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn half_a_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.json");
        fs::write(&path, "{\"pid\":").unwrap();
        let told = RuntimeFile::read(&path).unwrap_err().to_string();
        assert!(told.contains("broker.json"), "{told}");
    }

    #[test]
    fn this_process_has_a_start_time() {
        assert!(process_start_time(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert_eq!(process_start_time(u32::MAX), None);
    }
}
