//! The first frame of a connection: a new session, or one to continue.

use super::connection::Phase;
use super::step::{Effect, Machine, When};
use crate::jute::{ConnectRequest, ConnectResponse, Password, Reader};
use crate::state::Body;
use crate::types::{ConnectionId, Millis, Now, SessionId, Zxid};

impl Machine {
    pub(super) fn handshake(
        &mut self,
        now: Now,
        connection: ConnectionId,
        bytes: &[u8],
        out: &mut Vec<Effect>,
    ) {
        let Ok(request) = ConnectRequest::decode(&mut Reader::new(bytes)) else {
            return self.close(connection, When::Now, out);
        };
        if request.last_zxid_seen > self.state.last_zxid {
            // The client has seen a future that this server lost or never had; going on would show it the past. The
            // real server closes without an answer too, so that the client tries another one.
            return self.close(connection, When::Now, out);
        }
        match request.session {
            None => self.open_session(now, connection, &request, out),
            Some(session) => self.continue_session(now, connection, session, &request, out),
        }
    }

    fn open_session(
        &mut self,
        now: Now,
        connection: ConnectionId,
        request: &ConnectRequest<'_>,
        out: &mut Vec<Effect>,
    ) {
        let session = self.state.sessions.next_id(self.started_wall_ms);
        let password = self.passwords.of(session);
        let timeout_ms = self.negotiate(request.timeout_ms);
        let (zxid, _) = self.commit(now, Body::OpenSession { session, password, timeout_ms }, out);
        self.attach(now, connection, session, timeout_ms);
        self.welcome(connection, session, password, timeout_ms, request, zxid, out);
    }

    /// Moves a session to this connection. The old connection is closed whether or not the password is right; that is
    /// what the real server does, and clients rely on the first.
    fn continue_session(
        &mut self,
        now: Now,
        connection: ConnectionId,
        session: SessionId,
        request: &ConnectRequest<'_>,
        out: &mut Vec<Effect>,
    ) {
        if let Some(old) = self.attached.get(&session).copied() {
            self.close(old, When::Now, out);
        }
        match self.state.sessions.authenticate(session, request.password).copied() {
            Some(known) => {
                let timeout_ms = self.negotiate(request.timeout_ms);
                self.attach(now, connection, session, timeout_ms);
                // The session is there for the client only when the transaction that opened it is durable.
                let after = self.state.last_zxid;
                self.welcome(connection, session, known.password, timeout_ms, request, after, out);
            }
            None => {
                let frame = ConnectResponse::REFUSED.into_frame(request.has_read_only).into();
                out.push(Effect::Reply { to: connection, frame, after: Zxid::ZERO });
                self.close(connection, When::AfterReplies, out);
            }
        }
    }

    fn negotiate(&self, wanted_ms: i32) -> Millis {
        Millis::from(wanted_ms).clamp(self.rules.min_session_timeout_ms, self.rules.max_session_timeout_ms)
    }

    fn attach(&mut self, now: Now, connection: ConnectionId, session: SessionId, timeout_ms: Millis) {
        if let Some(entry) = self.connections.get_mut(&connection) {
            entry.phase = Phase::Open { session, timeout_ms };
        }
        self.attached.insert(session, connection);
        self.expiry.touch(session, timeout_ms, now.monotonic_ms);
    }

    #[expect(clippy::too_many_arguments, reason = "they are the fields of one message")]
    fn welcome(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        password: Password,
        timeout_ms: Millis,
        request: &ConnectRequest<'_>,
        after: Zxid,
        out: &mut Vec<Effect>,
    ) {
        let timeout_ms = i32::try_from(timeout_ms).unwrap_or(i32::MAX);
        let frame =
            ConnectResponse { timeout_ms, session, password }.into_frame(request.has_read_only).into();
        if let Some(entry) = self.connections.get_mut(&connection) {
            entry.seen = after;
        }
        out.push(Effect::Reply { to: connection, frame, after });
    }
}
