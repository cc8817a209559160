//! The cluster's one decision maker: who leads what, and who must know.
//!
//! Every broker has a [`Controller`]; the one that holds `/controller` is in office. The rules are in [`machine`], which
//! knows neither sockets nor clocks; the `driver` reads ZooKeeper for it, does its writes and passes its commands to the
//! `channel` of each broker.
//!
//! ```text
//!  handlers ──Request──► driver ──Event──► machine
//!                         │  ▲               │ Effect
//!     ZooKeeper ◄─writes──┤  └── watches ◄───┤
//!     broker 1..n ◄─── channel (one queue, one request in flight) ◄─┘
//! ```

mod channel;
mod driver;
mod handle;
pub mod machine;
pub mod new_topic;

pub use handle::{Controller, ControllerOptions, Counts, Register};
