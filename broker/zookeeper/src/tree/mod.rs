//! The tree of nodes: what it holds, what may be done to it, and how a change is applied.
//!
//! Deciding and applying are apart. A [`Draft`] looks at the tree through the changes decided so far and says whether
//! an operation may happen; what it returns is a [`Change`], and [`Tree::apply`] is the only way in which the tree
//! changes, for live requests and for recovery alike. Errors come in the order in which Apache ZooKeeper's
//! `PrepRequestProcessor` finds them.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod access;
mod change;
mod create;
mod decide;
mod draft;
mod identity;
mod ip_range;
mod node;
mod nodes;
pub mod path;

pub use access::{normalize, permits};
pub use change::{Applied, AppliedKind, Change, Inconsistent};
pub use draft::Draft;
pub use identity::{Identity, digest_identity};
pub use node::{Node, Owner};
pub use nodes::Tree;
