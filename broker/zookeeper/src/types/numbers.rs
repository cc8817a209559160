//! Each number is a type of its own.

use std::fmt;

/// Milliseconds: of a clock that only goes forward, or since the Unix epoch; each use says which.
pub type Millis = i64;

/// The number of a transaction. Every state change, session event and failed write takes the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Zxid(pub i64);

impl Zxid {
    /// Before the first transaction.
    pub const ZERO: Zxid = Zxid(0);
    /// What a header carries when no transaction belongs to it.
    pub const NONE: Zxid = Zxid(-1);

    /// Returns the transaction number after this one.
    #[must_use]
    pub fn next(self) -> Zxid {
        Zxid(self.0.wrapping_add(1))
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}

/// The identity of a client session, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}

/// The identity of one accepted connection, never reused while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// The time that is passed into every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Of a clock that only goes forward; session expiry is counted on it.
    pub monotonic_ms: Millis,
    /// Since the Unix epoch; what `ctime` and `mtime` show.
    pub wall_ms: Millis,
}
