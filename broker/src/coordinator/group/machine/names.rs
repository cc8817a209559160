//! The names and numbers of the group protocol, each a type of its own.

use std::fmt;
use std::sync::Arc;

/// Declares a name that only compares with its own kind and is cheap to clone.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

name! {
    /// A group's id, `group.id` of its consumers.
    GroupId
}

name! {
    /// A member's id, given by the coordinator: a client id or group instance id followed by a random part.
    MemberId
}

name! {
    /// A static member's name, `group.instance.id`, which outlives its member ids (KIP-345).
    InstanceId
}

impl MemberId {
    /// Returns the empty id, with which a consumer asks for a new one.
    #[must_use]
    pub fn unknown() -> Self {
        Self::from("")
    }

    /// Returns whether this is the empty id.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }
}

impl GroupId {
    /// Returns whether the id is empty, as old simple consumers send it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Counts the completed rebalances of a group; requests of an older generation are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub i32);

impl Generation {
    /// A group that has not completed a rebalance yet.
    pub const ZERO: Self = Self(0);
    /// What consumers send that are no members.
    pub const NONE: Self = Self(-1);

    /// Returns the generation that the next rebalance completes; starts again at 1 after the largest.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(1))
    }

    /// Returns whether this names a generation at all: negative ones come from consumers without membership.
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 >= 0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A producer's id, in whose transaction offsets are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub i64);

/// Names a request until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names an append until its outcome is known; grows in the order of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppendId(pub u64);
