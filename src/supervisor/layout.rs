//! Where everything of a local cluster lies.
//!
//! ```text
//! DATA_DIR/
//!   cluster.json            what the cluster is made of
//!   supervisor.lock         held while somebody starts or stops its processes
//!   zookeeper/              data/  zookeeper.log  zookeeper.pid  runtime.json
//!   broker-1/               data/  broker.log  broker.pid  runtime.json  server.properties
//! ```

use std::path::{Path, PathBuf};

use super::machine::Role;

/// The paths below one data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// Lays out the cluster whose data directory is `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the data directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the file that says what the cluster is made of.
    pub fn spec(&self) -> PathBuf {
        self.root.join("cluster.json")
    }

    /// Returns the file whose lock is held while processes are started or stopped.
    pub fn lock(&self) -> PathBuf {
        self.root.join("supervisor.lock")
    }

    /// Returns the folder of one process.
    pub fn folder(&self, role: Role) -> PathBuf {
        match role {
            Role::Zookeeper => self.root.join("zookeeper"),
            Role::Broker(id) => self.root.join(format!("broker-{id}")),
        }
    }

    /// Returns the folder that holds what the process must not lose.
    pub fn data(&self, role: Role) -> PathBuf {
        self.folder(role).join("data")
    }

    /// Returns the file that the process logs to.
    pub fn log(&self, role: Role) -> PathBuf {
        self.named(role, "log")
    }

    /// Returns the file in which the process says who it is, from its first moment on.
    pub fn pid(&self, role: Role) -> PathBuf {
        self.named(role, "pid")
    }

    /// Returns the file that the process writes once it serves.
    pub fn runtime(&self, role: Role) -> PathBuf {
        self.folder(role).join("runtime.json")
    }

    /// Returns the broker's configuration, written anew at each start.
    pub fn properties(&self, role: Role) -> PathBuf {
        self.folder(role).join("server.properties")
    }

    fn named(&self, role: Role, extension: &str) -> PathBuf {
        let stem = match role {
            Role::Zookeeper => "zookeeper",
            Role::Broker(_) => "broker",
        };
        self.folder(role).join(format!("{stem}.{extension}"))
    }
}
