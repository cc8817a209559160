//! The stat of a node as clients see it.

use super::{DecodeError, Reader, Writer};
use crate::types::{Millis, SessionId, Zxid};

/// What is known about a node besides its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that created the node.
    pub czxid: Zxid,
    /// The transaction that last wrote its data.
    pub mzxid: Zxid,
    /// When it was created, since the Unix epoch.
    pub ctime_ms: Millis,
    /// When its data was last written, since the Unix epoch.
    pub mtime_ms: Millis,
    /// How often its data was written.
    pub version: i32,
    /// How often children were created and deleted.
    pub cversion: i32,
    /// How often its ACL was written.
    pub aversion: i32,
    /// The session that owns it, if it is ephemeral.
    pub ephemeral_owner: Option<SessionId>,
    /// The bytes of its data.
    pub data_length: i32,
    /// The children it has.
    pub num_children: i32,
    /// The transaction that last created or deleted a child.
    pub pzxid: Zxid,
}

impl Stat {
    /// Writes the stat.
    pub fn encode(&self, writer: &mut Writer) {
        writer.i64(self.czxid.0);
        writer.i64(self.mzxid.0);
        writer.i64(self.ctime_ms);
        writer.i64(self.mtime_ms);
        writer.i32(self.version);
        writer.i32(self.cversion);
        writer.i32(self.aversion);
        writer.i64(self.ephemeral_owner.map_or(0, |session| session.0));
        writer.i32(self.data_length);
        writer.i32(self.num_children);
        writer.i64(self.pzxid.0);
    }

    /// Reads a stat.
    ///
    /// # Errors
    /// When the frame ends before.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Stat {
            czxid: Zxid(reader.i64("czxid")?),
            mzxid: Zxid(reader.i64("mzxid")?),
            ctime_ms: reader.i64("ctime")?,
            mtime_ms: reader.i64("mtime")?,
            version: reader.i32("version")?,
            cversion: reader.i32("cversion")?,
            aversion: reader.i32("aversion")?,
            ephemeral_owner: match reader.i64("ephemeralOwner")? {
                0 => None,
                session => Some(SessionId(session)),
            },
            data_length: reader.i32("dataLength")?,
            num_children: reader.i32("numChildren")?,
            pzxid: Zxid(reader.i64("pzxid")?),
        })
    }
}
