//! Snapshots: the whole state in one file.

use std::io;

use crc_fast::{CrcAlgorithm, Digest};

use super::batch::crc32;
use super::disk::{Disk, DiskFile};
use super::layout;
use crate::jute::{DecodeError, Reader, Writer};
use crate::session::Sessions;
use crate::state::{State, decode_node, decode_session, encode_node, encode_session};
use crate::tree::Tree;
use crate::types::{SessionId, Zxid};

/// The first bytes of a snapshot; the last of them is the version of the layout.
const MAGIC: [u8; 8] = *b"OTZKSNP1";
/// Bytes that are gathered before they are written.
const CHUNK_BYTES: usize = 256 << 10;
/// The bytes of a node with empty path, null data, no ACL.
const NODE_BYTES_MIN: usize = 72;
const SESSION_BYTES: usize = 32;

/// Writes `state` under an unfinished name, and gives it its name when all of it is durable.
pub(super) fn write(disk: &dyn Disk, state: &State) -> io::Result<()> {
    let name = layout::snapshot(state.last_zxid);
    let unfinished = layout::unfinished(&name);
    let written = write_file(disk, &unfinished, state);
    if written.is_err() {
        // Most likely the disk is full; what was written so far must not keep it so.
        let _already_gone = disk.remove(&unfinished);
    }
    written?;
    disk.rename(&unfinished, &name)?;
    disk.sync_directory()
}

fn write_file(disk: &dyn Disk, name: &str, state: &State) -> io::Result<()> {
    let mut output = Output { file: disk.create(name)?, digest: Digest::new(CrcAlgorithm::Crc32Iscsi) };
    let mut writer = Writer::new();
    writer.raw(&MAGIC);
    writer.i64(state.last_zxid.0);
    writer.i64(state.sessions.newest().map_or(0, |session| session.0));
    writer.count(state.sessions.iter().len());
    for (id, session) in state.sessions.iter() {
        encode_session(id, session, &mut writer);
        output.write(&mut writer, CHUNK_BYTES)?;
    }
    writer.count(state.tree.node_count());
    for (path, node) in state.tree.iter() {
        encode_node(path, node, &mut writer);
        output.write(&mut writer, CHUNK_BYTES)?;
    }
    output.write(&mut writer, 0)?;
    let crc = crc32(&output.digest).to_be_bytes();
    output.file.append(&crc)?;
    output.file.sync()
}

struct Output {
    file: Box<dyn DiskFile>,
    digest: Digest,
}

impl Output {
    /// Writes what the writer holds once it is at least `enough` bytes.
    fn write(&mut self, writer: &mut Writer, enough: usize) -> io::Result<()> {
        if writer.as_bytes().len() >= enough {
            self.digest.update(writer.as_bytes());
            self.file.append(writer.as_bytes())?;
            writer.clear();
        }
        Ok(())
    }
}

/// Reads a snapshot, or says where and why it cannot be read.
pub(super) fn parse(bytes: &[u8]) -> Result<State, (u64, String)> {
    let Some((content, crc)) = bytes.split_last_chunk::<4>() else {
        return Err((0, "it is not complete".to_owned()));
    };
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(content);
    if crc32(&digest) != u32::from_be_bytes(*crc) {
        return Err((content.len() as u64, "its checksum is wrong".to_owned()));
    }
    let mut reader = Reader::new(content);
    decode(&mut reader).map_err(|error| (error.offset as u64, error.to_string()))
}

fn decode(reader: &mut Reader<'_>) -> Result<State, DecodeError> {
    if reader.raw("magic", MAGIC.len())? != MAGIC {
        return Err(DecodeError {
            field: "magic",
            offset: 0,
            problem: "is not that of a snapshot of this version",
        });
    }
    let last_zxid = Zxid(reader.i64("zxid")?);
    let newest = reader.i64("newestSession")?;
    let mut sessions = Sessions::default();
    sessions.restore_newest((newest != 0).then_some(SessionId(newest)));
    for _ in 0..reader.count("sessions", SESSION_BYTES)? {
        let (id, session) = decode_session(reader)?;
        sessions.open(id, session);
    }
    let mut tree = Tree::empty();
    for _ in 0..reader.count("nodes", NODE_BYTES_MIN)? {
        let offset = reader.offset();
        let (path, node) = decode_node(reader)?;
        tree.restore(path, node).map_err(|error| DecodeError {
            field: "node",
            offset,
            problem: error.problem,
        })?;
    }
    Ok(State { tree, sessions, last_zxid })
}
