//! How a request is answered.

use super::step::{Effect, Machine};
use crate::jute::{ErrorCode, Reply, ReplyHeader, Writer};
use crate::types::{ConnectionId, SessionId, Zxid};

/// Who asked, and under which number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) connection: ConnectionId,
    pub(super) session: SessionId,
    pub(super) xid: i32,
}

impl Machine {
    /// Answers a request whose reply may leave once `after` is durable.
    pub(super) fn reply(
        &mut self,
        caller: Caller,
        result: Result<Reply<'_>, ErrorCode>,
        after: Zxid,
        out: &mut Vec<Effect>,
    ) {
        let seen = match self.connections.get_mut(&caller.connection) {
            Some(connection) => {
                connection.seen = connection.seen.max(after);
                connection.seen
            }
            None => after,
        };
        let header = ReplyHeader {
            xid: caller.xid,
            zxid: seen.max(self.durable),
            error: result.as_ref().err().copied(),
        };
        send_reply(caller.connection, header, result.ok(), seen, out);
    }

    /// Answers with a zxid that does not say anything about the state.
    pub(super) fn reply_with_zxid(
        caller: Caller,
        zxid: Zxid,
        error: Option<ErrorCode>,
        out: &mut Vec<Effect>,
    ) {
        let header = ReplyHeader { xid: caller.xid, zxid, error };
        send_reply(caller.connection, header, None, Zxid::ZERO, out);
    }
}

fn send_reply(
    to: ConnectionId,
    header: ReplyHeader,
    body: Option<Reply<'_>>,
    after: Zxid,
    out: &mut Vec<Effect>,
) {
    let mut writer = Writer::frame();
    header.encode(&mut writer);
    if let Some(body) = body {
        body.encode(&mut writer);
    }
    out.push(Effect::Reply { to, frame: writer.into_frame().into(), after });
}
