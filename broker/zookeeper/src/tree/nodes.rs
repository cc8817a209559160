//! All nodes by path, and the application of changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use super::change::{Applied, AppliedKind, Change, Inconsistent};
use super::node::{Node, Owner};
use super::path;
use crate::jute::{Acl, Permissions};
use crate::types::{Millis, SessionId, Zxid};

/// The whole tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: BTreeMap<Arc<str>, Node>,
    ephemerals: BTreeMap<SessionId, BTreeSet<Arc<str>>>,
    unattended: BTreeSet<Arc<str>>,
    data_bytes: u64,
}

impl Default for Tree {
    /// The tree of a server that never served: the root and the server's own subtree.
    fn default() -> Self {
        let mut tree = Tree::empty();
        let open: Arc<[Acl]> = Arc::new([Acl::new(Permissions::ALL, "world", "anyone")]);
        let read: Arc<[Acl]> = Arc::new([Acl::new(Permissions::READ, "world", "anyone")]);
        let node = |acl| Node::new(Some(Arc::new([])), acl, Owner::Nobody, Zxid::ZERO, 0);
        for (path, acl) in
            [(path::ROOT, &open), (path::SYSTEM, &open), (path::QUOTA, &open), (path::CONFIG, &read)]
        {
            let mut node = node(Arc::clone(acl));
            if path == path::CONFIG {
                // The real server sets this ACL with version −1, and clients see it.
                node.aversion = -1;
            }
            tree.restore(path.into(), node).expect("parents stand before their children");
        }
        tree
    }
}

impl Tree {
    /// Returns a tree without even a root, to be filled by [`Tree::restore`].
    #[must_use]
    pub fn empty() -> Self {
        Tree {
            nodes: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
            unattended: BTreeSet::new(),
            data_bytes: 0,
        }
    }

