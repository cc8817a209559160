//! Which watches a change fires.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::watches::{Kind, Watches};
use crate::jute::{Acl, EventKind};
use crate::tree::path;
use crate::tree::{Applied, AppliedKind};
use crate::types::ConnectionId;

/// An event and those who get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// What happened.
    pub kind: EventKind,
    /// To which node.
    pub path: String,
    /// Who watches; never empty.
    pub connections: BTreeSet<ConnectionId>,
    /// The ACL of the node: only those who may read it are told (CVE-2024-23944).
    pub acl: Arc<[Acl]>,
}

impl Watches {
    /// Fires the watches that an applied change meets: on the node first, then on its parent (`DataTree`).
    pub fn trigger(&mut self, applied: &Applied, out: &mut Vec<Notification>) {
        let path = &*applied.path;
        match applied.kind {
            AppliedKind::Created => {
                let watching = self.node_watchers(path);
                notify(EventKind::NodeCreated, path, &applied.acl, watching, out);
                self.trigger_parent(applied, out);
            }
            AppliedKind::Deleted => {
                let mut watching = self.node_watchers(path);
                watching.extend(self.take_child(path));
                notify(EventKind::NodeDeleted, path, &applied.acl, watching, out);
                self.trigger_parent(applied, out);
            }
            AppliedKind::DataChanged => {
                let watching = self.node_watchers(path);
                notify(EventKind::NodeDataChanged, path, &applied.acl, watching, out);
            }
            AppliedKind::AclChanged => {}
        }
    }

    fn trigger_parent(&mut self, applied: &Applied, out: &mut Vec<Notification>) {
        let parent = path::parent(&applied.path).map(path::shown);
        if let (Some(parent), Some(acl)) = (parent, &applied.parent_acl) {
            let mut watching = self.take_child(parent);
            watching.extend(self.persistent.get(parent));
            notify(EventKind::NodeChildrenChanged, parent, acl, watching, out);
        }
    }

    /// Who hears of a change to the node itself.
    fn node_watchers(&mut self, path: &str) -> BTreeSet<ConnectionId> {
        let mut watching = self.data.take(path);
        for connection in &watching {
            self.forget(Kind::Data, path, *connection);
        }
        watching.extend(self.persistent.get(path));
        if !self.recursive.is_empty() {
            for ancestor in path::with_ancestors(path) {
                watching.extend(self.recursive.get(ancestor));
            }
        }
        watching
    }

    fn take_child(&mut self, path: &str) -> BTreeSet<ConnectionId> {
        let watching = self.child.take(path);
        for connection in &watching {
            self.forget(Kind::Child, path, *connection);
        }
        watching
    }
}

fn notify(
    kind: EventKind,
    path: &str,
    acl: &Arc<[Acl]>,
    connections: BTreeSet<ConnectionId>,
    out: &mut Vec<Notification>,
) {
    if !connections.is_empty() {
        out.push(Notification { kind, path: path.to_owned(), connections, acl: Arc::clone(acl) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Node, Owner};
    use crate::types::Zxid;

    const DATA: ConnectionId = ConnectionId(1);
    const CHILD: ConnectionId = ConnectionId(2);
    const PERSISTENT: ConnectionId = ConnectionId(3);
    const RECURSIVE: ConnectionId = ConnectionId(4);

    fn fired(watches: &mut Watches, kind: AppliedKind, path: &str) -> Vec<(EventKind, String, Vec<u64>)> {
        let stat = Node::new(None, [].into(), Owner::Nobody, Zxid(1), 0).stat();
        let (acl, parent_acl): (Arc<[Acl]>, _) = ([].into(), Some([].into()));
        let mut out = Vec::new();
        watches.trigger(&Applied { kind, path: path.into(), stat, acl, parent_acl }, &mut out);
        out.into_iter()
            .map(|event| (event.kind, event.path, event.connections.into_iter().map(|id| id.0).collect()))
            .collect()
    }

    fn watches_on(path: &str) -> Watches {
        let mut watches = Watches::default();
        watches.add(Kind::Data, path, DATA);
        watches.add(Kind::Child, path, CHILD);
        watches.add(Kind::Persistent, path, PERSISTENT);
        watches.add(Kind::PersistentRecursive, path, RECURSIVE);
        watches
    }

    #[test]
    fn each_kind_of_watch_hears_what_it_is_for() {
        use AppliedKind::{AclChanged, Created, DataChanged, Deleted};
        use EventKind::{NodeChildrenChanged, NodeCreated, NodeDataChanged, NodeDeleted};
        let w = "/w".to_owned();
        let child = "/w/x".to_owned();
        let cases = [
            (Created, "/w", vec![(NodeCreated, w.clone(), vec![1, 3, 4])]),
            (DataChanged, "/w", vec![(NodeDataChanged, w.clone(), vec![1, 3, 4])]),
            (Deleted, "/w", vec![(NodeDeleted, w.clone(), vec![1, 2, 3, 4])]),
            (AclChanged, "/w", vec![]),
            (
                Created,
                "/w/x",
                vec![(NodeCreated, child.clone(), vec![4]), (NodeChildrenChanged, w.clone(), vec![2, 3])],
            ),
            (
                Deleted,
                "/w/x",
                vec![(NodeDeleted, child.clone(), vec![4]), (NodeChildrenChanged, w, vec![2, 3])],
            ),
            (DataChanged, "/w/x", vec![(NodeDataChanged, child, vec![4])]),
            (DataChanged, "/wx", vec![]),
        ];
        for (kind, path, expected) in cases {
            assert_eq!(fired(&mut watches_on("/w"), kind, path), expected, "{kind:?} {path}");
        }
    }

    #[test]
    fn one_shot_watches_fire_once_and_lasting_ones_stay() {
        let mut watches = watches_on("/w");
        fired(&mut watches, AppliedKind::Deleted, "/w");
        assert_eq!(fired(&mut watches, AppliedKind::Created, "/w")[0].2, [3, 4]);
        assert_eq!(watches.count(), 2);
    }

    #[test]
    fn a_recursive_watch_on_the_root_hears_everything_once() {
        let mut watches = Watches::default();
        watches.add(Kind::PersistentRecursive, "/", RECURSIVE);
        watches.add(Kind::PersistentRecursive, "/a", RECURSIVE);
        watches.add(Kind::Data, "/a/b", RECURSIVE);
        let events = fired(&mut watches, AppliedKind::DataChanged, "/a/b");
        assert_eq!(events, [(EventKind::NodeDataChanged, "/a/b".to_owned(), vec![4])]);
    }
}
