//! Watches: who wants to hear about which node.
//!
//! A watch belongs to a connection, not to its session. There are four tables: one-shot data watches (exists watches
//! are data watches on an absent node), one-shot child watches, persistent watches (data and children of one node) and
//! persistent recursive ones (a whole subtree, without child events). The modes on one path are independent of each
//! other, as they are since ZooKeeper 3.9 (ZOOKEEPER-4466), and a change gives a connection one event however many
//! of its watches it meets.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod table;
mod trigger;
mod watches;

pub use trigger::Notification;
pub use watches::{Kind, Watches};
