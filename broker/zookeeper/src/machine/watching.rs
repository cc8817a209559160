//! Operations on watches.

use super::reply::Caller;
use super::step::{Effect, Machine};
use crate::jute::{AddWatchMode, ErrorCode, EventKind, RemoveWatches, Reply, SetWatches, WatchedEvent};
use crate::types::Zxid;
use crate::watch::Kind;

impl Machine {
    pub(super) fn add_watch(
        &mut self,
        caller: Caller,
        path: &str,
        mode: AddWatchMode,
        out: &mut Vec<Effect>,
    ) {
        let kind = match mode {
            AddWatchMode::Persistent => Kind::Persistent,
            AddWatchMode::PersistentRecursive => Kind::PersistentRecursive,
        };
        self.watches.add(kind, path, caller.connection);
        // The body is an ErrorResponse that says 0.
        self.reply(caller, Ok(Reply::Count(0)), Zxid::ZERO, out);
    }

    pub(super) fn check_watches(&mut self, caller: Caller, watch: &RemoveWatches<'_>, out: &mut Vec<Effect>) {
        let found = self.watches.contains_matching(watch.kind, &watch.path, caller.connection);
        self.reply_about_watch(caller, found, out);
    }

    pub(super) fn remove_watches(
        &mut self,
        caller: Caller,
        watch: &RemoveWatches<'_>,
        out: &mut Vec<Effect>,
    ) {
        let found = self.watches.remove_matching(watch.kind, &watch.path, caller.connection);
        self.reply_about_watch(caller, found, out);
    }

    fn reply_about_watch(&mut self, caller: Caller, found: bool, out: &mut Vec<Effect>) {
        let result = if found { Ok(Reply::Empty) } else { Err(ErrorCode::NoWatcher) };
        self.reply(caller, result, Zxid::ZERO, out);
    }

    /// Brings watches back after a reconnect. What changed while the client was away is told at once, and the watch is
    /// spent (`DataTree.setWatches`).
    pub(super) fn set_watches(&mut self, caller: Caller, watches: &SetWatches<'_>, out: &mut Vec<Effect>) {
        let since = watches.relative_zxid;
        for path in &watches.data {
            let missed = match self.state.tree.get(path) {
                None => Some(EventKind::NodeDeleted),
                Some(node) if node.mzxid > since => Some(EventKind::NodeDataChanged),
                Some(_) => None,
            };
            self.set_watch(caller, Kind::Data, path, missed, out);
        }
        for path in &watches.exists {
            let missed = self.state.tree.get(path).map(|_| EventKind::NodeCreated);
            self.set_watch(caller, Kind::Data, path, missed, out);
        }
        for path in &watches.child {
            let missed = match self.state.tree.get(path) {
                None => Some(EventKind::NodeDeleted),
                Some(node) if node.pzxid > since => Some(EventKind::NodeChildrenChanged),
                Some(_) => None,
            };
            self.set_watch(caller, Kind::Child, path, missed, out);
        }
        for path in &watches.persistent {
            self.watches.add(Kind::Persistent, path, caller.connection);
        }
        for path in &watches.persistent_recursive {
            self.watches.add(Kind::PersistentRecursive, path, caller.connection);
        }
        self.reply(caller, Ok(Reply::Empty), Zxid::ZERO, out);
    }

    fn set_watch(
        &mut self,
        caller: Caller,
        kind: Kind,
        path: &str,
        missed: Option<EventKind>,
        out: &mut Vec<Effect>,
    ) {
        match missed {
            Some(missed) => {
                let frame = WatchedEvent { kind: missed, path, zxid: Zxid::NONE }.into_frame();
                self.send_event(caller.connection, frame.into(), self.state.tree.touched(path), out);
            }
            None => self.watches.add(kind, path, caller.connection),
        }
    }
}
