//! The settings of a server, as plain values. `Server::builder` collects and checks them.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod settings;

pub use settings::{Config, Storage};
