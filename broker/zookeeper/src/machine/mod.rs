//! The whole server as one step: what arrives goes in, what is to be done comes out.
//!
//! ```text
//!  Connected, Frame, Disconnected, Durable, Tick ──► step ──► Append, Reply, Notify, Close
//! ```
//!
//! A write is decided on a draft of the tree, becomes a transaction, and is applied at once; its reply and the events
//! that it causes carry the zxid that must be durable before they may leave (`after`). A read is answered from the
//! state as it is and waits only for the last transaction that touched what it shows, so reads of quiet nodes pass
//! while a write is on its way to the disk. The header of a read tells the newest transaction that is durable, never
//! one that a loss of power could take back: clients compare it with a restarted server's.
//!
//! | file | duty |
//! |---|---|
//! | `step` | the machine, its events and effects; the dispatch by kind of event |
//! | `handshake` | opens, continues, moves and refuses sessions |
//! | `request` | the dispatch by operation |
//! | `read`, `write`, `multi`, `watching`, `identity` | the operations |
//! | `commit` | transactions, and the events that they cause |
//! | `expiry` | sessions that run out of time, containers and TTL nodes that go |
//! | `connection`, `reply` | what is known of a connection; how it is answered |
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod commit;
mod connection;
mod expiry;
mod handshake;
mod identity;
mod multi;
mod read;
mod reply;
mod request;
mod step;
#[cfg(test)]
mod tests;
mod watching;
mod write;

pub use connection::{Connection, Phase};
pub use step::{Effect, Event, Machine, Rules, When};
