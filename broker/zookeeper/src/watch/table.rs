//! Watches of one kind, by path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::types::ConnectionId;

/// Which connections watch which paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    by_path: BTreeMap<Arc<str>, BTreeSet<ConnectionId>>,
    count: usize,
}

impl Table {
    /// Adds a watch and returns its path when it is new.
    pub(super) fn add(&mut self, path: &str, connection: ConnectionId) -> Option<Arc<str>> {
        let key = match self.by_path.get_key_value(path) {
            Some((key, _)) => Arc::clone(key),
            None => Arc::from(path),
        };
        let added = self.by_path.entry(Arc::clone(&key)).or_default().insert(connection);
        self.count = self.count.saturating_add(usize::from(added));
        added.then_some(key)
    }

    /// Removes a watch and tells whether it was there.
    pub(super) fn remove(&mut self, path: &str, connection: ConnectionId) -> bool {
        let Some(connections) = self.by_path.get_mut(path) else { return false };
        let removed = connections.remove(&connection);
        if connections.is_empty() {
            self.by_path.remove(path);
        }
        self.count = self.count.saturating_sub(usize::from(removed));
        removed
    }

    /// Removes and returns all watches on a path.
    pub(super) fn take(&mut self, path: &str) -> BTreeSet<ConnectionId> {
        let taken = self.by_path.remove(path).unwrap_or_default();
        self.count = self.count.saturating_sub(taken.len());
        taken
    }

    pub(super) fn get(&self, path: &str) -> impl Iterator<Item = ConnectionId> {
        self.by_path.get(path).into_iter().flatten().copied()
    }

    pub(super) fn contains(&self, path: &str, connection: ConnectionId) -> bool {
        self.by_path.get(path).is_some_and(|connections| connections.contains(&connection))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &BTreeSet<ConnectionId>)> {
        self.by_path.iter()
    }
}