    /// Returns the node at `path`; the empty path is the root too.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path::shown(path))
    }

    fn get_mut(&mut self, path: &str) -> Option<&mut Node> {
        self.nodes.get_mut(path::shown(path))
    }

    /// Returns all nodes, parents before their children.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Node)> {
        self.nodes.iter()
    }

    /// Returns how many nodes there are, the root included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the bytes of all paths and data.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Returns the ephemeral nodes by session.
    pub fn ephemerals(&self) -> impl ExactSizeIterator<Item = (SessionId, &BTreeSet<Arc<str>>)> {
        self.ephemerals.iter().map(|(session, paths)| (*session, paths))
    }

    /// Returns the ephemeral nodes of one session, in order.
    pub fn ephemerals_of(&self, session: SessionId) -> impl Iterator<Item = &Arc<str>> {
        self.ephemerals.get(&session).into_iter().flatten()
    }

    /// Tells whether any node may go by itself although its session lives: containers and TTL nodes.
    #[must_use]
    pub fn has_unattended(&self) -> bool {
        !self.unattended.is_empty()
    }

    /// Returns the empty containers that once had children, and the childless TTL nodes whose time is over.
    #[must_use]
    pub fn due_for_removal(&self, wall_ms: Millis) -> Vec<Arc<str>> {
        let due = |path: &&Arc<str>| match self.nodes.get(*path) {
            Some(node) if node.children.is_empty() => match node.owner {
                Owner::Container => node.children_created > 0,
                Owner::TimeToLive(ttl_ms) => wall_ms.saturating_sub(node.mtime_ms) > ttl_ms,
                Owner::Nobody | Owner::Session(_) => false,
            },
            Some(_) | None => false,
        };
        self.unattended.iter().filter(due).cloned().collect()
    }

    /// Counts the descendants of a node.
    #[must_use]
    pub fn count_descendants(&self, path: &str) -> usize {
        if path == path::ROOT {
            return self.nodes.len().saturating_sub(1);
        }
        let prefix = format!("{path}/");
        self.nodes
            .range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded))
            .take_while(|(candidate, _)| candidate.starts_with(&prefix))
            .count()
    }

    /// Returns the last transaction that a reply about `path` depends on. The absence of a node depends on whatever
    /// last touched its nearest ancestor that is there.
    #[must_use]
    pub fn touched(&self, path: &str) -> Zxid {
        path::with_ancestors(path::shown(path))
            .find_map(|candidate| self.get(candidate))
            .map_or(Zxid::ZERO, |node| node.touched)
    }

    /// Puts a node in as it was, its parent being there already.
    ///
    /// # Errors
    /// When the parent is missing or the node is there already.
    pub fn restore(&mut self, path: Arc<str>, node: Node) -> Result<(), Inconsistent> {
        if &*path != path::ROOT {
            let parent = path::parent(&path).and_then(|parent| self.get_mut(parent));
            let parent = parent.ok_or_else(|| inconsistent(&path, "has no parent"))?;
            if !parent.children.insert(path::name(&path).into()) {
                return Err(inconsistent(&path, "is there already"));
            }
        }
        self.data_bytes = self.data_bytes.saturating_add(size(&path, &node));
        match node.owner {
            Owner::Nobody => {}
            Owner::Session(session) => {
                self.ephemerals.entry(session).or_default().insert(Arc::clone(&path));
            }
            Owner::Container | Owner::TimeToLive(_) => {
                self.unattended.insert(Arc::clone(&path));
            }
        }
        self.nodes.insert(path, node);
        Ok(())
    }

    /// Applies a change.
    ///
    /// # Errors
    /// When it does not fit the tree, which cannot happen to a change that was decided on this tree.
    pub fn apply(&mut self, change: &Change, zxid: Zxid, time_ms: Millis) -> Result<Applied, Inconsistent> {
        match change {
            Change::Create { path, data, acl, owner } => {
                let node = Node::new(data.clone(), Arc::clone(acl), *owner, zxid, time_ms);
                self.create(path, node, zxid)
            }
            Change::Delete { path } => self.delete(path, zxid),
            Change::SetData { path, data, version } => self.set_data(path, data, *version, zxid, time_ms),
            Change::SetAcl { path, acl, aversion } => {
                let node = self.get_mut(path).ok_or_else(|| inconsistent(path, "is not there"))?;
                node.acl = Arc::clone(acl);
                node.aversion = *aversion;
                node.touched = zxid;
                Ok(applied(AppliedKind::AclChanged, path, node, None))
            }
        }
    }

    fn create(&mut self, path: &Arc<str>, node: Node, zxid: Zxid) -> Result<Applied, Inconsistent> {
        let (stat, acl) = (node.stat(), Arc::clone(&node.acl));
        self.restore(Arc::clone(path), node)?;
        let parent = path::parent(path).and_then(|parent| self.get_mut(parent));
        let parent = parent.ok_or_else(|| inconsistent(path, "has no parent"))?;
        parent.children_created = parent.children_created.wrapping_add(1);
        parent.pzxid = zxid;
        parent.touched = zxid;
        let parent_acl = Some(Arc::clone(&parent.acl));
        Ok(Applied { kind: AppliedKind::Created, path: Arc::clone(path), stat, acl, parent_acl })
    }

    fn delete(&mut self, path: &Arc<str>, zxid: Zxid) -> Result<Applied, Inconsistent> {
        match self.get(path) {
            Some(node) if node.children.is_empty() => {}
            Some(_) => return Err(inconsistent(path, "has children")),
            None => return Err(inconsistent(path, "is not there")),
        }
        let parent = path::parent(path).and_then(|parent| self.get_mut(parent));
        let parent = parent.ok_or_else(|| inconsistent(path, "has no parent"))?;
        parent.children.remove(path::name(path));
        parent.pzxid = zxid;
        parent.touched = zxid;
        let parent_acl = Arc::clone(&parent.acl);
        let node = self.nodes.remove(path).ok_or_else(|| inconsistent(path, "is not there"))?;
        self.data_bytes = self.data_bytes.saturating_sub(size(path, &node));
        match node.owner {
            Owner::Nobody => {}
            Owner::Session(session) => self.forget_ephemeral(session, path),
            Owner::Container | Owner::TimeToLive(_) => {
                self.unattended.remove(path);
            }
        }
        Ok(applied(AppliedKind::Deleted, path, &node, Some(parent_acl)))
    }

    fn forget_ephemeral(&mut self, session: SessionId, path: &Arc<str>) {
        if let Some(paths) = self.ephemerals.get_mut(&session) {
            paths.remove(path);
            if paths.is_empty() {
                self.ephemerals.remove(&session);
            }
        }
    }

    fn set_data(
        &mut self,
        path: &Arc<str>,
        data: &Option<Arc<[u8]>>,
        version: i32,
        zxid: Zxid,
        time_ms: Millis,
    ) -> Result<Applied, Inconsistent> {
        let node = self.get_mut(path).ok_or_else(|| inconsistent(path, "is not there"))?;
        let before = node.data_bytes();
        node.data.clone_from(data);
        node.version = version;
        node.mzxid = zxid;
        node.mtime_ms = time_ms;
        node.touched = zxid;
        let after = node.data_bytes();
        let applied = applied(AppliedKind::DataChanged, path, node, None);
        self.data_bytes = self.data_bytes.saturating_sub(before as u64).saturating_add(after as u64);
        Ok(applied)
    }
}

