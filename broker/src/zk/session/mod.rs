//! The session with ZooKeeper: the only code that knows the ZooKeeper client.
//!
//! [`Zk`] keeps a session for as long as the broker lives. A connection that breaks is rebuilt by the client and the
//! request sent again, so a create that answers "exists" may have succeeded before. A session that expired is gone with
//! its ephemeral nodes; a new one is opened, and every [`Subscription`] hears [`SessionEvent::Expired`] and then
//! [`SessionEvent::NewSession`].
//!
//! A [`Handle`] belongs to one session and never acts in another: what a controller started in a lost session fails
//! with [`Error::SessionExpired`] instead of acting under a name that may belong to another broker by now.
//!
//! ```text
//!  Zk ── keeper task: open, watch the state, open again
//!   └─ Handle (one session) ── get, create, set, delete, multi, watch
//!        └─ client ── relay on loopback ── ZooKeeper        (the relay learns the session's password)
//! ```

mod acl;
mod connect_string;
mod error;
mod events;
mod keeper;
mod multi;
mod multi_read;
mod operations;
mod relay;
mod watch;

pub use connect_string::{ConnectString, ConnectStringError};
pub use error::Error;
pub use events::{SessionEvent, Subscription};
pub use keeper::{Zk, ZkOptions};
pub use multi::{MultiError, Op, OpResult};
pub use operations::{CreateMode, Handle, SessionIdentity};
pub use watch::{WatchEnd, Watched};
pub use zookeeper_client::Stat;
