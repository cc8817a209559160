//! What a watch tells its client.

use super::{Writer, xid};
use crate::types::Zxid;

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum EventKind {
    /// It was created.
    NodeCreated = 1,
    /// It was deleted.
    NodeDeleted = 2,
    /// Its data was written.
    NodeDataChanged = 3,
    /// A child was created or deleted.
    NodeChildrenChanged = 4,
}

/// An event for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedEvent<'a> {
    /// What happened.
    pub kind: EventKind,
    /// To which node.
    pub path: &'a str,
    /// By which transaction (clients since 3.9 read it), [`Zxid::NONE`] when found at a reconnect.
    pub zxid: Zxid,
}

impl WatchedEvent<'_> {
    /// The session state that every event carries: `SyncConnected`.
    const STATE: i32 = 3;

    /// Returns the event as a frame.
    #[must_use]
    pub fn into_frame(self) -> Vec<u8> {
        let mut writer = Writer::frame();
        writer.i32(xid::NOTIFICATION);
        writer.i64(self.zxid.0);
        writer.i32(0);
        writer.i32(self.kind as i32);
        writer.i32(Self::STATE);
        writer.string(self.path);
        writer.into_frame()
    }
}
