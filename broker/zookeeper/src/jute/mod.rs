//! The client protocol as bytes: bounded reader and writer, requests, replies, events.
//!
//! Jute is big-endian and positional: integers, booleans of one byte, strings and buffers with a length of four bytes
//! (−1 for null), vectors with a count of four bytes. A length is checked against the bytes that are really there
//! before anything is allocated, so a request costs at most a small multiple of its own size.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod acl;
mod connect;
mod error_code;
mod event;
mod header;
mod multi;
mod op_code;
mod reader;
mod reply;
mod request;
mod stat;
mod watch_request;
mod writer;

pub use acl::{Acl, Permissions};
pub use connect::{ConnectRequest, ConnectResponse, PASSWORD_BYTES, Password};
pub use error_code::ErrorCode;
pub use event::{EventKind, WatchedEvent};
pub use header::{ReplyHeader, RequestHeader, xid};
pub use multi::{
    Multi, ReadOperation, WriteOperation, write_multi_end, write_multi_error, write_multi_header,
};
pub use op_code::op;
pub use reader::{DecodeError, Reader};
pub use reply::{ClientInfo, Reply};
pub use request::{AddWatchMode, Create, CreateKind, RemoveWatches, Request, WatcherType};
pub use stat::Stat;
pub use watch_request::SetWatches;
pub use writer::Writer;
