//! Names of files and directories, built and taken apart.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::types::{Offset, TopicPartition};

pub(super) const EPOCH_CHECKPOINT: &str = "leader-epoch-checkpoint";
pub(super) const PARTITION_METADATA: &str = "partition.metadata";
pub(super) const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
pub(super) const LOG_STARTS: &str = "log-start-offset-checkpoint";
pub(super) const HIGH_WATERMARKS: &str = "replication-offset-checkpoint";
pub(super) const CLEANER_OFFSETS: &str = "cleaner-offset-checkpoint";
pub(super) const META_PROPERTIES: &str = "meta.properties";
pub(super) const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";
pub(super) const LOCK: &str = ".lock";

/// The longest name a directory may have; longer topic names are cut when a suffix is added.
const NAME_LIMIT: usize = 255;

/// What a file of a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// Batches.
    Log,
    /// Offsets to positions.
    OffsetIndex,
    /// Timestamps to offsets.
    TimeIndex,
    /// Aborted transactions.
    TransactionIndex,
    /// The state of producers before the base offset.
    Snapshot,
}

/// Where a file of a segment is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileState {
    /// In use.
    Live,
    /// Waits for removal.
    Deleted,
    /// Being written by the cleaner or a split; worthless after a crash.
    Cleaned,
    /// Complete, about to replace what is there.
    Swap,
}

/// The parsed name of a segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentFile {
    /// The number in the name.
    pub base_offset: Offset,
    /// What the file holds.
    pub kind: FileKind,
    /// Where it is in its life.
    pub state: FileState,
}

impl FileKind {
    const ALL: [Self; 5] =
        [Self::Log, Self::OffsetIndex, Self::TimeIndex, Self::TransactionIndex, Self::Snapshot];

    /// Returns the ending of the name, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::OffsetIndex => "index",
            Self::TimeIndex => "timeindex",
            Self::TransactionIndex => "txnindex",
            Self::Snapshot => "snapshot",
        }
    }
}

impl FileState {
    const SUFFIXED: [Self; 3] = [Self::Deleted, Self::Cleaned, Self::Swap];

    fn suffix(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Deleted => ".deleted",
            Self::Cleaned => ".cleaned",
            Self::Swap => ".swap",
        }
    }
}

impl SegmentFile {
    /// Names a file in use.
    #[must_use]
    pub fn live(base_offset: Offset, kind: FileKind) -> Self {
        Self { base_offset, kind, state: FileState::Live }
    }

    /// Returns the same file at another point of its life.
    #[must_use]
    pub fn in_state(self, state: FileState) -> Self {
        Self { state, ..self }
    }

    /// Returns the name in the directory.
    #[must_use]
    pub fn name(self) -> String {
        format!("{:020}.{}{}", self.base_offset.0, self.kind.extension(), self.state.suffix())
    }

    /// Returns the path of the file below `directory`.
    #[must_use]
    pub fn path(self, directory: &Path) -> PathBuf {
        directory.join(self.name())
    }

    /// Takes a name apart; `None` when it is not a segment's file.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (stem, state) = FileState::SUFFIXED
            .into_iter()
            .find_map(|state| name.strip_suffix(state.suffix()).map(|stem| (stem, state)))
            .unwrap_or((name, FileState::Live));
        let (number, extension) = stem.rsplit_once('.')?;
        let kind = FileKind::ALL.into_iter().find(|kind| kind.extension() == extension)?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { base_offset: Offset(number.parse().ok()?), kind, state })
    }
}

/// What a directory below `log.dirs` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryName {
    /// A partition's log.
    Partition(TopicPartition),
    /// Deleted, waits for removal.
    Deleted,
    /// Being filled by a move between directories.
    Future(TopicPartition),
    /// Set aside: not of this cluster's present topics.
    Stray,
    /// Not a partition: of another tool, of a volume, or of Kafka's other modes.
    Foreign,
}

