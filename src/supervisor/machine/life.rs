//! The stages of one process's life.

use ottla_broker::types::Millis;

use crate::supervisor::process::Identity;

/// Where a process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// There is no process.
    Absent,
    /// To be started as soon as ZooKeeper is ready.
    Queued,
    /// The driver was asked to start it.
    Spawning {
        /// When.
        since: Millis,
    },
    /// It runs and does not serve yet.
    Starting {
        /// Who it is.
        identity: Identity,
        /// When it was started, or found half started.
        since: Millis,
        /// Whether it was found, so that nobody here knows when its start began.
        found: bool,
        /// Whether somebody was told that it takes long.
        slow: bool,
    },
    /// It serves.
    Running {
        /// Who it is.
        identity: Identity,
    },
    /// It is stopped by SIGSTOP.
    Frozen {
        /// Who it is.
        identity: Identity,
    },
    /// It was told to end.
    Stopping {
        /// Who it is.
        identity: Identity,
        /// When it was told.
        since: Millis,
        /// Whether it was killed, not asked.
        killed: bool,
        /// Whether it is to be started again afterwards.
        again: bool,
    },
}

impl Life {
    /// Returns who it is, while there is a process.
    pub fn identity(self) -> Option<Identity> {
        match self {
            Self::Absent | Self::Queued | Self::Spawning { .. } => None,
            Self::Starting { identity, .. }
            | Self::Running { identity }
            | Self::Frozen { identity }
            | Self::Stopping { identity, .. } => Some(identity),
        }
    }
}
