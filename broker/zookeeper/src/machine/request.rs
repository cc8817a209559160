//! The dispatch by operation.

use super::reply::Caller;
use super::step::{Effect, Machine, When};
use crate::jute::{ErrorCode, Reader, Reply, Request, RequestHeader, xid};
use crate::state::Body;
use crate::types::{ConnectionId, Now, SessionId, Zxid};

impl Machine {
    pub(super) fn request(
        &mut self,
        now: Now,
        connection: ConnectionId,
        session: SessionId,
        bytes: &[u8],
        out: &mut Vec<Effect>,
    ) {
        let mut reader = Reader::new(bytes);
        let Ok(header) = RequestHeader::decode(&mut reader) else {
            return self.close(connection, When::Now, out);
        };
        let caller = Caller { connection, session, xid: header.xid };
        match Request::decode(header.op, &mut reader) {
            Ok(Some(request)) => self.perform(now, caller, &request, out),
            Ok(None) => {
                Self::reply_with_zxid(caller, Zxid::NONE, Some(ErrorCode::Unimplemented), out);
                self.close(connection, When::AfterReplies, out);
            }
            Err(_malformed) if Request::is_write(header.op) => {
                self.fail(now, caller, ErrorCode::MarshallingError, out);
            }
            Err(_malformed) => {
                self.reply(caller, Err(ErrorCode::MarshallingError), Zxid::ZERO, out);
            }
        }
    }

    fn perform(&mut self, now: Now, caller: Caller, request: &Request<'_>, out: &mut Vec<Effect>) {
        match request {
            Request::Create(_)
            | Request::Delete { .. }
            | Request::SetData { .. }
            | Request::SetAcl { .. } => {
                self.write(now, caller, request, out);
            }
            Request::Multi(operations) => self.multi(now, caller, operations, out),
            Request::Reconfig => self.fail(now, caller, ErrorCode::ReconfigDisabled, out),
            // For servers among themselves; a client's path never passes.
            Request::DeleteContainer => self.fail(now, caller, ErrorCode::BadArguments, out),
            Request::Exists { .. }
            | Request::GetData { .. }
            | Request::GetAcl { .. }
            | Request::GetChildren { .. }
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::Sync { .. } => self.read(caller, request, out),
            Request::MultiRead(operations) => self.multi_read(caller, operations, out),
            Request::Ping => {
                self.reply(Caller { xid: xid::PING, ..caller }, Ok(Reply::Empty), Zxid::ZERO, out);
            }
            Request::CheckWatches(watch) => self.check_watches(caller, watch, out),
            Request::RemoveWatches(watch) => self.remove_watches(caller, watch, out),
            Request::AddWatch { path, mode } => self.add_watch(caller, path, *mode, out),
            Request::SetWatches(watches) => self.set_watches(caller, watches, out),
            Request::Auth { scheme, credentials } => self.authenticate(caller, scheme, credentials, out),
            Request::WhoAmI => self.who_am_i(caller, out),
            Request::CloseSession => self.close_session(now, caller, out),
        }
    }

    /// Answers a write that failed; it takes a zxid as the real server's do.
    pub(super) fn fail(&mut self, now: Now, caller: Caller, error: ErrorCode, out: &mut Vec<Effect>) {
        let (zxid, _) = self.commit(now, Body::Changes(Vec::new()), out);
        self.reply(caller, Err(error), zxid, out);
    }

    fn close_session(&mut self, now: Now, caller: Caller, out: &mut Vec<Effect>) {
        self.expiry.remove(caller.session);
        let (zxid, _) = self.commit(now, Body::CloseSession { session: caller.session }, out);
        self.reply(caller, Ok(Reply::Empty), zxid, out);
        self.close(caller.connection, When::AfterReplies, out);
    }
}
