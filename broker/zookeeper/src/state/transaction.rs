//! One entry of the log.

use crate::jute::Password;
use crate::tree::Change;
use crate::types::{Millis, SessionId, Zxid};

/// What one zxid did. There is one for every zxid, so a gap in the log is visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number.
    pub zxid: Zxid,
    /// When it was decided, since the Unix epoch.
    pub time_ms: Millis,
    /// What it does.
    pub body: Body,
}

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the session")]
pub enum Body {
    /// A session opens.
    OpenSession { session: SessionId, password: Password, timeout_ms: Millis },
    /// A session closes, and its ephemeral nodes go.
    CloseSession { session: SessionId },
    /// Changes to the tree, all or none. A write that failed has none and takes its zxid all the same.
    Changes(Vec<Change>),
}
