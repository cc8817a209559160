//! The operating system's files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::{Attributes, Disk, DiskFile, Entry, OpenMode};
use crate::types::Millis;

/// The operating system's files, without anything in between.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => {}
            OpenMode::ReadWrite => {
                options.write(true);
            }
            OpenMode::Create => {
                options.write(true).create(true).truncate(false);
            }
            OpenMode::Truncate => {
                options.write(true).create(true).truncate(true);
            }
        }
        Ok(Arc::new(RealFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // A symbolic link counts as what it points to: operators link partition directories to other volumes.
            let kind = entry.file_type()?;
            let is_directory = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
            entries.push(Entry { name, is_directory });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        fs::metadata(path).map(|metadata| attributes(&metadata))
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, position + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
        Ok(rustix::io::pwritev(&self.0, parts, position)?)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.0.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn attributes(&self) -> io::Result<Attributes> {
        self.0.metadata().map(|metadata| attributes(&metadata))
    }

    fn set_modified(&self, modified: Millis) -> io::Result<()> {
        let since_epoch = Duration::from_millis(u64::try_from(modified.0).unwrap_or(0));
        self.0.set_modified(UNIX_EPOCH + since_epoch)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn attributes(metadata: &fs::Metadata) -> Attributes {
    let since_epoch = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = since_epoch.and_then(|duration| i64::try_from(duration.as_millis()).ok()).unwrap_or(0);
    Attributes { size: metadata.len(), modified: Millis(modified), is_directory: metadata.is_dir() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_at_positions_and_comes_back_short_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let file = RealDisk.open(&directory.path().join("a"), OpenMode::Create).unwrap();
        file.write_all_at(&mut [IoSlice::new(b"head"), IoSlice::new(b""), IoSlice::new(b"body")], 3).unwrap();
        let mut buffer = [9; 16];
        assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 11);
        assert_eq!(&buffer[..11], b"\0\0\0headbody");
        assert_eq!(file.read_at(&mut buffer, 11).unwrap(), 0);
        file.set_size(5).unwrap();
        assert_eq!(file.read_all(100).unwrap(), b"\0\0\0he");
        assert_eq!(file.read_all(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn lists_sorted_and_opens_by_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        RealDisk.create_directory(&path("z/y")).unwrap();
        assert_eq!(RealDisk.open(&path("b"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(
            RealDisk.open(&path("b"), OpenMode::ReadWrite).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        RealDisk.open(&path("b"), OpenMode::Create).unwrap();
        RealDisk.rename(&path("b"), &path("a")).unwrap();
        let entries = RealDisk.list(directory.path()).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.is_directory)).collect();
        assert_eq!(names, [("a", false), ("z", true)]);
        RealDisk.remove_directory(&path("z")).unwrap();
        RealDisk.remove_file(&path("a")).unwrap();
        assert!(RealDisk.list(directory.path()).unwrap().is_empty());
    }
}
