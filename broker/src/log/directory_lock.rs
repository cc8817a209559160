//! `.lock`: one broker per log directory.
//!
//! The JVM holds an fcntl (POSIX) record lock over the whole file, so this one does too; `flock` would not see it. A POSIX lock
//! belongs to the process and is lost when *any* descriptor of the file closes, so within the process a table of held
//! directories is asked first and the file is never opened twice.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::error::{Error, Result};
use super::file_names::LOCK;

static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The hold on a log directory; let go when dropped.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    path: PathBuf,
    // Closing the file lets the lock go.
    file: File,
}

impl DirectoryLock {
    /// Takes the directory for this process.
    ///
    /// # Errors
    /// [`Error::Refused`] with the holder's process id when another broker has it; what the operating system answered
    /// otherwise.
    pub(super) fn take(directory: &Path) -> Result<Self> {
        let directory = fs::canonicalize(directory).map_err(Error::io("open", directory))?;
        let path = directory.join(LOCK);
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains(&path) {
            return Err(refused(&path, "another broker of this process"));
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::AGAIN | Errno::ACCESS) => return Err(refused(&path, &holder_of(&file))),
            Err(error) => return Err(Error::io("lock", &path)(error.into())),
        }
        held.insert(path.clone());
        Ok(Self { path, file })
    }

    /// Removes the file as well, as an orderly stop does.
    pub(super) fn remove(self) {
        // Its existence says nothing, so a failure to remove it costs nothing.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Unlock before the table forgets: the next holder must not find it still locked, nor close our descriptor.
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        fcntl_lock(&self.file, FlockOperation::NonBlockingUnlock).unwrap_or_default();
        held.remove(&self.path);
    }
}

fn holder_of(file: &File) -> String {
    match fcntl_getlk(file, &Flock::from(FlockType::WriteLock)) {
        Ok(Some(Flock { pid: Some(pid), .. })) => format!("process {}", pid.as_raw_nonzero()),
        _ => "another process".to_owned(),
    }
}

fn refused(path: &Path, holder: &str) -> Error {
    let reason = format!("the log directory is in use by {holder}; stop it, or choose another with log.dirs");
    Error::Refused { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_second_broker_of_the_process_is_refused_and_does_not_free_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::take(directory.path()).unwrap();
        let refusal = DirectoryLock::take(directory.path()).unwrap_err().to_string();
        assert!(refusal.contains("another broker of this process"), "{refusal}");
        drop(lock);
        let lock = DirectoryLock::take(directory.path()).unwrap();
        lock.remove();
        assert!(!directory.path().join(LOCK).exists());
    }

    /// The other process of the test below.
    #[test]
    #[ignore = "holds a directory for the test of two processes, which starts it"]
    fn hold_until_told() {
        let Ok(directory) = std::env::var("OTTLA_TEST_HOLD") else { return };
        let _lock = DirectoryLock::take(Path::new(&directory)).unwrap();
        println!("held");
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }

    #[test]
    fn the_holder_in_another_process_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "log::directory_lock::tests::hold_until_told", "--ignored", "--nocapture"])
            .env("OTTLA_TEST_HOLD", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(std::io::Result::ok);
        assert!(lines.any(|line| line.contains("held")));
        let refusal = DirectoryLock::take(directory.path()).unwrap_err().to_string();
        assert!(refusal.contains(&format!("process {}", child.id())), "{refusal}");
        drop(child.stdin.take());
        lines.for_each(drop);
        child.wait().unwrap();
        DirectoryLock::take(directory.path()).unwrap();
    }
}
