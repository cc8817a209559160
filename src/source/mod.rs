//! One file per thing read. Sends updates, decides nothing.
//!
//! A source that cannot read says so as an update, with the reason; the model keeps what it had and marks it stale.
//! Sources run until their task is dropped. None has a way into a broker that a stranger's program would not have.

mod feed;
mod groups;
mod kafka;
mod map;
mod metrics;
mod once;
mod processes;
mod prometheus;
mod zookeeper;

pub use feed::{Feed, UPDATES_MAX};
pub use map::ClusterMap;
pub use once::{ReadOnce, read_once};
pub use processes::Processes;

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::supervisor::{self, Layout};

/// What the sources of one cluster are told.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Where ZooKeeper is.
    pub zookeeper: Whereabouts,
    /// Where a local cluster lies; `None` for one that is only attached to.
    pub layout: Option<Layout>,
}

/// Where ZooKeeper is.
#[derive(Debug, Clone)]
pub enum Whereabouts {
    /// `host:port,host:port/chroot`.
    At(String),
    /// Where the local cluster's own description says at the moment: its port is chosen when it starts.
    OfCluster(Layout),
}

impl Whereabouts {
    /// Returns where it is now, or why that is not known.
    fn connect(&self) -> Result<String, String> {
        match self {
            Self::At(connect) => Ok(connect.clone()),
            Self::OfCluster(layout) => match supervisor::find(layout.root()) {
                Ok(opened) => Ok(opened.spec.zookeeper_connect()),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

impl Sources {
    /// Starts all sources on the current runtime; dropped, the set ends them.
    pub fn start(&self, feed: &Feed) -> (JoinSet<()>, watch::Receiver<Arc<ClusterMap>>) {
        let mut tasks = JoinSet::new();
        let (map, seen) = watch::channel(Arc::new(ClusterMap::default()));
        tasks.spawn(Box::pin(zookeeper::run(self.zookeeper.clone(), feed.clone(), map)));
        tasks.spawn(Box::pin(kafka::run(seen.clone(), feed.clone())));
        tasks.spawn(Box::pin(groups::run(seen.clone(), feed.clone())));
        if let Some(layout) = &self.layout {
            tasks.spawn(Box::pin(metrics::run(layout.clone(), seen.clone(), feed.clone())));
            tasks.spawn(Box::pin(processes::run(layout.clone(), feed.clone())));
        }
        (tasks, seen)
    }
}
