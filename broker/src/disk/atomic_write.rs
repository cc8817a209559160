//! Replacing a small file so that a crash leaves the old or the new content, never a mixture.

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

use super::{Disk, OpenMode};

/// Replaces the file at `path` by `content`: `<name>.tmp`, sync, rename over, sync the directory, as Kafka's
/// `CheckpointFile` does.
///
/// # Errors
/// The first failure; the file then has its old content, and a `.tmp` may be left for the next attempt to overwrite.
pub fn replace(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = temporary_name(path);
    let file = disk.open(&temporary, OpenMode::Truncate)?;
    file.write_all_at(&mut [IoSlice::new(content)], 0)?;
    file.sync()?;
    disk.rename(&temporary, path)?;
    path.parent().map_or(Ok(()), |directory| disk.sync_directory(directory))
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn replaces_what_was_there_and_leaves_no_temporary() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoint");
        for content in [&b"first and longer"[..], b"second", b""] {
            replace(&RealDisk, &path, content).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), content);
        }
        assert_eq!(RealDisk.list(directory.path()).unwrap().len(), 1);
    }
}
