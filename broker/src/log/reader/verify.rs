//! Looking at every byte of a segment and its indexes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::files::SegmentFiles;
use super::segment::{Next, SegmentReader, StoredBatch};
use super::tables::{read_offset_index, read_producers, read_time_index};
use crate::log::error::{Error, Result};
use crate::log::file_names::FileKind;
use crate::types::{Millis, Offset};

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// Where in it, in bytes.
    pub position: u64,
    /// The offset there, if known.
    pub offset: Option<Offset>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: byte {}", self.path.display(), self.position)?;
        if let Some(offset) = self.offset {
            write!(f, ", offset {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// What the walk over a segment's batches learned, to hold the indexes against.
#[derive(Debug, Default)]
struct Walked {
    /// Position to (first offset, last offset) of each batch.
    batches: BTreeMap<u64, (Offset, Offset)>,
    /// The largest timestamp up to each last offset.
    largest_timestamps: BTreeMap<Offset, Millis>,
    size: u64,
}

/// Checks a segment: every checksum, every record, offsets that rise, and both indexes against the batches. An active
/// segment's last batch may be unfinished, which is no damage.
///
/// # Errors
/// What the operating system answered; damage is no error but the answer.
pub fn verify_segment(files: &SegmentFiles, is_active: bool) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let walked = walk(files, is_active, &mut findings)?;
    check_offset_index(files, &walked, &mut findings)?;
    check_time_index(files, &walked, &mut findings)?;
    if files.snapshot {
        check_snapshot(&files.sibling(FileKind::Snapshot), &mut findings)?;
    }
    Ok(findings)
}

fn walk(files: &SegmentFiles, is_active: bool, findings: &mut Vec<Finding>) -> Result<Walked> {
    let mut reader = SegmentReader::open(&files.path)?;
    let mut walked = Walked::default();
    let mut next_offset = files.base_offset;
    let mut largest = Millis(-1);
    loop {
        let found =
            |position, offset, reason: String| Finding { path: files.path.clone(), position, offset, reason };
        match reader.next()? {
            Next::Batch(batch) => {
                let offset = Some(batch.header.base_offset);
                let problems = problems_of(&batch, next_offset).into_iter();
                findings.extend(problems.map(|problem| found(batch.position, offset, problem)));
                next_offset = next_offset.max(batch.header.next_offset());
                largest = largest.max(batch.header.max_timestamp);
                walked.largest_timestamps.insert(batch.header.last_offset, largest);
                walked.batches.insert(batch.position, (batch.header.base_offset, batch.header.last_offset));
            }
            Next::Unfinished { .. } if is_active => break,
            Next::End => break,
            Next::Unfinished { position } => {
                findings.push(found(position, Some(next_offset), "the last batch is cut".to_owned()));
                break;
            }
            Next::Damaged { position, reason } => {
                findings.push(found(position, Some(next_offset), reason));
                break;
            }
        }
    }
    walked.size = reader.position();
    Ok(walked)
}

fn problems_of(batch: &StoredBatch, next_offset: Offset) -> Vec<String> {
    let mut problems = Vec::new();
    if !batch.checksum_matches {
        problems.push("checksum does not match".to_owned());
    }
    let first = if batch.header.magic == 2 { batch.header.base_offset } else { batch.header.last_offset };
    if first < next_offset {
        problems.push(format!("offset {first} after {next_offset}"));
    }
    if let Err(error) = batch.records() {
        problems.push(error.to_string());
    }
    problems
}

fn check_offset_index(files: &SegmentFiles, walked: &Walked, findings: &mut Vec<Finding>) -> Result<()> {
    let path = files.sibling(FileKind::OffsetIndex);
    let Some(entries) = existing(read_offset_index(&path))? else { return Ok(()) };
    let mut last = None;
    for (at, entry) in entries.iter().enumerate() {
        let batch = walked.batches.get(&u64::from(entry.position));
        let reason = match batch {
            _ if last.is_some_and(|last| entry.offset <= last) => Some("offsets do not rise".to_owned()),
            None if u64::from(entry.position) < walked.size => {
                Some(format!("no batch begins at position {}", entry.position))
            }
            None => Some(format!("position {} is not in the segment", entry.position)),
            // An older follower's entry has the last offset of a whole set of batches.
            Some((first, _)) if *first > entry.offset => {
                Some(format!("offset {} lies before the batch at {}", entry.offset, entry.position))
            }
            Some(_) => None,
        };
        last = Some(entry.offset);
        let position = at as u64 * crate::log::offset_index::ENTRY as u64;
        findings.extend(reason.map(|reason| Finding {
            path: path.clone(),
            position,
            offset: Some(entry.offset),
            reason,
        }));
    }
    Ok(())
}

fn check_time_index(files: &SegmentFiles, walked: &Walked, findings: &mut Vec<Finding>) -> Result<()> {
    let path = files.sibling(FileKind::TimeIndex);
    let Some(entries) = existing(read_time_index(&path))? else { return Ok(()) };
    for (at, entry) in entries.iter().enumerate() {
        let reason = match walked.largest_timestamps.get(&entry.offset) {
            None => Some("no batch ends at this offset".to_owned()),
            Some(largest) if *largest != entry.timestamp => {
                Some(format!("timestamp {} instead of {}", entry.timestamp.0, largest.0))
            }
            Some(_) => None,
        };
        let position = at as u64 * crate::log::time_index::ENTRY as u64;
        findings.extend(reason.map(|reason| Finding {
            path: path.clone(),
            position,
            offset: Some(entry.offset),
            reason,
        }));
    }
    Ok(())
}

fn check_snapshot(path: &Path, findings: &mut Vec<Finding>) -> Result<()> {
    match existing(read_producers(path)) {
        Err(Error::Damaged { path, position, reason }) => {
            findings.push(Finding { path, position, offset: None, reason });
            Ok(())
        }
        checked => checked.map(drop),
    }
}

/// Takes a file that is gone for one that was not there.
fn existing<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_not_found() => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::log::reader::list_segments;

    fn verified(change: impl FnOnce(&Path)) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        for extension in ["log", "index", "timeindex"] {
            let name = format!("00000000000000001000.{extension}");
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/segment").join(&name);
            fs::copy(from, directory.path().join(name)).unwrap();
        }
        change(directory.path());
        let segments = list_segments(directory.path()).unwrap();
        let findings = verify_segment(&segments[0], false).unwrap();
        findings
            .iter()
            .map(|finding| {
                finding
                    .to_string()
                    .split_once(".log: ")
                    .map_or_else(|| finding.to_string(), |(_, tail)| tail.to_owned())
            })
            .collect()
    }

    fn edit(directory: &Path, extension: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let path = directory.join(format!("00000000000000001000.{extension}"));
        let mut content = fs::read(&path).unwrap();
        edit(&mut content);
        fs::write(path, content).unwrap();
    }

    #[test]
    fn a_sound_segment_has_no_findings() {
        assert_eq!(verified(|_| ()), Vec::<String>::new());
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let flipped = verified(|directory| edit(directory, "log", |content| content[2000] ^= 1));
        assert_eq!(flipped[0], "byte 1762, offset 1010: checksum does not match");
        let cut = verified(|directory| edit(directory, "log", |content| content.truncate(2000)));
        assert_eq!(cut[0], "byte 1762, offset 1010: the last batch is cut");
        assert!(cut.len() > 2, "entries of what is cut are named as well");
        let index = verified(|directory| edit(directory, "index", |content| content[15] ^= 1));
        assert!(index[0].contains(".index: byte 8, offset 1054: no batch begins at position"), "{index:?}");
        let times = verified(|directory| edit(directory, "timeindex", |content| content[7] ^= 1));
        assert!(times[0].contains(".timeindex: byte 0, offset 1029: timestamp"), "{times:?}");
    }
}
