//! ZooKeeper's nodes: read whole once, then followed by a persistent recursive watch.
//!
//! `translate` turns a path and its data into an update and knows no session; `read` asks; `follow` is the driver.

mod follow;
mod read;
mod translate;

pub(super) use follow::run;
pub(super) use read::{connect, read_all};
