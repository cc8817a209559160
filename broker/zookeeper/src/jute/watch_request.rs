//! The watches that a client brings back when it reconnects.

use std::borrow::Cow;

use super::{DecodeError, Reader};
use crate::types::Zxid;

/// The watches of a client, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetWatches<'a> {
    /// The newest transaction that the client has seen; what changed since is an event now.
    pub relative_zxid: Zxid,
    /// Nodes whose data is watched.
    pub data: Vec<Cow<'a, str>>,
    /// Absent nodes whose creation is watched.
    pub exists: Vec<Cow<'a, str>>,
    /// Nodes whose children are watched.
    pub child: Vec<Cow<'a, str>>,
    /// Nodes with a persistent watch.
    pub persistent: Vec<Cow<'a, str>>,
    /// Subtrees with a persistent recursive watch.
    pub persistent_recursive: Vec<Cow<'a, str>>,
}

impl<'a> SetWatches<'a> {
    /// Reads the lists; `second` for the operation that has all five of them.
    ///
    /// # Errors
    /// When the frame ends before or a count is more than it can hold.
    pub fn decode(second: bool, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut watches = SetWatches {
            relative_zxid: Zxid(reader.i64("relativeZxid")?),
            data: paths("dataWatches", reader)?,
            exists: paths("existWatches", reader)?,
            child: paths("childWatches", reader)?,
            ..SetWatches::default()
        };
        if second {
            watches.persistent = paths("persistentWatches", reader)?;
            watches.persistent_recursive = paths("persistentRecursiveWatches", reader)?;
        }
        Ok(watches)
    }
}

fn paths<'a>(field: &'static str, reader: &mut Reader<'a>) -> Result<Vec<Cow<'a, str>>, DecodeError> {
    let count = reader.count(field, 4)?;
    (0..count).map(|_| reader.string(field)).collect()
}
