//! Single reads.

use super::reply::Caller;
use super::step::{Effect, Machine};
use crate::jute::{Acl, ErrorCode, Permissions, Reply, Request, Stat};
use crate::tree::{Node, permits};
use crate::types::{ConnectionId, Zxid};
use crate::watch::Kind;

impl Machine {
    pub(super) fn read(&mut self, caller: Caller, request: &Request<'_>, out: &mut Vec<Effect>) {
        match request {
            Request::Exists { path, watch } => self.exists(caller, path, *watch, out),
            Request::GetData { path, watch } => self.get_data(caller, path, *watch, out),
            Request::GetChildren { path, watch, with_stat } => {
                self.get_children(caller, path, *watch, *with_stat, out);
            }
            Request::GetAcl { path } => self.get_acl(caller, path, out),
            Request::GetEphemerals { prefix } => self.get_ephemerals(caller, prefix, out),
            Request::GetAllChildrenNumber { path } => self.count_descendants(caller, path, out),
            Request::Sync { path } => {
                let after = self.state.last_zxid;
                self.reply(caller, Ok(Reply::Path(path)), after, out);
            }
            _ => self.reply(caller, Err(ErrorCode::Unimplemented), Zxid::ZERO, out),
        }
    }

    /// Returns a node that the connection may read.
    pub(super) fn readable(&self, connection: ConnectionId, path: &str) -> Result<&Node, ErrorCode> {
        let node = self.state.tree.get(path).ok_or(ErrorCode::NoNode)?;
        if permits(&node.acl, Permissions::READ, self.identities(connection)) {
            Ok(node)
        } else {
            Err(ErrorCode::NoAuth)
        }
    }

    /// Needs no permission. The watch stays even when the node is absent: it tells of its creation.
    fn exists(&mut self, caller: Caller, path: &str, watch: bool, out: &mut Vec<Effect>) {
        if path.contains('\0') {
            return self.reply(caller, Err(ErrorCode::BadArguments), Zxid::ZERO, out);
        }
        let result = match self.state.tree.get(path) {
            Some(node) => Ok(Reply::Stat(node.stat())),
            None => Err(ErrorCode::NoNode),
        };
        if watch {
            self.watches.add(Kind::Data, path, caller.connection);
        }
        self.reply(caller, result, self.state.tree.touched(path), out);
    }

    fn get_data(&mut self, caller: Caller, path: &str, watch: bool, out: &mut Vec<Effect>) {
        let found: Result<_, ErrorCode> =
            self.readable(caller.connection, path).map(|node| (node.data.clone(), node.stat()));
        if watch && found.is_ok() {
            self.watches.add(Kind::Data, path, caller.connection);
        }
        let result = found.as_ref().map(|(data, stat)| Reply::Data(data.as_deref(), *stat));
        self.reply(caller, result.map_err(|error| *error), self.state.tree.touched(path), out);
    }

    fn get_children(
        &mut self,
        caller: Caller,
        path: &str,
        watch: bool,
        with_stat: bool,
        out: &mut Vec<Effect>,
    ) {
        let found: Result<(Vec<String>, Stat), ErrorCode> = self
            .readable(caller.connection, path)
            .map(|node| (node.children().map(str::to_owned).collect(), node.stat()));
        if watch && found.is_ok() {
            self.watches.add(Kind::Child, path, caller.connection);
        }
        let after = self.state.tree.touched(path);
        match found {
            Ok((children, stat)) => {
                let children: Vec<&str> = children.iter().map(String::as_str).collect();
                let reply = if with_stat {
                    Reply::ChildrenAndStat(&children, stat)
                } else {
                    Reply::Children(&children)
                };
                self.reply(caller, Ok(reply), after, out);
            }
            Err(error) => self.reply(caller, Err(error), after, out),
        }
    }

    /// Readers see who has access; only administrators see the digests.
    fn get_acl(&mut self, caller: Caller, path: &str, out: &mut Vec<Effect>) {
        let identities = self.identities(caller.connection);
        let found = match self.state.tree.get(path) {
            None => Err(ErrorCode::NoNode),
            Some(node) if permits(&node.acl, Permissions::ADMIN, identities) => {
                Ok((node.acl.to_vec(), node.stat()))
            }
            Some(node) if permits(&node.acl, Permissions::READ, identities) => {
                Ok((node.acl.iter().map(masked).collect(), node.stat()))
            }
            Some(_) => Err(ErrorCode::NoAuth),
        };
        let result = found.as_ref().map(|(acl, stat)| Reply::Acl(acl, *stat));
        self.reply(caller, result.map_err(|error| *error), self.state.tree.touched(path), out);
    }

    fn get_ephemerals(&mut self, caller: Caller, prefix: &str, out: &mut Vec<Effect>) {
        let everything = matches!(prefix.trim(), "" | "/");
        let paths: Vec<_> = self
            .state
            .tree
            .ephemerals_of(caller.session)
            .filter(|path| everything || path.starts_with(prefix))
            .cloned()
            .collect();
        let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
        self.reply(caller, Ok(Reply::Children(&paths)), self.state.last_zxid, out);
    }

    fn count_descendants(&mut self, caller: Caller, path: &str, out: &mut Vec<Effect>) {
        let count = self
            .readable(caller.connection, path)
            .map(|_| i32::try_from(self.state.tree.count_descendants(path)).unwrap_or(i32::MAX));
        self.reply(caller, count.map(Reply::Count), self.state.last_zxid, out);
    }
}

fn masked(entry: &Acl) -> Acl {
    let user = entry.id.split(':').next().unwrap_or_default();
    match &*entry.scheme {
        "digest" => Acl::new(entry.permissions, "digest", &format!("{user}:x")),
        _ => entry.clone(),
    }
}
