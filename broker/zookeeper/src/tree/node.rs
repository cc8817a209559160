//! One node.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::jute::{Acl, Stat};
use crate::types::{Millis, SessionId, Zxid};

/// Why a node is there, and with it when it goes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// Until it is deleted.
    #[default]
    Nobody,
    /// Until the session ends.
    Session(SessionId),
    /// Until its last child is gone.
    Container,
    /// Until nobody has written it for so many milliseconds and it has no children.
    TimeToLive(Millis),
}

/// A node without its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its data; null and empty differ.
    pub data: Option<Arc<[u8]>>,
    /// Who may do what.
    pub acl: Arc<[Acl]>,
    /// Why it is there.
    pub owner: Owner,
    /// The transaction that created it.
    pub czxid: Zxid,
    /// The transaction that last wrote its data.
    pub mzxid: Zxid,
    /// The transaction that last created or deleted a child.
    pub pzxid: Zxid,
    /// When it was created, since the Unix epoch.
    pub ctime_ms: Millis,
    /// When its data was last written, since the Unix epoch.
    pub mtime_ms: Millis,
    /// How often its data was written.
    pub version: i32,
    /// How often its ACL was written.
    pub aversion: i32,
    /// How often a child was created; the next sequential child takes this number.
    pub children_created: i32,
    /// The last transaction after which something about the node looks different. Not shown to clients: a read of the
    /// node must not be answered before that transaction is durable.
    pub touched: Zxid,
    pub(super) children: BTreeSet<Box<str>>,
}

impl Node {
    /// Returns a node as it is right after its creation.
    #[must_use]
    pub fn new(data: Option<Arc<[u8]>>, acl: Arc<[Acl]>, owner: Owner, zxid: Zxid, time_ms: Millis) -> Self {
        Node {
            data,
            acl,
            owner,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: time_ms,
            mtime_ms: time_ms,
            version: 0,
            aversion: 0,
            children_created: 0,
            touched: zxid,
            children: BTreeSet::new(),
        }
    }

    /// Returns the names of the children, in order.
    pub fn children(&self) -> impl ExactSizeIterator<Item = &str> {
        self.children.iter().map(|name| &**name)
    }

    /// Returns the bytes of data.
    #[must_use]
    pub fn data_bytes(&self) -> usize {
        self.data.as_ref().map_or(0, |data| data.len())
    }

    /// Returns the stat as clients see it. `cversion` counts deletions too: with c creations and n children left there
    /// were c − n deletions, so it is 2c − n. Containers and TTL nodes have no owner to show.
    #[must_use]
    pub fn stat(&self) -> Stat {
        let num_children = i32::try_from(self.children.len()).unwrap_or(i32::MAX);
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            ctime_ms: self.ctime_ms,
            mtime_ms: self.mtime_ms,
            version: self.version,
            cversion: self.children_created.wrapping_mul(2).wrapping_sub(num_children),
            aversion: self.aversion,
            ephemeral_owner: match self.owner {
                Owner::Session(session) => Some(session),
                Owner::Nobody | Owner::Container | Owner::TimeToLive(_) => None,
            },
            data_length: i32::try_from(self.data_bytes()).unwrap_or(i32::MAX),
            num_children,
            pzxid: self.pzxid,
        }
    }
}
