//! One connection to one broker: frames, correlation, version negotiation. The console uses the same.
//!
//! [`Connection::connect`], then either [`Connection::negotiate`] and [`Connection::call_highest`], or
//! [`Connection::call`] with a version that is known from elsewhere (brokers of one cluster command each other without
//! asking). Requests may be pipelined with [`Connection::submit`] and [`Connection::receive`]. After an error that left
//! the stream in doubt a connection answers every call with [`Error::Broken`]: the owner makes a new one.

mod connection;
mod error;
mod versions;

pub use connection::{ConnectOptions, Connection};
pub use error::Error;
pub use versions::Versions;
