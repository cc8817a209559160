//! A disk that fails when told to, and that forgets on power loss what was not synced.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ottla_broker::disk::{Attributes, Disk, DiskFile, Entry, OpenMode, RealDisk};
use ottla_broker::types::Millis;

/// What can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Write,
    Cut,
    Sync,
    Rename,
    Remove,
}

/// A failure that waits for its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// How many operations of the kind go well before.
    pub(crate) after: u32,
    /// How many fail then.
    pub(crate) times: u32,
    pub(crate) errno: i32,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    /// Whether a file was longer than it should be at some moment since the last look.
    cut_failed: bool,
    /// Content that is on the medium for sure, by path; only of files that were written through this disk.
    durable: HashMap<PathBuf, Vec<u8>>,
}

/// The disk; clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    inner: Arc<dyn DiskFile>,
    path: Mutex<PathBuf>,
}

impl FaultyDisk {
    pub(crate) fn inject(&self, fault: Fault) {
        self.state.lock().unwrap().fault = Some(fault);
    }

    pub(crate) fn heal(&self) {
        self.state.lock().unwrap().fault = None;
    }

    /// Whether a cut has failed since the last call.
    pub(crate) fn take_cut_failed(&self) -> bool {
        std::mem::take(&mut self.state.lock().unwrap().cut_failed)
    }

    /// Takes back a failure that waits.
    pub(crate) fn take_fault(&self) -> Option<Fault> {
        self.state.lock().unwrap().fault.take()
    }

    /// Fails when it is this operation's turn to.
    fn check(&self, kind: Kind) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let Some(fault) = state.fault.as_mut().filter(|fault| fault.kind == kind) else { return Ok(()) };
        if fault.after > 0 {
            fault.after -= 1;
            return Ok(());
        }
        let error = io::Error::from_raw_os_error(fault.errno);
        let cut_failed = kind == Kind::Cut;
        fault.times -= 1;
        if fault.times == 0 {
            state.fault = None;
        }
        state.cut_failed |= cut_failed;
        Err(error)
    }

    fn note_durable(&self, path: &Path) {
        let content = std::fs::read(path).unwrap_or_default();
        self.state.lock().unwrap().durable.insert(path.to_owned(), content);
    }

    /// Loses power: of what was not synced, each file keeps some beginning, perhaps with a page of zeros at its end.
    pub(crate) fn lose_power(&self, mut choice: impl FnMut() -> u32) {
        let durable = std::mem::take(&mut self.state.lock().unwrap().durable);
        for (path, synced) in durable {
            let Ok(current) = std::fs::read(&path) else { continue };
            let common = synced.iter().zip(&current).take_while(|(a, b)| a == b).count();
            let kept = match choice() % 4 {
                0 => synced,
                1 => current,
                2 => {
                    let extra = choice() as usize % (current.len() - common + 1);
                    current[..common + extra].to_vec()
                }
                _ => {
                    let from = common + choice() as usize % (current.len() - common + 1);
                    let mut torn = current;
                    torn[from..].fill(0);
                    torn
                }
            };
            std::fs::write(&path, kept).unwrap();
        }
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.check(Kind::Open)?;
        let is_new = !self.state.lock().unwrap().durable.contains_key(path);
        if is_new && mode != OpenMode::Read {
            self.note_durable(path);
        }
        let inner = RealDisk.open(path, mode)?;
        Ok(Arc::new(FaultyFile { disk: self.clone(), inner, path: Mutex::new(path.to_owned()) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Kind::Rename)?;
        RealDisk.rename(from, to)?;
        let mut state = self.state.lock().unwrap();
        if let Some(content) = state.durable.remove(from) {
            state.durable.insert(to.to_owned(), content);
        }
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.check(Kind::Remove)?;
        self.state.lock().unwrap().durable.remove(path);
        RealDisk.remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.check(Kind::Remove)?;
        RealDisk.remove_directory(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        RealDisk.list(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.check(Kind::Sync)?;
        RealDisk.attributes(path).map(drop)
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        RealDisk.attributes(path)
    }
}

impl DiskFile for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, position)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
        if let Err(error) = self.disk.check(Kind::Write) {
            // The file takes some of it before it fails.
            let whole: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            self.inner.write_all_at(&mut [IoSlice::new(&whole[..whole.len() / 2])], position)?;
            return Err(error);
        }
        // Never more than a few bytes at once, as the operating system may.
        let first = parts.iter().find(|part| !part.is_empty()).unwrap();
        self.inner.write_at(&[IoSlice::new(&first[..first.len().min(100)])], position)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.disk.check(Kind::Cut)?;
        // A journal keeps sizes in the order in which they were set.
        if let Some(content) = self.disk.state.lock().unwrap().durable.get_mut(&*self.path.lock().unwrap()) {
            content.truncate(size as usize);
        }
        self.inner.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.check(Kind::Sync)?;
        self.disk.note_durable(&self.path.lock().unwrap());
        Ok(())
    }

    fn attributes(&self) -> io::Result<Attributes> {
        self.inner.attributes()
    }

    fn set_modified(&self, modified: Millis) -> io::Result<()> {
        self.inner.set_modified(modified)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.inner.descriptor()
    }
}
