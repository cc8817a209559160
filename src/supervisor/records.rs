//! The small files by which processes are found again, readable by their owner alone.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::process::Identity;

/// No record is anywhere near this long; a longer file is not one of ours.
const RECORD_BYTES_MAX: u64 = 64 * 1024;

/// The pid file: who the process is, written by itself before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PidRecord {
    /// The process that wrote the file.
    #[serde(flatten)]
    pub identity: Identity,
}

/// The runtime file of the embedded ZooKeeper server, written once it serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZookeeperRecord {
    /// The process that wrote the file.
    #[serde(flatten)]
    pub identity: Identity,
    /// Where clients connect, `host:port`.
    pub address: String,
}

/// Reads a JSON record.
///
/// # Errors
/// `NotFound` when there is no file, `InvalidData` when it holds something else.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    if fs::metadata(path)?.len() > RECORD_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    serde_json::from_slice(&fs::read(path)?).map_err(io::Error::from)
}

/// Writes a JSON record whole or not at all, mode 0600.
///
/// # Errors
/// Those of creating, writing, syncing and renaming the file.
pub fn write<T: Serialize>(path: &Path, record: &T) -> io::Result<()> {
    let draft = path.with_extension(format!("tmp{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let mut text = serde_json::to_vec_pretty(record).map_err(io::Error::from)?;
    text.push(b'\n');
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

/// Removes a record that may already be gone.
///
/// # Errors
/// Those of removing the file, but not that it is absent.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_record_is_private_and_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broker.pid");
        let record = PidRecord { identity: Identity { pid: 7, start_time: 42 } };
        write(&path, &record).unwrap();
        assert_eq!(read::<PidRecord>(&path).unwrap(), record);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn a_huge_or_foreign_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broker.pid");
        fs::write(&path, vec![b' '; 100_000]).unwrap();
        assert_eq!(read::<PidRecord>(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::write(&path, "12345\n").unwrap();
        assert!(read::<PidRecord>(&path).is_err());
    }
}
