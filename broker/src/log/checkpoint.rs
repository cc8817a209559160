//! Kafka's checkpoint text: a version line, a count line, then one line per entry.
//!
//! Used per log directory (`topic partition offset`) and per partition (`epoch start_offset`). A file of no bytes is valid and
//! has no entries: Kafka makes it so at start, and power loss may leave it so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::error::{Error, Result};
use crate::disk::{self, Disk, OpenMode};
use crate::types::{LeaderEpoch, Offset, TopicPartition};

const VERSION: &str = "0";
/// More than the entries of a million partitions with long names.
const SIZE_LIMIT: usize = 256 << 20;

/// Offsets by partition, as a log directory's checkpoints hold them.
pub type OffsetsByPartition = BTreeMap<TopicPartition, Offset>;

/// Reads the checkpoint of a log directory; a file that does not exist has no entries.
///
/// # Errors
/// [`Error::Malformed`] with the line, or what the operating system answered.
pub(super) fn read_offsets(disk: &dyn Disk, path: &Path) -> Result<OffsetsByPartition> {
    let text = read_text(disk, path)?;
    let entries = parse(&text, |[topic, partition, offset]| {
        let partition = partition.parse().ok().filter(|number: &i32| *number >= 0)?;
        Some((TopicPartition::new(topic, partition), Offset(offset.parse().ok()?)))
    });
    Ok(entries.map_err(|fault| fault.at(path))?.into_iter().collect())
}

/// Replaces the checkpoint of a log directory.
///
/// # Errors
/// What the operating system answered; the old content is then still there.
pub(super) fn write_offsets(disk: &dyn Disk, path: &Path, offsets: &OffsetsByPartition) -> Result<()> {
    let lines = offsets.iter().map(|(name, offset)| format!("{} {} {offset}", name.topic, name.partition));
    write_lines(disk, path, lines, offsets.len())
}

/// Reads a partition's leader epochs, in the order of the file; a file that does not exist has none.
///
/// # Errors
/// [`Error::Malformed`] with the line, or what the operating system answered.
pub(super) fn read_epochs(disk: &dyn Disk, path: &Path) -> Result<Vec<(LeaderEpoch, Offset)>> {
    let text = read_text(disk, path)?;
    let entries =
        parse(&text, |[epoch, start]| Some((LeaderEpoch(epoch.parse().ok()?), Offset(start.parse().ok()?))));
    entries.map_err(|fault| fault.at(path))
}

/// Replaces a partition's leader epochs.
///
/// # Errors
/// What the operating system answered; the old content is then still there.
pub(super) fn write_epochs(disk: &dyn Disk, path: &Path, epochs: &[(LeaderEpoch, Offset)]) -> Result<()> {
    write_lines(disk, path, epochs.iter().map(|(epoch, start)| format!("{epoch} {start}")), epochs.len())
}

fn write_lines(
    disk: &dyn Disk,
    path: &Path,
    lines: impl Iterator<Item = String>,
    count: usize,
) -> Result<()> {
    let mut text = format!("{VERSION}\n{count}\n");
    for line in lines {
        writeln!(text, "{line}").expect("a string takes every write");
    }
    disk::replace(disk, path, text.as_bytes()).map_err(Error::io("write", path))
}

fn read_text(disk: &dyn Disk, path: &Path) -> Result<String> {
    let content = match disk.open(path, OpenMode::Read) {
        Ok(file) => file.read_all(SIZE_LIMIT).map_err(Error::io("read", path))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    String::from_utf8(content).map_err(|error| {
        let reason = format!("byte {} is not UTF-8", error.utf8_error().valid_up_to());
        Error::Malformed { path: path.to_owned(), line: 0, reason }
    })
}

/// Where a checkpoint breaks the format.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    line: usize,
    reason: String,
}

impl Fault {
    fn at(self, path: &Path) -> Error {
        Error::Malformed { path: path.to_owned(), line: self.line, reason: self.reason }
    }
}

