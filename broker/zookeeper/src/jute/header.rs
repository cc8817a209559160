//! The headers of requests and replies.

use super::{DecodeError, ErrorCode, Reader, Writer};
use crate::types::Zxid;

/// Request numbers with a meaning of their own.
pub mod xid {
    /// Of a watch event.
    pub const NOTIFICATION: i32 = -1;
    /// Of the reply to a ping, whatever the request had.
    pub const PING: i32 = -2;
}

/// What stands before the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// The client's number of the request, sent back with the reply.
    pub xid: i32,
    /// The operation.
    pub op: i32,
}

impl RequestHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// When the frame ends before.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(RequestHeader { xid: reader.i32("xid")?, op: reader.i32("type")? })
    }

    /// Writes the header.
    pub fn encode(&self, writer: &mut Writer) {
        writer.i32(self.xid);
        writer.i32(self.op);
    }
}

/// What stands before the body of a reply. A reply with an error has no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    /// The number of the request.
    pub xid: i32,
    /// The transaction that the reply reflects.
    pub zxid: Zxid,
    /// The error, if any.
    pub error: Option<ErrorCode>,
}

impl ReplyHeader {
    /// Writes the header.
    pub fn encode(&self, writer: &mut Writer) {
        writer.i32(self.xid);
        writer.i64(self.zxid.0);
        writer.i32(self.error.map_or(0, ErrorCode::code));
    }
}
