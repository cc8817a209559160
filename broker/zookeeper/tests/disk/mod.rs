//! A disk in memory that loses, tears and refuses.
#![allow(unreachable_pub, missing_docs, dead_code, reason = "a module of a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ottla_zookeeper::store::disk::{Disk, DiskFile};

/// The content of a file: what will survive, and what is there as long as the power is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Content {
    durable: Vec<u8>,
    current: Vec<u8>,
}

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<String, Content>,
    /// The names that survive: those at the last sync of the directory.
    durable_names: BTreeSet<String>,
    /// What was deleted or replaced since then, and may be back.
    removed: BTreeMap<String, Content>,
    room: Option<usize>,
    operations_left: Option<usize>,
}

/// A disk in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<Inner>>);

impl MemoryDisk {
    /// Puts a whole, durable file there.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let content = Content { durable: bytes.to_vec(), current: bytes.to_vec() };
        let mut inner = self.0.lock().unwrap();
        inner.files.insert(name.to_owned(), content);
        inner.durable_names.insert(name.to_owned());
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.0.lock().unwrap().files[name].current.clone()
    }

    pub fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().files.keys().cloned().collect()
    }

    /// Returns a copy with the same content, all of it durable.
    pub fn copy(&self) -> MemoryDisk {
        let copy = MemoryDisk::default();
        for (name, content) in &self.0.lock().unwrap().files {
            copy.put(name, &content.current);
        }
        copy
    }

    /// Lets so many more bytes be written.
    pub fn set_room(&self, room: Option<usize>) {
        self.0.lock().unwrap().room = room;
    }

    /// Lets so many more operations happen; then everything fails, as if the power were gone.
    pub fn fail_after(&self, operations: usize) {
        self.0.lock().unwrap().operations_left = Some(operations);
    }

    /// Returns what is there after a loss of power: of everything that was not made durable a part chosen by
    /// `choose(n)`, a number up to n.
    pub fn after_power_loss(&self, mut choose: impl FnMut(usize) -> usize) -> MemoryDisk {
        let inner = self.0.lock().unwrap();
        let disk = MemoryDisk::default();
        for (name, content) in &inner.files {
            // A name that is not durable may be there or not.
            if !inner.durable_names.contains(name) && choose(1) == 0 {
                continue;
            }
            let common = content.durable.iter().zip(&content.current).take_while(|(a, b)| a == b).count();
            let mut bytes = content.durable.clone();
            if common == content.durable.len() {
                let kept = choose(content.current.len() - common);
                bytes.extend_from_slice(&content.current[common..common + kept]);
            }
            disk.put(name, &bytes);
        }
        for (name, content) in &inner.removed {
            // A deletion that is not durable may not have happened.
            if !inner.files.contains_key(name) && choose(1) == 0 {
                disk.put(name, &content.durable);
            }
        }
        disk
    }

    fn operate<T>(&self, operation: impl FnOnce(&mut Inner) -> io::Result<T>) -> io::Result<T> {
        let mut inner = self.0.lock().unwrap();
        match &mut inner.operations_left {
            Some(0) => return Err(io::Error::other("no power")),
            Some(left) => *left -= 1,
            None => {}
        }
        operation(&mut inner)
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Disk for MemoryDisk {
    fn name(&self) -> PathBuf {
        "/memory".into()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.operate(|inner| Ok(inner.files.keys().cloned().collect()))
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.operate(|inner| inner.files.get(name).map(|content| content.current.clone()).ok_or_else(missing))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.operate(|inner| {
            inner.files.insert(name.to_owned(), Content::default());
            Ok(())
        })?;
        Ok(Box::new(MemoryFile { disk: self.clone(), name: name.to_owned() }))
    }

    fn open_at(&self, name: &str, length: u64) -> io::Result<Box<dyn DiskFile>> {
        let mut file = MemoryFile { disk: self.clone(), name: name.to_owned() };
        file.truncate(length)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate(|inner| {
            let content = inner.files.remove(from).ok_or_else(missing)?;
            inner.removed.insert(from.to_owned(), content.clone());
            inner.files.insert(to.to_owned(), content);
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.operate(|inner| {
            let content = inner.files.remove(name).ok_or_else(missing)?;
            inner.removed.insert(name.to_owned(), content);
            Ok(())
        })
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.operate(|inner| {
            inner.durable_names = inner.files.keys().cloned().collect();
            inner.removed.clear();
            Ok(())
        })
    }
}

/// A file that is followed when it gets its final name.
#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    name: String,
}

impl MemoryFile {
    fn operate<T>(
        &self,
        operation: impl FnOnce(&mut Content, &mut Option<usize>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.disk.operate(|inner| {
            let final_name = self.name.trim_end_matches(".tmp").to_owned();
            let name = if inner.files.contains_key(&self.name) { &self.name } else { &final_name };
            let content = inner.files.get_mut(name).ok_or_else(missing)?;
            operation(content, &mut inner.room)
        })
    }
}

impl DiskFile for MemoryFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.operate(|content, room| {
            let fits = room.map_or(bytes.len(), |room| room.min(bytes.len()));
            content.current.extend_from_slice(&bytes[..fits]);
            if let Some(room) = room {
                *room -= fits;
            }
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.operate(|content, _| {
            content.durable = content.current.clone();
            Ok(())
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.operate(|content, _| {
            content.current.truncate(usize::try_from(length).unwrap());
            Ok(())
        })
    }
}
