//! The frame of a log file and of the batches in it.

use crc_fast::{CrcAlgorithm, Digest};

use crate::types::Zxid;

/// The first bytes of a log; the last of them is the version of the layout.
const MAGIC: [u8; 8] = *b"OTZKLOG1";
/// The first bytes of a batch.
const MARKER: [u8; 4] = *b"BTCH";
/// Magic, salt, first zxid, checksum.
pub(super) const HEADER_BYTES: usize = 28;
/// Marker, length, checksum.
pub(super) const BATCH_HEADER_BYTES: usize = 12;

/// What distinguishes one log file from another, so that no bytes that a client stores can pass for a batch.
pub(super) type Salt = [u8; 8];

/// Returns the header of a log.
pub(super) fn header(salt: Salt, first: Zxid) -> Vec<u8> {
    let mut header = [MAGIC, salt, first.0.to_be_bytes()].concat();
    let crc = header_checksum(&header);
    header.extend_from_slice(&crc.to_be_bytes());
    header
}

/// Returns salt and first zxid of a log, or what is wrong with its header. The checksum is needed: with another salt
/// every batch of the file would look unfinished.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Salt, Zxid), &'static str> {
    let parts = bytes.get(..HEADER_BYTES).ok_or("the header is not complete")?;
    let (words, crc) = parts.as_chunks::<8>();
    match words {
        [MAGIC, salt, first] if header_checksum(words.as_flattened()).to_be_bytes() == crc => {
            Ok((*salt, Zxid(i64::from_be_bytes(*first))))
        }
        [MAGIC, ..] => Err("the checksum of the header is wrong"),
        _ => Err("it is not a transaction log of this version"),
    }
}

fn header_checksum(header: &[u8]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(header);
    crc32(&digest)
}

/// Returns a batch for a position in the file.
pub(super) fn frame(salt: Salt, position: u64, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok()?.to_be_bytes();
    let mut batch = Vec::with_capacity(payload.len().saturating_add(BATCH_HEADER_BYTES));
    batch.extend_from_slice(&MARKER);
    batch.extend_from_slice(&length);
    batch.extend_from_slice(&checksum(salt, position, length, payload).to_be_bytes());
    batch.extend_from_slice(payload);
    Some(batch)
}

/// Returns the payload of the batch at `position` of a file, if a whole and sound one is there.
pub(super) fn at(bytes: &[u8], salt: Salt, position: usize) -> Option<&[u8]> {
    let rest = bytes.get(position..)?;
    let (marker, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    if *marker != MARKER {
        return None;
    }
    let payload = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    (checksum(salt, position as u64, *length, payload) == u32::from_be_bytes(*crc)).then_some(payload)
}

/// Returns where the first sound batch after `position` begins.
pub(super) fn find_after(bytes: &[u8], salt: Salt, position: usize) -> Option<usize> {
    let start = position.saturating_add(1);
    let tail = bytes.get(start..)?;
    let candidates = tail.windows(MARKER.len()).enumerate().filter(|(_, window)| *window == MARKER);
    candidates
        .map(|(index, _)| start.saturating_add(index))
        .find(|candidate| at(bytes, salt, *candidate).is_some())
}

fn checksum(salt: Salt, position: u64, length: [u8; 4], payload: &[u8]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&salt);
    digest.update(&position.to_be_bytes());
    digest.update(&length);
    digest.update(payload);
    crc32(&digest)
}

/// Returns the value of a 32-bit digest.
pub(super) fn crc32(digest: &Digest) -> u32 {
    u32::try_from(digest.finalize()).expect("CRC-32C has 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: Salt = *b"saltsalt";

    #[test]
    fn a_batch_counts_only_in_its_file_at_its_place_and_whole() {
        let batch = frame(SALT, 24, b"payload").unwrap();
        let mut file = vec![0; 24];
        file.extend_from_slice(&batch);
        assert_eq!(at(&file, SALT, 24), Some(&b"payload"[..]));
        assert_eq!(at(&file, *b"another!", 24), None);
        assert_eq!(at(&batch, SALT, 0), None);
        for end in 24..file.len() {
            assert_eq!(at(&file[..end], SALT, 24), None);
        }
        for index in 24..file.len() {
            let mut damaged = file.clone();
            damaged[index] ^= 1;
            assert_eq!(at(&damaged, SALT, 24), None, "byte {index}");
        }
    }

    #[test]
    fn a_later_batch_is_found_and_a_look_alike_is_not() {
        let inner = frame(*b"another!", 40, b"x").unwrap();
        let mut file = vec![0; 24];
        file.extend_from_slice(&frame(SALT, 24, &inner).unwrap());
        assert_eq!(find_after(&file, SALT, 24), None);
        let position = file.len();
        file.extend_from_slice(&frame(SALT, position as u64, b"last").unwrap());
        assert_eq!(find_after(&file, SALT, 24), Some(position));
        assert_eq!(find_after(&file, SALT, position), None);
    }
}
