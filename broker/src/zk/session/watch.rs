//! One-shot watches that come with the read they belong to.
//!
//! Every read that arms a watch returns both, so nothing can change between what was read and what is watched. After a
//! broken connection the client arms the watch again and hears of a change in between. Whoever is woken reads again,
//! and that read arms the next watch; no change is lost, though several may be seen as one.

use zookeeper_client::{EventType, OneshotWatcher};

use super::operations::retry;
use super::{Error, Handle, Stat};

/// How a watch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEnd {
    /// What was watched changed: read it again.
    Changed,
    /// The session is gone, and the watch with it.
    SessionOver,
}

/// A watch that was armed by the read it came with.
#[derive(Debug)]
pub struct Watched(OneshotWatcher);

impl Watched {
    /// Waits until what was read has changed.
    pub async fn changed(self) -> WatchEnd {
        let event = self.0.changed().await;
        if event.event_type == EventType::Session { WatchEnd::SessionOver } else { WatchEnd::Changed }
    }
}

impl Handle {
    /// Lists the children of `path` and watches for one more or one less.
    ///
    /// # Errors
    /// When the node is not there, or the session is over.
    pub async fn children_watched(&self, path: &str) -> Result<(Vec<String>, Watched), Error> {
        let (children, watcher) = retry!(self, "list", path, |client| client.list_and_watch_children(path))?;
        Ok((children, Watched(watcher)))
    }

    /// Reads `path` and watches its data and its existence, also while it does not exist.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn data_watched(&self, path: &str) -> Result<(Option<(Vec<u8>, Stat)>, Watched), Error> {
        loop {
            match retry!(self, "read", path, |client| client.get_and_watch_data(path)) {
                Ok((data, stat, watcher)) => return Ok((Some((data, stat)), Watched(watcher))),
                Err(Error::NoNode { .. }) => {}
                Err(error) => return Err(error),
            }
            let watch = retry!(self, "watch", path, |client| client.check_and_watch_stat(path));
            // A node that appeared in between is read again; the watch just armed is dropped.
            if let (None, watcher) = watch? {
                return Ok((None, Watched(watcher)));
            }
        }
    }
}
