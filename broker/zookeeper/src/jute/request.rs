//! The bodies of requests.

use std::borrow::Cow;

use super::multi::{ReadOperation, WriteOperation, decode_items};
use super::{Acl, DecodeError, Multi, Reader, SetWatches, op};

/// Which of the four create operations it is. They differ in what they may create and in their reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateKind {
    /// Answers with the path.
    Create,
    /// Answers with path and stat.
    Create2,
    /// Creates a container; answers with path and stat.
    Container,
    /// Creates a node with a time to live; answers with path and stat.
    Ttl,
}

/// A node to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create<'a> {
    /// Which operation.
    pub kind: CreateKind,
    /// The path, or its beginning for a sequential node.
    pub path: Cow<'a, str>,
    /// The data; null stays null.
    pub data: Option<&'a [u8]>,
    /// The ACL as the client gave it.
    pub acl: Vec<Acl>,
    /// The create mode.
    pub flags: i32,
    /// The time to live in milliseconds, −1 without.
    pub ttl_ms: i64,
}

impl<'a> Create<'a> {
    pub(super) fn decode(kind: CreateKind, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Create {
            kind,
            path: reader.string("path")?,
            data: reader.buffer("data")?,
            acl: Acl::decode_list(reader)?,
            flags: reader.i32("flags")?,
            ttl_ms: if kind == CreateKind::Ttl { reader.i64("ttl")? } else { -1 },
        })
    }
}

/// The kinds of watch that a removal can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatcherType {
    /// One-shot child watches.
    Children,
    /// One-shot data and exists watches.
    Data,
    /// Every watch on the path.
    Any,
    /// The persistent watch (3.9).
    Persistent,
    /// The persistent recursive watch (3.9).
    PersistentRecursive,
}

/// A watch to remove or to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveWatches<'a> {
    /// The path watched.
    pub path: Cow<'a, str>,
    /// The kind of watch.
    pub kind: WatcherType,
}

impl<'a> RemoveWatches<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let path = reader.string("path")?;
        let kind = match reader.i32("type")? {
            1 => WatcherType::Children,
            2 => WatcherType::Data,
            3 => WatcherType::Any,
            4 => WatcherType::Persistent,
            5 => WatcherType::PersistentRecursive,
            _ => return Err(reader.error("type", "is no watcher type")),
        };
        Ok(RemoveWatches { path, kind })
    }
}

/// The modes of a watch that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddWatchMode {
    /// Data and children of one node.
    Persistent,
    /// Data, creation and deletion in a whole subtree.
    PersistentRecursive,
}

