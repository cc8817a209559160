//! The numbers that must not be mistaken for one another.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod numbers;

pub use numbers::{ConnectionId, Millis, Now, SessionId, Zxid};
