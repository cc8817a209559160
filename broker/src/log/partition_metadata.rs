//! `partition.metadata`: to which topic id a partition's directory belongs.

use std::path::Path;

use uuid::Uuid;

use super::error::{Error, Result};
use super::file_names::PARTITION_METADATA;
use crate::disk::{self, Disk, OpenMode};

const SIZE_LIMIT: usize = 4096;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Reads the topic id of a partition's directory; `None` when there is no file.
///
/// # Errors
/// [`Error::Malformed`], also for the all-zero id; or what the operating system answered.
pub(super) fn read_topic_id(disk: &dyn Disk, directory: &Path) -> Result<Option<Uuid>> {
    let path = directory.join(PARTITION_METADATA);
    let content = match disk.open(&path, OpenMode::Read) {
        Ok(file) => file.read_all(SIZE_LIMIT).map_err(Error::io("read", &path))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", &path)(error)),
    };
    let text = String::from_utf8_lossy(&content);
    let value = |line: usize, key: &str| {
        let found = text.lines().nth(line - 1).and_then(|text| text.strip_prefix(key)).map(str::trim);
        found.ok_or_else(|| malformed(&path, line, format!("no {key:?}")))
    };
    let version: Option<i32> = value(1, "version:")?.parse().ok();
    if version.is_none_or(|version| version < 0) {
        return Err(malformed(&path, 1, "no version".to_owned()));
    }
    let id = value(2, "topic_id:")?;
    match decode_id(id) {
        Some(id) if !id.is_nil() => Ok(Some(id)),
        _ => Err(malformed(&path, 2, format!("no topic id: {id:?}"))),
    }
}

/// Writes the topic id of a partition's directory.
///
/// # Errors
/// What the operating system answered.
pub(super) fn write_topic_id(disk: &dyn Disk, directory: &Path, topic_id: Uuid) -> Result<()> {
    let path = directory.join(PARTITION_METADATA);
    let text = format!("version: 0\ntopic_id: {}", encode_id(topic_id));
    disk::replace(disk, &path, text.as_bytes()).map_err(Error::io("write", &path))
}

/// Returns Kafka's text of an id: 22 characters of base64url without padding.
#[must_use]
pub(super) fn encode_id(id: Uuid) -> String {
    // 128 bits are 21 characters of 6 bits and one of the last 2 bits, padded with zeros.
    let bits = id.as_u128();
    let sextet = |at: u32| if at == 21 { (bits << 4) & 63 } else { (bits >> (122 - 6 * at)) & 63 };
    (0..22)
        .filter_map(|at| ALPHABET.get(usize::try_from(sextet(at)).unwrap_or(0)))
        .map(|byte| char::from(*byte))
        .collect()
}

/// Takes Kafka's text of an id apart.
#[must_use]
pub(super) fn decode_id(text: &str) -> Option<Uuid> {
    let text = text.trim_end_matches('=');
    if text.len() != 22 {
        return None;
    }
    let mut bits: u128 = 0;
    for (at, byte) in text.bytes().enumerate() {
        let sextet = u128::try_from(ALPHABET.iter().position(|known| *known == byte)?).ok()?;
        bits = if at == 21 { (bits << 2) | (sextet >> 4) } else { (bits << 6) | sextet };
    }
    Some(Uuid::from_u128(bits))
}

fn malformed(path: &Path, line: usize, reason: String) -> Error {
    Error::Malformed { path: path.to_owned(), line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn kafkas_file_is_read_and_written_alike() {
        let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/logdir/orders-0");
        let id = read_topic_id(&RealDisk, &vector).unwrap().unwrap();
        assert_eq!(id.as_bytes(), &std::array::from_fn::<u8, 16, _>(|at| 0x20 + u8::try_from(at).unwrap()));
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_topic_id(&RealDisk, directory.path()).unwrap(), None);
        write_topic_id(&RealDisk, directory.path(), id).unwrap();
        let written = std::fs::read(directory.path().join(PARTITION_METADATA)).unwrap();
        assert_eq!(written, std::fs::read(vector.join(PARTITION_METADATA)).unwrap());
    }

    #[test]
    fn ids_survive_a_round_trip() {
        for id in [Uuid::nil(), Uuid::max(), Uuid::new_v4(), Uuid::from_u128(1)] {
            assert_eq!(decode_id(&encode_id(id)), Some(id));
        }
        assert_eq!(decode_id("AAECAwQFBgcICQoLDA0OD*"), None);
        assert_eq!(decode_id("AAECAwQFBgcICQoLDA0O"), None);
    }

    #[test]
    fn damage_and_the_zero_id_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        for text in [
            "",
            "version: x\ntopic_id: ICEiIyQlJicoKSorLC0uLw",
            "version: 0\n",
            "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            std::fs::write(directory.path().join(PARTITION_METADATA), text).unwrap();
            assert!(
                matches!(read_topic_id(&RealDisk, directory.path()), Err(Error::Malformed { .. })),
                "{text:?}"
            );
        }
    }
}