/// A request, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the operations that `op` describes")]
pub enum Request<'a> {
    Create(Create<'a>),
    Delete { path: Cow<'a, str>, version: i32 },
    Exists { path: Cow<'a, str>, watch: bool },
    GetData { path: Cow<'a, str>, watch: bool },
    SetData { path: Cow<'a, str>, data: Option<&'a [u8]>, version: i32 },
    GetAcl { path: Cow<'a, str> },
    SetAcl { path: Cow<'a, str>, acl: Vec<Acl>, version: i32 },
    GetChildren { path: Cow<'a, str>, watch: bool, with_stat: bool },
    Sync { path: Cow<'a, str> },
    Ping,
    Multi(Multi<WriteOperation<'a>>),
    MultiRead(Multi<ReadOperation<'a>>),
    Reconfig,
    CheckWatches(RemoveWatches<'a>),
    RemoveWatches(RemoveWatches<'a>),
    DeleteContainer,
    Auth { scheme: Cow<'a, str>, credentials: &'a [u8] },
    SetWatches(SetWatches<'a>),
    GetEphemerals { prefix: Cow<'a, str> },
    GetAllChildrenNumber { path: Cow<'a, str> },
    AddWatch { path: Cow<'a, str>, mode: AddWatchMode },
    WhoAmI,
    CloseSession,
}

impl<'a> Request<'a> {
    /// Reads the body of operation `code`; `None` when there is no such operation for clients.
    ///
    /// # Errors
    /// When the body does not hold what the operation needs. Bytes after it are ignored, as the real server does.
    pub fn decode(code: i32, reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match code {
            op::CREATE => Request::Create(Create::decode(CreateKind::Create, reader)?),
            op::CREATE2 => Request::Create(Create::decode(CreateKind::Create2, reader)?),
            op::CREATE_CONTAINER => Request::Create(Create::decode(CreateKind::Container, reader)?),
            op::CREATE_TTL => Request::Create(Create::decode(CreateKind::Ttl, reader)?),
            op::DELETE => Request::Delete { path: reader.string("path")?, version: reader.i32("version")? },
            op::SET_DATA => Request::SetData {
                path: reader.string("path")?,
                data: reader.buffer("data")?,
                version: reader.i32("version")?,
            },
            op::SET_ACL => Request::SetAcl {
                path: reader.string("path")?,
                acl: Acl::decode_list(reader)?,
                version: reader.i32("version")?,
            },
            op::MULTI => Request::Multi(decode_items(reader)?),
            op::RECONFIG => {
                for field in ["joiningServers", "leavingServers", "newMembers"] {
                    let _nobody_joins_or_leaves = reader.buffer(field)?;
                }
                let _config = reader.i64("curConfigId")?;
                Request::Reconfig
            }
            op::DELETE_CONTAINER => Request::DeleteContainer,
            op::PING => Request::Ping,
            op::CLOSE_SESSION => Request::CloseSession,
            op::AUTH => {
                let _kind = reader.i32("type")?;
                let scheme = reader.string("scheme")?;
                Request::Auth { scheme, credentials: reader.buffer("auth")?.unwrap_or_default() }
            }
            _ => return Self::decode_read(code, reader),
        }))
    }

    fn decode_read(code: i32, reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        let request = match code {
            op::EXISTS => Request::Exists { path: reader.string("path")?, watch: reader.bool("watch")? },
            op::GET_DATA => Request::GetData { path: reader.string("path")?, watch: reader.bool("watch")? },
            op::GET_ACL => Request::GetAcl { path: reader.string("path")? },
            op::GET_CHILDREN | op::GET_CHILDREN2 => Request::GetChildren {
                path: reader.string("path")?,
                watch: reader.bool("watch")?,
                with_stat: code == op::GET_CHILDREN2,
            },
            op::SYNC => Request::Sync { path: reader.string("path")? },
            op::MULTI_READ => Request::MultiRead(decode_items(reader)?),
            op::CHECK_WATCHES => Request::CheckWatches(RemoveWatches::decode(reader)?),
            op::REMOVE_WATCHES => Request::RemoveWatches(RemoveWatches::decode(reader)?),
            op::SET_WATCHES => Request::SetWatches(SetWatches::decode(false, reader)?),
            op::SET_WATCHES2 => Request::SetWatches(SetWatches::decode(true, reader)?),
            op::GET_EPHEMERALS => Request::GetEphemerals { prefix: reader.string("prefixPath")? },
            op::GET_ALL_CHILDREN_NUMBER => Request::GetAllChildrenNumber { path: reader.string("path")? },
            op::ADD_WATCH => {
                let path = reader.string("path")?;
                let mode = match reader.i32("mode")? {
                    0 => AddWatchMode::Persistent,
                    1 => AddWatchMode::PersistentRecursive,
                    _ => return Err(reader.error("mode", "is no watch mode")),
                };
                Request::AddWatch { path, mode }
            }
            op::WHO_AM_I => Request::WhoAmI,
            _ => return Ok(None),
        };
        Ok(Some(request))
    }

    /// Tells whether operation `code` takes a transaction number even when its body cannot be read.
    #[must_use]
    pub fn is_write(code: i32) -> bool {
        matches!(
            code,
            op::CREATE
                | op::CREATE2
                | op::CREATE_CONTAINER
                | op::CREATE_TTL
                | op::DELETE
                | op::DELETE_CONTAINER
                | op::SET_DATA
                | op::SET_ACL
                | op::MULTI
        )
    }
}
