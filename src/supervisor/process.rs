//! One process of the operating system, named so that it cannot be mistaken for another.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use std::sync::Arc;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A pid together with the moment the process started, in clock ticks since boot: the pair is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// The process id.
    pub pid: i32,
    /// Field 22 of `/proc/PID/stat`.
    pub start_time: u64,
}

/// What the operating system says of a process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It runs, or could.
    Running,
    /// It is stopped by a signal.
    Frozen,
}

/// A hold on a living process: signals reach it and nobody else, and its end can be waited for.
#[derive(Debug)]
pub struct Process {
    identity: Identity,
    descriptor: OwnedFd,
}

impl Identity {
    /// Returns who this process is.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn of_self() -> io::Result<Self> {
        Self::of_pid(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// Returns who the process with this pid is now.
    ///
    /// # Errors
    /// When there is none, or it has ended and only waits to be reaped.
    pub fn of_pid(pid: i32) -> io::Result<Self> {
        Ok(Self { pid, start_time: read_stat(pid)?.start_time })
    }

    /// Returns whether this very process is alive, and how.
    pub fn condition(self) -> Option<Condition> {
        let stat = read_stat(self.pid).ok().filter(|stat| stat.start_time == self.start_time)?;
        Some(if matches!(stat.state, 'T' | 't') { Condition::Frozen } else { Condition::Running })
    }
}

impl Process {
    /// Takes hold of a process that is alive.
    ///
    /// # Errors
    /// `NotFound` when it has ended, whoever has its pid by now.
    pub fn hold(identity: Identity) -> io::Result<Self> {
        let pid = Pid::from_raw(identity.pid).ok_or(io::ErrorKind::NotFound)?;
        let descriptor = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        // The descriptor is bound to whatever had the pid just now; only if that is ours is it worth holding.
        match identity.condition() {
            Some(_) => Ok(Self { identity, descriptor }),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Registers the process with the runtime: the result becomes readable when the process has ended.
    ///
    /// # Errors
    /// When the reactor cannot take another descriptor.
    pub fn watch(self) -> io::Result<Arc<AsyncFd<Self>>> {
        // SAFETY: `as_raw_fd` gives the descriptor that `self` owns. It is never replaced, since the field is private
        // and nothing here assigns it, and it is closed only when `self` is dropped, which `AsyncFd` does after it has
        // deregistered it.
        #[expect(unsafe_code, reason = "tokio's safe constructors are deprecated, this is what they call")]
        let registered = unsafe { AsyncFd::register_with_interest(self, Interest::READABLE) };
        registered.map(Arc::new).map_err(|error| error.into_parts().1)
    }

    /// Returns who it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// `NotFound` (ESRCH) when it has ended meanwhile; `PermissionDenied` when it belongs to somebody else.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.descriptor, signal)?)
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl AsRawFd for Process {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

struct Stat {
    state: char,
    start_time: u64,
}

/// Reads `/proc/PID/stat`; a zombie counts as ended.
fn read_stat(pid: i32) -> io::Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let stat = parse_stat(&text).ok_or(io::ErrorKind::InvalidData)?;
    if matches!(stat.state, 'Z' | 'X' | 'x') {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(stat)
}

/// The second field is the program's name in parentheses and may hold blanks and parentheses itself, so fields are
/// counted from the last closing one.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start_time = fields.nth(18)?.parse().ok()?;
    Some(Stat { state, start_time })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_name_with_parentheses_does_not_shift_the_fields() {
        let text = "7 (a) b) (c) T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.state, stat.start_time), ('T', 4242));
    }

    #[test]
    fn a_reused_pid_is_somebody_else() {
        let me = Identity::of_self().unwrap();
        assert_eq!(me.condition(), Some(Condition::Running));
        let other = Identity { start_time: me.start_time + 1, ..me };
        assert_eq!(other.condition(), None);
        assert_eq!(Process::hold(other).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_killed_child_is_ended_before_it_is_reaped() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = Identity::of_pid(i32::try_from(child.id()).unwrap()).unwrap();
        let process = Process::hold(identity).unwrap();
        process.signal(Signal::KILL).unwrap();
        let mut poll = [rustix::event::PollFd::new(&process, rustix::event::PollFlags::IN)];
        let ready =
            rustix::event::poll(&mut poll, Some(&rustix::time::Timespec { tv_sec: 30, tv_nsec: 0 })).unwrap();
        assert_eq!(ready, 1, "the descriptor becomes readable when the process has ended");
        assert_eq!(identity.condition(), None);
        child.wait().unwrap();
    }
}
