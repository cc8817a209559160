//! What is in a log directory and in a partition's directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, RealDisk};
use crate::log::error::{Error, Result};
use crate::log::file_names::{DirectoryName, FileKind, FileState, SegmentFile};
use crate::types::{Millis, Offset, TopicPartition};

/// A partition's directory in a log directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionDirectory {
    /// Which partition it is.
    pub partition: TopicPartition,
    /// Where it is.
    pub path: PathBuf,
}

/// The files of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFiles {
    /// The number in their names.
    pub base_offset: Offset,
    /// The file of batches.
    pub path: PathBuf,
    /// Its bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Millis,
    /// Bytes of the offset index, if there is one.
    pub offset_index: Option<u64>,
    /// Bytes of the time index, if there is one.
    pub time_index: Option<u64>,
    /// Bytes of the transaction index, if there is one.
    pub transaction_index: Option<u64>,
    /// Whether a snapshot of producers was taken before it.
    pub snapshot: bool,
}

impl SegmentFiles {
    /// Returns the path of another file of the segment.
    #[must_use]
    pub fn sibling(&self, kind: FileKind) -> PathBuf {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        SegmentFile::live(self.base_offset, kind).path(directory)
    }
}

/// Returns the partitions in a log directory, by name.
///
/// # Errors
/// What the operating system answered.
pub fn list_partitions(directory: &Path) -> Result<Vec<PartitionDirectory>> {
    let entries = RealDisk.list(directory).map_err(Error::io("list", directory))?;
    let partition = |name: &str| match DirectoryName::parse(name) {
        DirectoryName::Partition(partition) => {
            Some(PartitionDirectory { partition, path: directory.join(name) })
        }
        _ => None,
    };
    Ok(entries.iter().filter(|entry| entry.is_directory).filter_map(|entry| partition(&entry.name)).collect())
}

/// Returns the segments in a partition's directory, by rising base offset. Files that vanish meanwhile are left out.
///
/// # Errors
/// What the operating system answered.
pub fn list_segments(directory: &Path) -> Result<Vec<SegmentFiles>> {
    let entries = RealDisk.list(directory).map_err(Error::io("list", directory))?;
    let live = entries.iter().filter_map(|entry| SegmentFile::parse(&entry.name));
    let mut kinds: BTreeMap<Offset, Vec<FileKind>> = BTreeMap::new();
    for file in live.filter(|file| file.state == FileState::Live) {
        kinds.entry(file.base_offset).or_default().push(file.kind);
    }
    let mut segments = Vec::new();
    for (base_offset, kinds) in kinds.iter().filter(|(_, kinds)| kinds.contains(&FileKind::Log)) {
        segments.extend(describe(directory, *base_offset, kinds));
    }
    Ok(segments)
}

fn describe(directory: &Path, base_offset: Offset, kinds: &[FileKind]) -> Option<SegmentFiles> {
    let path = |kind| SegmentFile::live(base_offset, kind).path(directory);
    let attributes = RealDisk.attributes(&path(FileKind::Log)).ok()?;
    let size = |kind| RealDisk.attributes(&path(kind)).ok().map(|attributes| attributes.size);
    Some(SegmentFiles {
        base_offset,
        path: path(FileKind::Log),
        size: attributes.size,
        modified: attributes.modified,
        offset_index: size(FileKind::OffsetIndex),
        time_index: size(FileKind::TimeIndex),
        transaction_index: size(FileKind::TransactionIndex),
        snapshot: kinds.contains(&FileKind::Snapshot),
    })
}
