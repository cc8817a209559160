//! Single writes.

use super::reply::Caller;
use super::step::{Effect, Machine};
use crate::jute::{CreateKind, ErrorCode, Reply, Request};
use crate::state::Body;
use crate::tree::{Applied, Change, Draft, Identity};
use crate::types::{ConnectionId, Now};

impl Machine {
    pub(super) fn write(&mut self, now: Now, caller: Caller, request: &Request<'_>, out: &mut Vec<Effect>) {
        match self.decide(caller, request) {
            Ok(change) => {
                let (zxid, applied) = self.commit(now, Body::Changes(vec![change]), out);
                let applied = applied.first().expect("one change was applied");
                self.reply(caller, Ok(body(request, applied)), zxid, out);
            }
            Err(error) => self.fail(now, caller, error, out),
        }
    }

    fn decide(&self, caller: Caller, request: &Request<'_>) -> Result<Change, ErrorCode> {
        let identities = self.identities(caller.connection);
        let mut draft = Draft::new(&self.state.tree);
        match request {
            Request::Create(create) => draft.create(create, caller.session, identities),
            Request::Delete { path, version } => draft.delete(path, *version, identities),
            Request::SetData { path, data, version } => draft.set_data(path, *data, *version, identities),
            Request::SetAcl { path, acl, version } => draft.set_acl(path, acl, *version, identities),
            _ => Err(ErrorCode::Unimplemented),
        }
    }

    pub(super) fn identities(&self, connection: ConnectionId) -> &[Identity] {
        self.connections.get(&connection).map_or(&[], |connection| &connection.identities)
    }
}

fn body<'a>(request: &Request<'_>, applied: &'a Applied) -> Reply<'a> {
    match request {
        Request::Create(create) if create.kind == CreateKind::Create => Reply::Path(&applied.path),
        Request::Create(_) => Reply::PathAndStat(&applied.path, applied.stat),
        Request::SetData { .. } | Request::SetAcl { .. } => Reply::Stat(applied.stat),
        _ => Reply::Empty,
    }
}