fn applied(kind: AppliedKind, path: &Arc<str>, node: &Node, parent_acl: Option<Arc<[Acl]>>) -> Applied {
    Applied { kind, path: Arc::clone(path), stat: node.stat(), acl: Arc::clone(&node.acl), parent_acl }
}

fn size(path: &str, node: &Node) -> u64 {
    (path.len() as u64).saturating_add(node.data_bytes() as u64)
}

fn inconsistent(path: &str, problem: &'static str) -> Inconsistent {
    Inconsistent { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(path: &str, owner: Owner) -> Change {
        Change::Create { path: path.into(), data: None, acl: Arc::new([]), owner }
    }

    #[test]
    fn the_tree_of_a_new_server_looks_like_the_real_one() {
        let tree = Tree::default();
        let stat = |path| tree.get(path).unwrap().stat();
        assert_eq!((stat("/").cversion, stat("/").num_children), (-1, 1));
        assert_eq!((stat("/zookeeper").cversion, stat("/zookeeper").num_children), (-2, 2));
        assert_eq!((stat("/zookeeper/config").aversion, stat("/zookeeper/quota").aversion), (-1, 0));
        assert_eq!(tree.node_count(), 4);
        assert_eq!(tree.count_descendants("/"), 3);
    }

    #[test]
    fn child_versions_count_deletions_but_sequence_numbers_do_not() {
        let mut tree = Tree::default();
        tree.apply(&create("/p", Owner::Nobody), Zxid(1), 10).unwrap();
        tree.apply(&create("/p/a", Owner::Nobody), Zxid(2), 10).unwrap();
        tree.apply(&Change::Delete { path: "/p/a".into() }, Zxid(3), 10).unwrap();
        let parent = tree.get("/p").unwrap();
        assert_eq!((parent.stat().cversion, parent.children_created, parent.pzxid), (2, 1, Zxid(3)));
    }

    #[test]
    fn what_goes_by_itself_is_found_when_it_is_due() {
        let mut tree = Tree::default();
        tree.apply(&create("/c", Owner::Container), Zxid(1), 0).unwrap();
        tree.apply(&create("/t", Owner::TimeToLive(50)), Zxid(2), 100).unwrap();
        assert!(tree.due_for_removal(150).is_empty(), "a container that never had a child stays");
        tree.apply(&create("/c/x", Owner::Nobody), Zxid(3), 0).unwrap();
        assert!(tree.due_for_removal(150).is_empty());
        tree.apply(&Change::Delete { path: "/c/x".into() }, Zxid(4), 0).unwrap();
        assert_eq!(tree.due_for_removal(151), ["/c".into(), "/t".into()]);
        tree.apply(&Change::Delete { path: "/c".into() }, Zxid(5), 0).unwrap();
        tree.apply(&Change::Delete { path: "/t".into() }, Zxid(6), 0).unwrap();
        assert!(!tree.has_unattended());
    }

    #[test]
    fn the_absence_of_a_node_depends_on_what_removed_it() {
        let mut tree = Tree::default();
        tree.apply(&create("/a", Owner::Nobody), Zxid(1), 0).unwrap();
        tree.apply(&create("/a/b", Owner::Nobody), Zxid(2), 0).unwrap();
        tree.apply(&Change::Delete { path: "/a/b".into() }, Zxid(3), 0).unwrap();
        tree.apply(&Change::Delete { path: "/a".into() }, Zxid(4), 0).unwrap();
        assert_eq!(tree.touched("/a/b"), Zxid(4));
        assert_eq!(tree.touched("/zookeeper/x"), Zxid::ZERO);
    }

    #[test]
    fn descendants_are_counted_without_neighbours_that_share_the_name() {
        let mut tree = Tree::default();
        for path in ["/a", "/a-b", "/a/x", "/a/x/y", "/a0"] {
            tree.apply(&create(path, Owner::Nobody), Zxid(1), 0).unwrap();
        }
        assert_eq!(tree.count_descendants("/a"), 2);
    }

    #[test]
    fn changes_that_do_not_fit_are_refused() {
        let mut tree = Tree::default();
        assert!(tree.apply(&create("/a/b", Owner::Nobody), Zxid(1), 0).is_err());
        assert!(tree.apply(&create("/zookeeper", Owner::Nobody), Zxid(1), 0).is_err());
        assert!(tree.apply(&Change::Delete { path: "/nope".into() }, Zxid(1), 0).is_err());
        assert!(tree.apply(&Change::Delete { path: "/zookeeper".into() }, Zxid(1), 0).is_err());
    }
}
