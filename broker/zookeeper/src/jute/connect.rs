//! The handshake.

use std::fmt;

use super::{DecodeError, Reader, Writer};
use crate::types::{SessionId, Zxid};

/// The length of a session password.
pub const PASSWORD_BYTES: usize = 16;

/// The secret with which a client proves that a session is its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Password(pub [u8; PASSWORD_BYTES]);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// What a client sends first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest<'a> {
    /// The newest transaction that the client has seen.
    pub last_zxid_seen: Zxid,
    /// The session timeout that it would like, in milliseconds.
    pub timeout_ms: i32,
    /// The session to continue, none for a new one.
    pub session: Option<SessionId>,
    /// The password of the session to continue.
    pub password: &'a [u8],
    /// Whether the client sent the byte that clients since 3.4 send; the reply has it only then.
    pub has_read_only: bool,
}

impl<'a> ConnectRequest<'a> {
    /// Reads the request.
    ///
    /// # Errors
    /// When the frame ends before or a length is wrong.
    pub fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let _protocol_version = reader.i32("protocolVersion")?;
        let last_zxid_seen = Zxid(reader.i64("lastZxidSeen")?);
        let timeout_ms = reader.i32("timeOut")?;
        let session = reader.i64("sessionId")?;
        let password = reader.buffer("passwd")?.unwrap_or_default();
        // Absent in clients before 3.4, who also do not want it in the reply.
        let has_read_only = reader.bool("readOnly").is_ok();
        Ok(ConnectRequest {
            last_zxid_seen,
            timeout_ms,
            session: (session != 0).then_some(SessionId(session)),
            password,
            has_read_only,
        })
    }
}

/// What the server answers; a refusal is all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectResponse {
    /// The negotiated timeout, in milliseconds.
    pub timeout_ms: i32,
    /// The session.
    pub session: SessionId,
    /// Its password.
    pub password: Password,
}

impl ConnectResponse {
    /// The answer to a session that is gone or not the client's.
    pub const REFUSED: ConnectResponse =
        ConnectResponse { timeout_ms: 0, session: SessionId(0), password: Password([0; PASSWORD_BYTES]) };

    /// Returns the response as a frame.
    #[must_use]
    pub fn into_frame(self, has_read_only: bool) -> Vec<u8> {
        let mut writer = Writer::frame();
        writer.i32(0);
        writer.i32(self.timeout_ms);
        writer.i64(self.session.0);
        writer.buffer(Some(&self.password.0));
        if has_read_only {
            writer.bool(false);
        }
        writer.into_frame()
    }
}
