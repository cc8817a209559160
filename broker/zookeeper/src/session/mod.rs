//! Client sessions: who they are, how long they may be silent, when they end.
//!
//! What survives a restart (identity, password, timeout) is in [`Sessions`] and changes only by transactions. When a
//! session runs out is a matter of this process alone and is kept in [`Expiry`]: after a restart every session has
//! its full timeout again.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod expiry;
mod passwords;
mod sessions;

pub use expiry::Expiry;
pub use passwords::Passwords;
pub use sessions::{Session, Sessions};
