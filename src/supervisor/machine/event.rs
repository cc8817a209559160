//! What the machine is told and what it wants done.

use std::fmt;

use ottla_broker::types::Millis;
use serde::{Deserialize, Serialize};

use crate::supervisor::process::Identity;

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// The embedded coordination server.
    Zookeeper,
    /// The broker with this id.
    Broker(i32),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zookeeper => f.write_str("zookeeper"),
            Self::Broker(id) => write!(f, "broker {id}"),
        }
    }
}

/// What an operator can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Start what is missing, touch nothing else.
    Up,
    /// Stop everything, brokers first.
    Down,
    /// Start one process.
    Start(Role),
    /// Stop one process in an orderly way.
    Stop(Role),
    /// Kill one process where it stands.
    Kill(Role),
    /// Stop one process's clock without its knowing.
    Freeze(Role),
    /// Let it go on.
    Thaw(Role),
    /// Stop it in an orderly way, then start it; start it when it does not run.
    Restart(Role),
}

/// What has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A living process was found by its pid file.
    Found {
        /// Its part.
        role: Role,
        /// Who it is.
        identity: Identity,
        /// Whether it is stopped by a signal.
        frozen: bool,
    },
    /// A pid file was found whose process is gone.
    FoundStale {
        /// The part it played.
        role: Role,
    },
    /// A process was started, or could not be.
    Spawned {
        /// Its part.
        role: Role,
        /// Who it is; or why not, in words.
        outcome: Result<Identity, String>,
    },
    /// A process has written its runtime file: it serves.
    Ready {
        /// Its part.
        role: Role,
        /// Where it listens.
        address: String,
    },
    /// A process has ended.
    Exited {
        /// Its part.
        role: Role,
        /// Who it was.
        identity: Identity,
        /// How, as far as that can be known.
        ending: Ending,
    },
    /// Somebody asks for something.
    Asked(Ask),
    /// Time has passed.
    Tick,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was nobody's child here, so only that it ended is known.
    Unknown,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(9) => f.write_str("killed"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("ended"),
        }
    }
}

/// A signal by what it is meant to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// SIGTERM.
    Finish,
    /// SIGKILL.
    Die,
    /// SIGSTOP.
    Halt,
    /// SIGCONT.
    GoOn,
}

/// What the driver must do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start the process, and watch for its runtime file.
    Spawn(Role),
    /// Send a signal to this very process.
    Signal {
        /// Its part.
        role: Role,
        /// Who gets it.
        identity: Identity,
        /// What it is to do.
        tell: Tell,
    },
    /// Remove from ZooKeeper what a dead broker's session left there.
    Farewell {
        /// The broker.
        role: Role,
    },
    /// Remove the pid and runtime files of a process that is gone.
    Forget(Role),
    /// Say it to whoever watches.
    Report(Notice),
}

/// What watchers are told, in the order it happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// It is about to be started.
    Starting(Role),
    /// It serves at this address.
    Ready {
        /// Its part.
        role: Role,
        /// Where it listens.
        address: String,
        /// How long the start took; `None` when it was found running.
        took: Option<Millis>,
    },
    /// It could not be started, in words.
    StartFailed {
        /// Its part.
        role: Role,
        /// Why.
        why: String,
    },
    /// It runs but has not said for a long time that it serves.
    Slow(Role),
    /// It was told to stop.
    Stopping(Role),
    /// It did not stop in time and is killed.
    Overdue(Role),
    /// It has ended as it was asked to.
    Stopped(Role),
    /// It has ended and nobody asked it to, or it was killed on request.
    Died {
        /// Its part.
        role: Role,
        /// How.
        ending: Ending,
    },
    /// Its clock stands.
    Frozen(Role),
    /// Its clock runs again.
    Thawed(Role),
    /// Files of a process that is gone were found and removed.
    StaleFiles(Role),
    /// It cannot be done, in words.
    Refused {
        /// What it was asked of.
        role: Role,
        /// Why not.
        why: String,
    },
}