fn parse<const N: usize, T>(
    text: &str,
    entry: impl Fn([&str; N]) -> Option<T>,
) -> std::result::Result<Vec<T>, Fault> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let Some((line, version)) = lines.next() else { return Ok(Vec::new()) };
    if version.trim() != VERSION {
        return Err(Fault { line, reason: format!("version {version:?} instead of {VERSION}") });
    }
    let count: Option<usize> = lines.next().and_then(|(_, count)| count.trim().parse().ok());
    let Some(count) = count else {
        return Err(Fault { line: 2, reason: "no number of entries".to_owned() });
    };
    let mut entries = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let mut words = text.split_whitespace();
        let fields: [&str; N] = std::array::from_fn(|_| words.next().unwrap_or_default());
        let whole = fields.iter().all(|field| !field.is_empty()) && words.next().is_none();
        let parsed = if whole { entry(fields) } else { None };
        let Some(parsed) = parsed else { return Err(Fault { line, reason: format!("no entry: {text:?}") }) };
        entries.push(parsed);
    }
    if entries.len() != count {
        return Err(Fault { line: 2, reason: format!("{count} entries promised, {} there", entries.len()) });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::disk::RealDisk;

    fn vector(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/logdir").join(name)
    }

    fn offsets(entries: &[(&str, i32, i64)]) -> OffsetsByPartition {
        entries
            .iter()
            .map(|(topic, number, offset)| (TopicPartition::new(*topic, *number), Offset(*offset)))
            .collect()
    }

    #[test]
    fn kafkas_files_are_read_and_written_alike() {
        let cases = [
            (
                "recovery-point-offset-checkpoint",
                offsets(&[
                    ("orders", 0, 42),
                    ("orders", 1, 0),
                    ("__consumer_offsets", 49, 1_000_000_000_000),
                ]),
            ),
            ("replication-offset-checkpoint", offsets(&[("orders", 0, 42), ("a-topic.with-dashes_1", 7, 5)])),
            ("log-start-offset-checkpoint", offsets(&[])),
            ("cleaner-offset-checkpoint", offsets(&[])),
            ("no-such-checkpoint", offsets(&[])),
        ];
        let directory = tempfile::tempdir().unwrap();
        for (name, expected) in cases {
            assert_eq!(read_offsets(&RealDisk, &vector(name)).unwrap(), expected, "{name}");
            let copy = directory.path().join(name);
            write_offsets(&RealDisk, &copy, &expected).unwrap();
            assert_eq!(read_offsets(&RealDisk, &copy).unwrap(), expected, "{name}");
        }
        let epochs = read_epochs(&RealDisk, &vector("orders-0/leader-epoch-checkpoint")).unwrap();
        assert_eq!(epochs, [(LeaderEpoch(0), Offset(0)), (LeaderEpoch(4), Offset(17))]);
        let copy = directory.path().join("epochs");
        write_epochs(&RealDisk, &copy, &epochs).unwrap();
        assert_eq!(
            std::fs::read(copy).unwrap(),
            std::fs::read(vector("orders-0/leader-epoch-checkpoint")).unwrap()
        );
    }

    #[test]
    fn damage_is_named_by_line() {
        let cases = [
            ("1\n0\n", 1),
            ("0\n", 2),
            ("0\nx\n", 2),
            ("0\n2\norders 0 42\n", 2),
            ("0\n1\norders 0 42\norders 1 1\n", 2),
            ("0\n1\norders 0\n", 3),
            ("0\n1\norders -1 42\n", 3),
            ("0\n1\norders 0 42 7\n", 3),
            ("0\n1\norders 0 x\n", 3),
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoint");
        for (text, expected) in cases {
            std::fs::write(&path, text).unwrap();
            match read_offsets(&RealDisk, &path) {
                Err(Error::Malformed { line, .. }) => assert_eq!(line, expected, "{text:?}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
        read_offsets(&RealDisk, &vector("malformed-checkpoint")).unwrap_err();
        std::fs::write(&path, [0xFF]).unwrap();
        read_offsets(&RealDisk, &path).unwrap_err();
    }
}
