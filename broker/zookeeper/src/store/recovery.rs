//! From files to state.

use std::path::PathBuf;

use super::batch::{self, HEADER_BYTES, Salt};
use super::disk::Disk;
use super::error::Error;
use super::layout::{self, Files};
use super::snapshot;
use crate::jute::Reader;
use crate::state::{State, Transaction};
use crate::types::Zxid;

/// The state that the files hold.
#[derive(Debug)]
pub struct Recovered {
    /// The state after the last transaction.
    pub state: State,
    /// How it was found.
    pub recovery: Recovery,
}

/// How the state was found, for the log and for the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The snapshot that it begins with.
    pub snapshot: Option<Zxid>,
    /// Snapshots that could not be read, and why; older files made up for them.
    pub skipped_snapshots: Vec<String>,
    /// Transactions applied after the snapshot.
    pub replayed: u64,
    /// Bytes of an unfinished batch that were cut off the end of the log.
    pub cut_bytes: u64,
    pub(super) tail: Option<Tail>,
}

/// Where the last log goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) first: Zxid,
    pub(super) salt: Salt,
    pub(super) length: u64,
}

/// Which part of the store to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// All of it; the last batch may be unfinished.
    End,
    /// The logs that were closed before the one that begins after this transaction.
    Sealed(Zxid),
}

/// Reads a store. Nothing is changed.
pub(super) fn recover(disk: &dyn Disk, until: Until) -> Result<Recovered, Error> {
    let names = disk.list().map_err(|source| Error::io("list", &disk.name(), source))?;
    let mut files = Files::sort(&names);
    if let Until::Sealed(last) = until {
        files.logs.retain(|first| *first <= last);
        files.snapshots.retain(|zxid| *zxid <= last);
    }
    let mut recovery = Recovery::default();
    let mut state = newest_snapshot(disk, &files, &mut recovery)?;
    for (index, first) in files.logs.iter().enumerate() {
        let next = files.logs.get(index.saturating_add(1));
        // A log is not needed when the one after it begins no later than the state goes on.
        if next.is_some_and(|next| *next <= state.last_zxid.next()) {
            continue;
        }
        let is_last = next.is_none() && until == Until::End;
        LogReader::open(disk, *first)?.replay(is_last, &mut state, &mut recovery)?;
    }
    Ok(Recovered { state, recovery })
}

/// Returns the newest state that a snapshot holds, or the state of a new server when the logs go back to the first
/// transaction. A gap between a snapshot and the logs is found when they are replayed.
fn newest_snapshot(disk: &dyn Disk, files: &Files, recovery: &mut Recovery) -> Result<State, Error> {
    let mut unreadable = None;
    for zxid in files.snapshots.iter().rev() {
        let name = layout::snapshot(*zxid);
        let path = disk.name().join(&name);
        let bytes = disk.read(&name).map_err(|source| Error::io("read", &path, source))?;
        match snapshot::parse(&bytes) {
            Ok(state) if state.last_zxid == *zxid => {
                recovery.snapshot = Some(*zxid);
                return Ok(state);
            }
            Ok(state) => {
                let problem =
                    format!("it ends with transaction {}, not with that of its name", state.last_zxid);
                unreadable = Some(Error::Damaged { path, position: 8, problem });
            }
            Err((position, problem)) => unreadable = Some(Error::Damaged { path, position, problem }),
        }
        recovery.skipped_snapshots.extend(unreadable.as_ref().map(ToString::to_string));
    }
    match unreadable {
        Some(error) if files.logs.first() != Some(&Zxid::ZERO.next()) => Err(error),
        Some(_) | None => Ok(State::default()),
    }
}

/// One log file being read.
struct LogReader {
    path: PathBuf,
    first: Zxid,
    bytes: Vec<u8>,
}

impl LogReader {
    fn open(disk: &dyn Disk, first: Zxid) -> Result<Self, Error> {
        let name = layout::log(first);
        let path = disk.name().join(&name);
        let bytes = disk.read(&name).map_err(|source| Error::io("read", &path, source))?;
        Ok(LogReader { path, first, bytes })
    }

    fn replay(&self, is_last: bool, state: &mut State, recovery: &mut Recovery) -> Result<(), Error> {
        let (salt, first) =
            batch::parse_header(&self.bytes).map_err(|problem| self.damaged(0, problem.to_owned()))?;
        if first != self.first {
            return Err(
                self.damaged(16, format!("it begins with transaction {first}, not with that of its name"))
            );
        }
        if first > state.last_zxid.next() {
            let problem = format!(
                "it begins with transaction {first}, but what came before ends with {}",
                state.last_zxid
            );
            return Err(self.damaged(16, problem));
        }
        let mut position = HEADER_BYTES;
        while position < self.bytes.len() {
            let Some(payload) = batch::at(&self.bytes, salt, position) else {
                self.judge_damage(is_last, salt, position)?;
                recovery.cut_bytes = self.bytes.len().saturating_sub(position) as u64;
                break;
            };
            self.replay_batch(position, payload, state, recovery)?;
            position = position.saturating_add(batch::BATCH_HEADER_BYTES).saturating_add(payload.len());
        }
        recovery.tail = Some(Tail { first, salt, length: position as u64 });
        Ok(())
    }

    /// An unfinished batch can only be the last thing in the last log.
    fn judge_damage(&self, is_last: bool, salt: Salt, position: usize) -> Result<(), Error> {
        if !is_last {
            let problem = "it ends in an unfinished batch although another log follows";
            return Err(self.damaged(position, problem.to_owned()));
        }
        match batch::find_after(&self.bytes, salt, position) {
            Some(later) => Err(self.damaged(
                position,
                format!("the batch there is unreadable although a whole one follows at byte {later}"),
            )),
            None => Ok(()),
        }
    }

    fn replay_batch(
        &self,
        position: usize,
        payload: &[u8],
        state: &mut State,
        recovery: &mut Recovery,
    ) -> Result<(), Error> {
        let mut reader = Reader::new(payload);
        while reader.remaining() > 0 {
            let transaction = Transaction::decode(&mut reader)
                .map_err(|error| self.damaged(position, error.to_string()))?;
            if transaction.zxid <= state.last_zxid {
                continue;
            }
            state.replay(&transaction).map_err(|error| self.damaged(position, error.to_string()))?;
            recovery.replayed = recovery.replayed.saturating_add(1);
        }
        Ok(())
    }

    fn damaged(&self, position: usize, problem: String) -> Error {
        Error::Damaged { path: self.path.clone(), position: position as u64, problem }
    }
}
