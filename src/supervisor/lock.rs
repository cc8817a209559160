//! One hand at a time: the lock under which a cluster's processes are started and stopped.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Held while processes are started or stopped; let go when dropped, or by the kernel when the holder dies.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// What came of an attempt to take the lock.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It is ours.
    Taken(Lock),
    /// The process with this pid has it; 0 when it did not say.
    HeldBy(u32),
}

/// Tries to take the lock; never waits.
///
/// # Errors
/// When the file cannot be opened or locked for another reason than that somebody holds it.
pub(super) fn try_lock(path: &Path) -> io::Result<Attempt> {
    let mut file =
        fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())?;
            Ok(Attempt::Taken(Lock { _file: file }))
        }
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut holder = String::new();
            (&file).take(32).read_to_string(&mut holder)?;
            Ok(Attempt::HeldBy(holder.trim().parse().unwrap_or(0)))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_hand_learns_who_holds_it_and_gets_it_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("supervisor.lock");
        let Attempt::Taken(lock) = try_lock(&path).unwrap() else { panic!("nobody holds it") };
        let Attempt::HeldBy(pid) = try_lock(&path).unwrap() else { panic!("it is held") };
        assert_eq!(pid, std::process::id());
        drop(lock);
        assert!(matches!(try_lock(&path).unwrap(), Attempt::Taken(_)));
    }
}
