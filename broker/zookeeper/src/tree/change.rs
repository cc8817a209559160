//! What can happen to the tree.

use std::sync::Arc;

use super::node::Owner;
use crate::jute::{Acl, Stat};

/// A change that was decided: applying it needs no further question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the node that the change leaves behind")]
pub enum Change {
    /// A node is created.
    Create { path: Arc<str>, data: Option<Arc<[u8]>>, acl: Arc<[Acl]>, owner: Owner },
    /// A node is deleted.
    Delete { path: Arc<str> },
    /// Data is written.
    SetData { path: Arc<str>, data: Option<Arc<[u8]>>, version: i32 },
    /// An ACL is written.
    SetAcl { path: Arc<str>, acl: Arc<[Acl]>, aversion: i32 },
}

impl Change {
    /// Returns the path of the node.
    #[must_use]
    pub fn path(&self) -> &Arc<str> {
        match self {
            Change::Create { path, .. }
            | Change::Delete { path }
            | Change::SetData { path, .. }
            | Change::SetAcl { path, .. } => path,
        }
    }
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliedKind {
    /// The node is new.
    Created,
    /// The node is gone.
    Deleted,
    /// The node has new data.
    DataChanged,
    /// The node has a new ACL.
    AclChanged,
}

/// A change that happened, and the stat of the node right after it (of a deleted one: right before).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What happened.
    pub kind: AppliedKind,
    /// To which node.
    pub path: Arc<str>,
    /// How the node stands.
    pub stat: Stat,
    /// Who may hear of it.
    pub acl: Arc<[Acl]>,
    /// Who may hear that the children of its parent changed, when they did.
    pub parent_acl: Option<Arc<[Acl]>>,
}

/// A change that does not fit the tree; it can only come from files that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Inconsistent {
    /// The node of the change.
    pub path: String,
    /// Why it does not fit.
    pub problem: &'static str,
}
