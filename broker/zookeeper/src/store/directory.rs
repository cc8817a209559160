//! A real directory. It is locked while in use, and nobody but its owner may look into it: the store holds session
//! passwords.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::disk::{Disk, DiskFile};
use super::error::Error;
use super::layout;

/// A directory on this machine.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Held for the lock on it.
    _lock: File,
}

impl Directory {
    /// Opens a directory, creating it when absent, and locks it.
    ///
    /// # Errors
    /// When it cannot be created, opened or written, or another server uses it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        create(path).map_err(|source| Error::io("create the data directory", path, source))?;
        let lock_path = path.join(layout::LOCK);
        let lock = options()
            .create(true)
            .open(&lock_path)
            .map_err(|source| Error::io("open the lock file", &lock_path, source))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Directory { path: path.to_owned(), _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::InUse { path: path.to_owned() }),
            Err(errno) => Err(Error::io("lock the data directory", path, errno.into())),
        }
    }
}

/// Creates the directory when absent, and makes sure that it is there after a loss of power.
fn create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        Some(_) | None => Ok(()),
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

impl Disk for Directory {
    fn name(&self) -> PathBuf {
        self.path.clone()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            // A name that is not UTF-8 is none of ours.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.path.join(name))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let file = options().create(true).truncate(true).open(self.path.join(name))?;
        Ok(Box::new(RealFile(file)))
    }

    fn open_at(&self, name: &str, length: u64) -> io::Result<Box<dyn DiskFile>> {
        let mut file = RealFile(options().open(self.path.join(name))?);
        file.truncate(length)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.seek(SeekFrom::Start(length)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_serves_one_and_nobody_else_looks_in() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let directory = Directory::open(&path).unwrap();
        assert!(matches!(Directory::open(&path), Err(Error::InUse { .. })));
        directory.create("log.x").unwrap().append(b"secret").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join("log.x")), mode(&path.join("lock"))), (0o700, 0o600, 0o600));
        drop(directory);
        Directory::open(&path).unwrap();
    }
}
