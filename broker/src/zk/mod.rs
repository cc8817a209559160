//! ZooKeeper: the layout of the nodes, and the only session that touches them.

pub mod layout;
