//! Transactions, nodes and sessions as bytes, in jute's encoding. The layout is this crate's own; its version is in
//! the header of the files (`store`).

use std::sync::Arc;

use super::transaction::{Body, Transaction};
use crate::jute::{Acl, DecodeError, PASSWORD_BYTES, Password, Reader, Writer};
use crate::session::Session;
use crate::tree::{Change, Node, Owner};
use crate::types::{SessionId, Zxid};

const OPEN_SESSION: i32 = 1;
const CLOSE_SESSION: i32 = 2;
const CHANGES: i32 = 3;

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const SET_DATA: i32 = 3;
const SET_ACL: i32 = 4;

const NOBODY: i32 = 0;
const SESSION: i32 = 1;
const CONTAINER: i32 = 2;
const TIME_TO_LIVE: i32 = 3;

impl Transaction {
    /// Writes the transaction.
    pub fn encode(&self, writer: &mut Writer) {
        writer.i64(self.zxid.0);
        writer.i64(self.time_ms);
        match &self.body {
            Body::OpenSession { session, password, timeout_ms } => {
                writer.i32(OPEN_SESSION);
                encode_session(*session, &Session { password: *password, timeout_ms: *timeout_ms }, writer);
            }
            Body::CloseSession { session } => {
                writer.i32(CLOSE_SESSION);
                writer.i64(session.0);
            }
            Body::Changes(changes) => {
                writer.i32(CHANGES);
                writer.count(changes.len());
                for change in changes {
                    encode_change(change, writer);
                }
            }
        }
    }

    /// Reads a transaction.
    ///
    /// # Errors
    /// When the bytes do not hold one.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let zxid = Zxid(reader.i64("zxid")?);
        let time_ms = reader.i64("time")?;
        let body = match reader.i32("body")? {
            OPEN_SESSION => {
                let (session, Session { password, timeout_ms }) = decode_session(reader)?;
                Body::OpenSession { session, password, timeout_ms }
            }
            CLOSE_SESSION => Body::CloseSession { session: SessionId(reader.i64("session")?) },
            CHANGES => {
                let count = reader.count("changes", 8)?;
                Body::Changes((0..count).map(|_| decode_change(reader)).collect::<Result<_, _>>()?)
            }
            _ => return Err(reader.error("body", "is no kind of transaction")),
        };
        Ok(Transaction { zxid, time_ms, body })
    }
}

fn encode_change(change: &Change, writer: &mut Writer) {
    match change {
        Change::Create { path, data, acl, owner } => {
            writer.i32(CREATE);
            writer.string(path);
            writer.buffer(data.as_deref());
            Acl::encode_list(acl, writer);
            encode_owner(*owner, writer);
        }
        Change::Delete { path } => {
            writer.i32(DELETE);
            writer.string(path);
        }
        Change::SetData { path, data, version } => {
            writer.i32(SET_DATA);
            writer.string(path);
            writer.buffer(data.as_deref());
            writer.i32(*version);
        }
        Change::SetAcl { path, acl, aversion } => {
            writer.i32(SET_ACL);
            writer.string(path);
            Acl::encode_list(acl, writer);
            writer.i32(*aversion);
        }
    }
}

fn decode_change(reader: &mut Reader<'_>) -> Result<Change, DecodeError> {
    let kind = reader.i32("change")?;
    let path: Arc<str> = reader.string("path")?.into();
    Ok(match kind {
        CREATE => Change::Create {
            path,
            data: reader.buffer("data")?.map(Into::into),
            acl: Acl::decode_list(reader)?.into(),
            owner: decode_owner(reader)?,
        },
        DELETE => Change::Delete { path },
        SET_DATA => Change::SetData {
            path,
            data: reader.buffer("data")?.map(Into::into),
            version: reader.i32("version")?,
        },
        SET_ACL => {
            Change::SetAcl { path, acl: Acl::decode_list(reader)?.into(), aversion: reader.i32("aversion")? }
        }
        _ => return Err(reader.error("change", "is no kind of change")),
    })
}

fn encode_owner(owner: Owner, writer: &mut Writer) {
    let (kind, value) = match owner {
        Owner::Nobody => (NOBODY, 0),
        Owner::Session(session) => (SESSION, session.0),
        Owner::Container => (CONTAINER, 0),
        Owner::TimeToLive(ttl_ms) => (TIME_TO_LIVE, ttl_ms),
    };
    writer.i32(kind);
    writer.i64(value);
}

fn decode_owner(reader: &mut Reader<'_>) -> Result<Owner, DecodeError> {
    let kind = reader.i32("owner")?;
    let value = reader.i64("owner")?;
    match kind {
        NOBODY => Ok(Owner::Nobody),
        SESSION => Ok(Owner::Session(SessionId(value))),
        CONTAINER => Ok(Owner::Container),
        TIME_TO_LIVE => Ok(Owner::TimeToLive(value)),
        _ => Err(reader.error("owner", "is no kind of owner")),
    }
}

/// Writes a session, for snapshots and for the transaction that opens it.
pub fn encode_session(id: SessionId, session: &Session, writer: &mut Writer) {
    writer.i64(id.0);
    writer.raw(&session.password.0);
    writer.i64(session.timeout_ms);
}

/// Reads a session.
///
/// # Errors
/// When the bytes do not hold one.
pub fn decode_session(reader: &mut Reader<'_>) -> Result<(SessionId, Session), DecodeError> {
    let id = SessionId(reader.i64("session")?);
    let mut password = Password([0; PASSWORD_BYTES]);
    password.0.copy_from_slice(reader.raw("password", PASSWORD_BYTES)?);
    Ok((id, Session { password, timeout_ms: reader.i64("timeout")? }))
}

/// Writes a node, for snapshots. Everything in a snapshot is durable, so `touched` is not kept.
pub fn encode_node(path: &str, node: &Node, writer: &mut Writer) {
    writer.string(path);
    writer.buffer(node.data.as_deref());
    Acl::encode_list(&node.acl, writer);
    encode_owner(node.owner, writer);
    for zxid in [node.czxid, node.mzxid, node.pzxid] {
        writer.i64(zxid.0);
    }
    writer.i64(node.ctime_ms);
    writer.i64(node.mtime_ms);
    writer.i32(node.version);
    writer.i32(node.aversion);
    writer.i32(node.children_created);
}

/// Reads a node.
///
/// # Errors
/// When the bytes do not hold one.
pub fn decode_node(reader: &mut Reader<'_>) -> Result<(Arc<str>, Node), DecodeError> {
    let path = reader.string("path")?.into();
    let data = reader.buffer("data")?.map(Into::into);
    let acl = Acl::decode_list(reader)?.into();
    let owner = decode_owner(reader)?;
    let mut node = Node::new(data, acl, owner, Zxid(reader.i64("czxid")?), 0);
    node.mzxid = Zxid(reader.i64("mzxid")?);
    node.pzxid = Zxid(reader.i64("pzxid")?);
    node.ctime_ms = reader.i64("ctime")?;
    node.mtime_ms = reader.i64("mtime")?;
    node.version = reader.i32("version")?;
    node.aversion = reader.i32("aversion")?;
    node.children_created = reader.i32("childrenCreated")?;
    node.touched = Zxid::ZERO;
    Ok((path, node))
}
