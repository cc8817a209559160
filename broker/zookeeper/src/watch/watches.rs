//! All watches, and each connection's own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::table::Table;
use crate::jute::WatcherType;
use crate::types::ConnectionId;

/// The kinds of watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One-shot, on data and existence.
    Data,
    /// One-shot, on children.
    Child,
    /// Lasting, on data and children of one node.
    Persistent,
    /// Lasting, on every node of a subtree.
    PersistentRecursive,
}

/// All watches of all connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    pub(super) data: Table,
    pub(super) child: Table,
    pub(super) persistent: Table,
    pub(super) recursive: Table,
    by_connection: BTreeMap<ConnectionId, BTreeSet<(Kind, Arc<str>)>>,
}

impl Watches {
    fn table(&mut self, kind: Kind) -> &mut Table {
        match kind {
            Kind::Data => &mut self.data,
            Kind::Child => &mut self.child,
            Kind::Persistent => &mut self.persistent,
            Kind::PersistentRecursive => &mut self.recursive,
        }
    }

    /// Adds a watch; one that is there already stays one.
    pub fn add(&mut self, kind: Kind, path: &str, connection: ConnectionId) {
        if let Some(path) = self.table(kind).add(path, connection) {
            self.by_connection.entry(connection).or_default().insert((kind, path));
        }
    }

    fn remove(&mut self, kind: Kind, path: &str, connection: ConnectionId) -> bool {
        let removed = self.table(kind).remove(path, connection);
        if removed {
            self.forget(kind, path, connection);
        }
        removed
    }

    /// Takes a one-shot watch that has fired off its connection's list.
    pub(super) fn forget(&mut self, kind: Kind, path: &str, connection: ConnectionId) {
        if let Some(own) = self.by_connection.get_mut(&connection) {
            own.remove(&(kind, Arc::from(path)));
            if own.is_empty() {
                self.by_connection.remove(&connection);
            }
        }
    }

    /// Removes the watches of a connection on a path that `kind` names, and tells whether there were any.
    pub fn remove_matching(&mut self, kind: WatcherType, path: &str, connection: ConnectionId) -> bool {
        let mut removed = false;
        for kind in kinds(kind) {
            removed |= self.remove(*kind, path, connection);
        }
        removed
    }

    /// Tells whether a connection has a watch on a path that `kind` names.
    #[must_use]
    pub fn contains_matching(&self, kind: WatcherType, path: &str, connection: ConnectionId) -> bool {
        kinds(kind).iter().any(|kind| {
            let table = match kind {
                Kind::Data => &self.data,
                Kind::Child => &self.child,
                Kind::Persistent => &self.persistent,
                Kind::PersistentRecursive => &self.recursive,
            };
            table.contains(path, connection)
        })
    }

    /// Removes all watches of a connection.
    pub fn remove_connection(&mut self, connection: ConnectionId) {
        for (kind, path) in self.by_connection.remove(&connection).unwrap_or_default() {
            self.table(kind).remove(&path, connection);
        }
    }

    /// Returns how many watches there are.
    #[must_use]
    pub fn count(&self) -> usize {
        let tables = [&self.data, &self.child, &self.persistent, &self.recursive];
        tables.iter().map(|table| table.count()).sum()
    }

    /// Returns how many watches a connection has.
    #[must_use]
    pub fn count_of(&self, connection: ConnectionId) -> usize {
        self.by_connection.get(&connection).map_or(0, BTreeSet::len)
    }

    /// Returns the watched paths of each connection that has a watch.
    #[must_use]
    pub fn by_connection(&self) -> BTreeMap<ConnectionId, BTreeSet<Arc<str>>> {
        let paths = |own: &BTreeSet<(Kind, Arc<str>)>| own.iter().map(|(_, path)| Arc::clone(path)).collect();
        self.by_connection.iter().map(|(connection, own)| (*connection, paths(own))).collect()
    }

    /// Returns the connections that watch each watched path.
    #[must_use]
    pub fn by_path(&self) -> BTreeMap<Arc<str>, BTreeSet<ConnectionId>> {
        let mut all: BTreeMap<Arc<str>, BTreeSet<ConnectionId>> = BTreeMap::new();
        for table in [&self.data, &self.child, &self.persistent, &self.recursive] {
            for (path, connections) in table.iter() {
                all.entry(Arc::clone(path)).or_default().extend(connections);
            }
        }
        all
    }
}

fn kinds(kind: WatcherType) -> &'static [Kind] {
    match kind {
        WatcherType::Children => &[Kind::Child],
        WatcherType::Data => &[Kind::Data],
        WatcherType::Persistent => &[Kind::Persistent],
        WatcherType::PersistentRecursive => &[Kind::PersistentRecursive],
        WatcherType::Any => &[Kind::Data, Kind::Child, Kind::Persistent, Kind::PersistentRecursive],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ConnectionId = ConnectionId(1);
    const B: ConnectionId = ConnectionId(2);

    #[test]
    fn removal_names_a_kind_and_leaves_the_others() {
        let mut watches = Watches::default();
        for kind in [Kind::Data, Kind::Child, Kind::Persistent, Kind::PersistentRecursive] {
            watches.add(kind, "/a", A);
            watches.add(kind, "/a", A);
        }
        assert_eq!(watches.count(), 4);
        assert!(watches.remove_matching(WatcherType::Data, "/a", A));
        assert!(!watches.remove_matching(WatcherType::Data, "/a", A));
        assert!(watches.contains_matching(WatcherType::Children, "/a", A));
        assert!(!watches.contains_matching(WatcherType::Any, "/a", B));
        assert!(watches.remove_matching(WatcherType::Any, "/a", A));
        assert_eq!(watches, Watches::default());
    }

    #[test]
    fn a_connection_takes_its_watches_with_it() {
        let mut watches = Watches::default();
        watches.add(Kind::Data, "/a", A);
        watches.add(Kind::PersistentRecursive, "/b", A);
        watches.add(Kind::Data, "/a", B);
        watches.remove_connection(A);
        assert_eq!((watches.count(), watches.count_of(A), watches.count_of(B)), (1, 0, 1));
        watches.remove_connection(B);
        assert_eq!(watches, Watches::default());
    }
}
