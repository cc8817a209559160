//! The tree as it will be once the changes decided so far are applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change::Change;
use super::node::{Node, Owner};
use super::nodes::Tree;
use super::path;
use crate::jute::{Acl, ErrorCode};

/// What deciding needs to know about a node.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    pub(super) acl: Arc<[Acl]>,
    pub(super) owner: Owner,
    pub(super) version: i32,
    pub(super) aversion: i32,
    pub(super) children_created: i32,
    pub(super) children: usize,
}

impl Sketch {
    fn of(node: &Node) -> Sketch {
        Sketch {
            acl: Arc::clone(&node.acl),
            owner: node.owner,
            version: node.version,
            aversion: node.aversion,
            children_created: node.children_created,
            children: node.children.len(),
        }
    }
}

/// A view of the tree through the changes of one transaction, none of which is applied yet. Dropping it undoes them.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    tree: &'a Tree,
    touched: BTreeMap<Arc<str>, Option<Sketch>>,
}

impl<'a> Draft<'a> {
    /// Returns a view of the tree as it is.
    #[must_use]
    pub fn new(tree: &'a Tree) -> Self {
        Draft { tree, touched: BTreeMap::new() }
    }

    pub(super) fn find(&self, path: &str) -> Result<Sketch, ErrorCode> {
        let path = path::shown(path);
        let sketch = match self.touched.get(path) {
            Some(sketch) => sketch.clone(),
            None => self.tree.get(path).map(Sketch::of),
        };
        sketch.ok_or(ErrorCode::NoNode)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        match self.touched.get(path::shown(path)) {
            Some(sketch) => sketch.is_some(),
            None => self.tree.get(path).is_some(),
        }
    }

    /// Lets later operations of the transaction see `change`, which was decided on this draft.
    pub(super) fn record(&mut self, change: &Change) {
        let path = change.path();
        match change {
            Change::Create { acl, owner, .. } => {
                let acl = Arc::clone(acl);
                let sketch =
                    Sketch { acl, owner: *owner, version: 0, aversion: 0, children_created: 0, children: 0 };
                self.touched.insert(Arc::clone(path), Some(sketch));
                self.record_parent(path, |parent| {
                    parent.children = parent.children.saturating_add(1);
                    parent.children_created = parent.children_created.wrapping_add(1);
                });
            }
            Change::Delete { .. } => {
                self.touched.insert(Arc::clone(path), None);
                self.record_parent(path, |parent| parent.children = parent.children.saturating_sub(1));
            }
            Change::SetData { version, .. } => self.record_node(path, |node| node.version = *version),
            Change::SetAcl { acl, aversion, .. } => self.record_node(path, |node| {
                node.acl = Arc::clone(acl);
                node.aversion = *aversion;
            }),
        }
    }

    fn record_parent(&mut self, path: &str, update: impl FnOnce(&mut Sketch)) {
        if let Some(parent) = path::parent(path) {
            self.record_node(path::shown(parent), update);
        }
    }

    fn record_node(&mut self, path: &str, update: impl FnOnce(&mut Sketch)) {
        if let Ok(mut sketch) = self.find(path) {
            update(&mut sketch);
            self.touched.insert(path.into(), Some(sketch));
        }
    }
}
