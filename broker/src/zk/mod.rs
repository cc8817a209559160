//! ZooKeeper: the layout of the nodes, and the only session that touches them.
//!
//! Start at [`session`] for how a session lives and dies, at [`layout`] for what the nodes say. The rest is what every
//! broker does with both: [`registration`] and [`cluster`].

pub mod cluster;
pub mod layout;
pub mod registration;
pub mod session;

pub use session::{Error, Handle, Zk, ZkOptions};
