//! The codes of `org.apache.zookeeper.KeeperException.Code` that a standalone server answers with.

/// What a request failed with. The number of each is the one on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ErrorCode {
    /// Another operation of the same transaction failed.
    RuntimeInconsistency = -2,
    /// The body of the request cannot be read.
    MarshallingError = -5,
    /// The operation is not known here.
    Unimplemented = -6,
    /// A path, flag or time to live that cannot be.
    BadArguments = -8,
    /// The node, or the parent of a node to create, is not there.
    NoNode = -101,
    /// No identity of the connection has the permission.
    NoAuth = -102,
    /// The version expected is not the version found.
    BadVersion = -103,
    /// An ephemeral node cannot have children.
    NoChildrenForEphemerals = -108,
    /// The node is there already.
    NodeExists = -110,
    /// A node with children cannot be deleted.
    NotEmpty = -111,
    /// The session is closed or has run out of time.
    SessionExpired = -112,
    /// An ACL is empty, of an unknown scheme, or not well formed.
    InvalidAcl = -114,
    /// The credentials were refused.
    AuthFailed = -115,
    /// The connection has no such watch.
    NoWatcher = -121,
    /// The members of a standalone server cannot be changed.
    ReconfigDisabled = -123,
    /// The node, or the subtree of a limit, would grow too large.
    QuotaExceeded = -125,
}

impl ErrorCode {
    /// Returns the number on the wire.
    #[must_use]
    pub fn code(self) -> i32 {
        self as i32
    }
}