impl DirectoryName {
    /// Takes a directory's name apart.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        const NOT_PARTITIONS: [&str; 2] = ["__cluster_metadata-0", "remote-log-index-cache"];
        if NOT_PARTITIONS.contains(&name) {
            return Self::Foreign;
        }
        for (suffix, kind) in [("-delete", Self::Deleted), ("-stray", Self::Stray)] {
            if name.strip_suffix(suffix).is_some_and(|stem| split_unique(stem).is_some()) {
                return kind;
            }
        }
        if let Some(partition) = name.strip_suffix("-future").and_then(split_unique).and_then(parse_partition)
        {
            return Self::Future(partition);
        }
        parse_partition(name).map_or(Self::Foreign, Self::Partition)
    }

    /// Returns the name of a partition's directory once it is deleted.
    #[must_use]
    pub fn deleted(partition: &TopicPartition) -> String {
        Self::suffixed(partition, "delete")
    }

    /// Returns the name of a partition's directory once it is set aside.
    #[must_use]
    pub fn stray(partition: &TopicPartition) -> String {
        Self::suffixed(partition, "stray")
    }

    fn suffixed(partition: &TopicPartition, suffix: &str) -> String {
        let end = format!("-{}.{}-{suffix}", partition.partition, Uuid::new_v4().simple());
        let mut topic = &*partition.topic;
        while topic.len() + end.len() > NAME_LIMIT {
            // Cut by whole characters; a legal topic name has only ASCII.
            topic = topic.char_indices().last().map_or("", |(at, _)| topic.split_at(at).0);
        }
        format!("{topic}{end}")
    }
}

/// Splits `T-P.<32 hex>` before the last dot.
fn split_unique(stem: &str) -> Option<&str> {
    let (partition, unique) = stem.rsplit_once('.')?;
    (unique.len() == 32 && unique.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(partition)
}

/// Splits `T-P` at the last dash; P is decimal without padding.
fn parse_partition(name: &str) -> Option<TopicPartition> {
    let (topic, number) = name.rsplit_once('-')?;
    let partition: i32 = number.parse().ok()?;
    (!topic.is_empty() && partition >= 0 && partition.to_string() == number)
        .then(|| TopicPartition::new(topic, partition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_names_survive_a_round_trip() {
        for kind in FileKind::ALL {
            for state in [FileState::Live, FileState::Deleted, FileState::Cleaned, FileState::Swap] {
                let file = SegmentFile { base_offset: Offset(1000), kind, state };
                assert_eq!(SegmentFile::parse(&file.name()), Some(file));
            }
        }
        let name = SegmentFile::live(Offset(1000), FileKind::TimeIndex).in_state(FileState::Deleted).name();
        assert_eq!(name, "00000000000000001000.timeindex.deleted");
    }

    #[test]
    fn other_names_are_not_segments() {
        for name in [
            "leader-epoch-checkpoint",
            "x.log",
            ".log",
            "-1.log",
            "+1.log",
            "1.log.tmp",
            "99999999999999999999.log",
            "1",
        ] {
            assert_eq!(SegmentFile::parse(name), None, "{name}");
        }
    }

    #[test]
    fn directories_are_told_apart() {
        let hex = "0123456789abcdef0123456789abcdef";
        let partition = |topic: &str, number| DirectoryName::Partition(TopicPartition::new(topic, number));
        let cases = [
            ("orders-0".to_owned(), partition("orders", 0)),
            ("a-topic.with-dashes_1-7".to_owned(), partition("a-topic.with-dashes_1", 7)),
            (format!("orders-0.{hex}-delete"), DirectoryName::Deleted),
            (format!("orders-0.{hex}-stray"), DirectoryName::Stray),
            (format!("orders-0.{hex}-future"), DirectoryName::Future(TopicPartition::new("orders", 0))),
            ("orders-delete".to_owned(), DirectoryName::Foreign),
            ("lost+found".to_owned(), DirectoryName::Foreign),
            ("orders-".to_owned(), DirectoryName::Foreign),
            ("-1".to_owned(), DirectoryName::Foreign),
            ("orders-01".to_owned(), DirectoryName::Foreign),
            ("orders-4294967296".to_owned(), DirectoryName::Foreign),
            ("__cluster_metadata-0".to_owned(), DirectoryName::Foreign),
            ("remote-log-index-cache".to_owned(), DirectoryName::Foreign),
        ];
        for (name, expected) in cases {
            assert_eq!(DirectoryName::parse(&name), expected, "{name}");
        }
    }

    #[test]
    fn a_deleted_name_is_capped_by_cutting_the_topic() {
        let name = DirectoryName::deleted(&TopicPartition::new("t".repeat(249), 12));
        assert_eq!(name.len(), 255);
        assert_eq!(DirectoryName::parse(&name), DirectoryName::Deleted);
        assert!(name.contains("t-12."));
    }
}
