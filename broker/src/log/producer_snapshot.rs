//! `.snapshot`: the state of a log's producers before an offset.
//!
//! version i16 · CRC-32C u32 of all that follows · count i32 · entries of 46 bytes. Of a producer's remembered batches only the
//! newest is kept. A file whose CRC does not match was torn by a crash and is worth nothing.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::path::Path;

use super::error::{Error, Result};
use super::producer_state::{ProducerEntry, ProducerStates, RememberedBatch};
use crate::disk::{Disk, OpenMode};
use crate::types::{Millis, Offset};

const VERSION: i16 = 1;
const HEADER: usize = 10;
const ENTRY: usize = 46;
/// Room for five million producers.
const SIZE_LIMIT: usize = 256 << 20;

/// Writes a snapshot under its final name. A torn one is found by its CRC.
pub(super) fn write(disk: &dyn Disk, path: &Path, states: &ProducerStates) -> Result<()> {
    let file = disk.open(path, OpenMode::Truncate).map_err(Error::io("create", path))?;
    file.write_all_at(&mut [IoSlice::new(&encode(states))], 0).map_err(Error::io("write", path))
}

/// Reads a snapshot.
pub(super) fn read(disk: &dyn Disk, path: &Path) -> Result<ProducerStates> {
    let file = disk.open(path, OpenMode::Read).map_err(Error::io("open", path))?;
    let bytes = file.read_all(SIZE_LIMIT).map_err(Error::io("read", path))?;
    decode(&bytes).map_err(|reason| Error::Damaged {
        path: path.to_owned(),
        position: 0,
        reason: reason.to_owned(),
    })
}

/// Returns a snapshot's bytes, producers by rising id.
#[must_use]
pub(super) fn encode(states: &ProducerStates) -> Vec<u8> {
    let count = i32::try_from(states.producers().len()).unwrap_or(i32::MAX);
    let mut body = count.to_be_bytes().to_vec();
    for (id, entry) in states.producers() {
        let none = RememberedBatch {
            last_sequence: -1,
            last_offset: Offset(-1),
            offset_delta: 0,
            timestamp: Millis(-1),
        };
        let last = entry.batches.last().unwrap_or(&none);
        body.extend(id.to_be_bytes());
        body.extend(entry.epoch.to_be_bytes());
        body.extend(last.last_sequence.to_be_bytes());
        body.extend(last.last_offset.0.to_be_bytes());
        body.extend(last.offset_delta.to_be_bytes());
        body.extend(entry.last_timestamp.0.to_be_bytes());
        body.extend(entry.coordinator_epoch.to_be_bytes());
        body.extend(entry.transaction_start.map_or(-1, |start| start.0).to_be_bytes());
    }
    let mut bytes = VERSION.to_be_bytes().to_vec();
    bytes.extend(crc32c(&body).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Takes a snapshot's bytes apart.
///
/// # Errors
/// What is wrong with them.
pub(super) fn decode(bytes: &[u8]) -> Result<ProducerStates, &'static str> {
    let (Some(version), Some(crc), Some(count)) = (field(bytes, 0), field(bytes, 2), field(bytes, 6)) else {
        return Err("shorter than a header");
    };
    if i16::from_be_bytes(version) != VERSION {
        return Err("unknown version");
    }
    if u32::from_be_bytes(crc) != crc32c(bytes.get(6..).unwrap_or_default()) {
        return Err("CRC does not match");
    }
    let entries = bytes.get(HEADER..).unwrap_or_default().chunks(ENTRY);
    if usize::try_from(i32::from_be_bytes(count)).ok() != Some(entries.len()) {
        return Err("number of entries does not match the size");
    }
    let producers: Option<BTreeMap<i64, ProducerEntry>> = entries.map(decode_entry).collect();
    producers.map(ProducerStates::from_producers).ok_or("an entry is cut")
}

fn decode_entry(entry: &[u8]) -> Option<(i64, ProducerEntry)> {
    let last_timestamp = Millis(i64::from_be_bytes(field(entry, 26)?));
    let last = RememberedBatch {
        last_sequence: i32::from_be_bytes(field(entry, 10)?),
        last_offset: Offset(i64::from_be_bytes(field(entry, 14)?)),
        offset_delta: i32::from_be_bytes(field(entry, 22)?),
        timestamp: last_timestamp,
    };
    let transaction_start = i64::from_be_bytes(field(entry, 38)?);
    let producer = ProducerEntry {
        epoch: i16::from_be_bytes(field(entry, 8)?),
        coordinator_epoch: i32::from_be_bytes(field(entry, 34)?),
        last_timestamp,
        transaction_start: (transaction_start >= 0).then_some(Offset(transaction_start)),
        batches: if last.last_offset.0 >= 0 { vec![last] } else { Vec::new() },
    };
    Some((i64::from_be_bytes(field(entry, 0)?), producer))
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn kafkas_snapshot_is_read_and_written_alike() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/vectors/transactions/00000000000000000013.snapshot");
        let states = read(&RealDisk, &path).unwrap();
        let shown: Vec<_> = states
            .producers()
            .iter()
            .map(|(id, entry)| {
                let last = entry.batches.last().unwrap();
                (
                    *id,
                    entry.epoch,
                    last.last_sequence,
                    last.last_offset.0,
                    last.offset_delta,
                    entry.coordinator_epoch,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [(11, 0, 2, 7, 0, 7), (22, 0, 4, 11, 1, 4), (31, 2, 0, 6, 0, -1), (44, 1, 0, 12, 0, -1)]
        );
        assert_eq!(states.first_unstable_offset(), Some(Offset(10)));
        assert_eq!(encode(&states), std::fs::read(path).unwrap());
    }

    #[test]
    fn a_torn_snapshot_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.snapshot");
        write(&RealDisk, &path, &ProducerStates::default()).unwrap();
        assert!(read(&RealDisk, &path).unwrap().producers().is_empty());
        let whole = std::fs::read(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/vectors/transactions/00000000000000000013.snapshot"),
        )
        .unwrap();
        for cut in 0..whole.len() {
            decode(&whole[..cut]).unwrap_err();
        }
        let mut flipped = whole.clone();
        flipped[60] ^= 1;
        decode(&flipped).unwrap_err();
    }
}
