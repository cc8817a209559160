//! Log directories that fail.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;

use super::ended::Ended;
use crate::types::BrokerId;
use crate::zk::Zk;
use crate::zk::layout::log_dir_event;
use crate::zk::session::CreateMode;

/// What follows when a directory fails: the controller is told, and a broker without any directory ends.
pub(super) struct DirectoryFailures {
    pub(super) broker_id: BrokerId,
    pub(super) zk: Zk,
    pub(super) handle: Handle,
    pub(super) online: Mutex<usize>,
    pub(super) ended: Arc<Ended>,
}

impl DirectoryFailures {
    pub(super) fn note(&self, path: &Path, reason: &str) {
        tracing::error!(directory = %path.display(), reason, "a log directory is offline");
        let mut online = self.online.lock().unwrap_or_else(PoisonError::into_inner);
        *online = online.saturating_sub(1);
        if *online == 0 {
            self.ended.end(format!("every log directory failed; the last was {}: {reason}", path.display()));
            return;
        }
        let (zk, broker) = (self.zk.clone(), self.broker_id);
        let told = self.handle.spawn(async move {
            let data = log_dir_event::encode(broker);
            let mode = CreateMode::PersistentSequential;
            if let Err(error) = zk.session().create(log_dir_event::SEQUENCE_PATH, &data, mode).await {
                tracing::error!(%error, "the controller is not told of the failed directory");
            }
        });
        drop(told);
    }
}
