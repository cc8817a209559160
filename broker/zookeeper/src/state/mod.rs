//! What the server must not lose: the tree, the open sessions, the last zxid.
//!
//! It changes only by [`State::replay`] of a [`Transaction`], for live requests and for recovery alike, so that what
//! recovery rebuilds is what clients saw.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod codec;
mod replay;
mod transaction;

pub use codec::{decode_node, decode_session, encode_node, encode_session};
pub use replay::{ReplayError, State};
pub use transaction::{Body, Transaction};
