//! Processes of a local cluster, as the supervisor and the operating system see them.

use std::fmt;

use ottla_broker::types::{BrokerId, Millis};
use serde::{Deserialize, Serialize};

use super::history::History;

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessKind {
    /// The embedded ZooKeeper server.
    Zookeeper,
    /// The broker with this id.
    Broker(BrokerId),
    /// This console.
    Console,
}

impl fmt::Display for ProcessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zookeeper => f.write_str("ZooKeeper"),
            Self::Broker(id) => write!(f, "broker {id}"),
            Self::Console => f.write_str("console"),
        }
    }
}

/// What can become known of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessUpdate {
    /// It belongs to the cluster and listens, or will listen, here.
    Expected {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// Where it is in its life.
    State(ProcessState),
    /// What it uses.
    Usage(Usage),
    /// It no longer belongs to the cluster.
    Forgotten,
}

/// Where a process is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ProcessState {
    /// Nothing runs.
    Absent,
    /// It waits for something else to be ready.
    Queued,
    /// It was started and does not serve yet.
    Starting {
        /// Its process id, once there is one.
        #[serde(default)]
        pid: Option<u32>,
    },
    /// It serves.
    Running {
        /// Its process id.
        pid: u32,
        /// How long its start took; `None` when it was found running.
        #[serde(default)]
        took: Option<Millis>,
    },
    /// Its clock stands.
    Frozen {
        /// Its process id.
        pid: u32,
    },
    /// It was told to end.
    Stopping {
        /// Its process id.
        pid: u32,
    },
    /// It ended as it was asked to.
    Stopped,
    /// It ended though nobody asked for an orderly stop, or was killed.
    Died {
        /// How, in words: "killed", "exit code 1".
        ending: String,
    },
    /// It could not be started.
    Failed {
        /// Why, in words.
        why: String,
    },
}

impl ProcessState {
    /// Returns the process id while there is a process.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Absent | Self::Queued | Self::Stopped | Self::Died { .. } | Self::Failed { .. } => None,
            Self::Starting { pid } => *pid,
            Self::Running { pid, .. } | Self::Frozen { pid } | Self::Stopping { pid } => Some(*pid),
        }
    }

    /// Returns whether two states are one: how long a start took is said only once.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Running { pid, .. }, Self::Running { pid: same, .. }) => pid == same,
            _ => self == other,
        }
    }

    /// Returns whether nothing of it can serve any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Absent | Self::Stopped | Self::Died { .. } | Self::Failed { .. })
    }
}

/// What a process uses.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The share of one core: 1.5 is one and a half cores.
    pub cpu_ratio: f64,
    /// Resident memory.
    pub resident_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// Open file descriptors.
    pub open_files: u32,
    /// Bytes in its log directories.
    pub disk_bytes: u64,
    /// Bytes free on the disk that holds them.
    pub disk_free_bytes: u64,
    /// When it was started.
    pub started_at: Option<Millis>,
}

/// What is known of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Where it listens or will listen.
    pub host: String,
    /// Its port.
    pub port: Option<u16>,
    /// Where it is in its life; `None` until somebody said.
    pub state: Option<ProcessState>,
    /// Since when it is there.
    pub since: Millis,
    /// What it uses; zero until measured.
    pub usage: Option<Usage>,
    /// Its CPU use in the last minute, in cores.
    pub cpu_history: History,
}

impl Process {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            host: String::new(),
            port: None,
            state: None,
            since: now,
            usage: None,
            cpu_history: History::default(),
        }
    }

    /// Takes in what became known and returns the state before if it is another now.
    pub(super) fn apply(&mut self, now: Millis, update: ProcessUpdate) -> Option<ProcessState> {
        match update {
            ProcessUpdate::Expected { host, port } => {
                self.host = host;
                self.port = Some(port);
                None
            }
            ProcessUpdate::State(state) => {
                if self.state.as_ref().is_some_and(|before| before.is_same(&state)) {
                    return None;
                }
                if state.is_gone() {
                    self.usage = None;
                }
                self.since = now;
                Some(self.state.replace(state).unwrap_or(ProcessState::Absent))
            }
            ProcessUpdate::Usage(usage) => {
                self.cpu_history.push(now, usage.cpu_ratio);
                self.usage = Some(usage);
                None
            }
            ProcessUpdate::Forgotten => None,
        }
    }
}
