//! A small durable server that speaks ZooKeeper's client protocol, for one machine and for tests.
//!
//! It is not an ensemble: there is one server, and its state lives in memory and in a transaction log with
//! snapshots beside it. What a client can observe (replies, stats, watch events, zxids and their order) follows
//! Apache ZooKeeper 3.8 standalone, and 3.9 where clients expect the later behaviour.
//!
//! ```
//! let server = ottla_zookeeper::Server::builder().in_memory().ephemeral_port().start()?;
//! println!("listening on {}", server.local_addr());
//! server.stop()?;
//! # Ok::<(), ottla_zookeeper::Error>(())
//! ```
//!
//! The crate is built from *machines*, which know neither sockets nor files nor clocks ([`machine`], [`tree`],
//! [`session`], [`watch`], [`state`], [`jute`]), and *drivers* around them ([`server`], [`store`]). Start reading at
//! [`machine`]. Those modules are public so that tests and simulations can reach them; only [`Server`],
//! [`Builder`] and [`Error`] are a stable interface.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod admin;
mod config;
mod digest;
pub mod jute;
pub mod machine;
pub mod server;
pub mod session;
pub mod state;
pub mod store;
pub mod tree;
pub mod types;
pub mod watch;

pub use config::{Config, Storage};
pub use server::{Builder, Error, Server};
