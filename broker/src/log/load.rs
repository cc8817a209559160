//! Taking over a partition's directory: finish what a crash interrupted, check or recover the segments, find both ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint;
use super::config::LogConfig;
use super::directory::LogDirectory;
use super::epoch_cache::EpochCache;
use super::error::{Error, Result};
use super::file_names::{EPOCH_CHECKPOINT, FileKind, FileState, SegmentFile};
use super::partition_log::{Checkpointed, Environment, Loaded, PartitionLog};
use super::partition_metadata;
use super::producer_snapshot;
use super::producer_state::ProducerStates;
use super::recover::{Derived, rebuild_indexes, recover};
use super::replay::{self, Replayed};
use super::segment::{FileSizes, Place, Segment};
use super::segments::Segments;
use crate::disk::Disk;
use crate::types::{Millis, Offset, TopicPartition};

/// What is known of a log before its directory is looked at.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) name: TopicPartition,
    pub(super) path: PathBuf,
    pub(super) config: LogConfig,
    /// Whether the broker stopped in order; what is on disk is then complete.
    pub(super) clean: bool,
    /// The checkpointed recovery point; none means that nothing is known.
    pub(super) recovery_point: Option<Offset>,
    pub(super) log_start: Offset,
    pub(super) high_watermark: Offset,
    /// Up to where the log is compacted; −1 for none.
    pub(super) first_dirty: Offset,
}

/// Loads the log in a partition's directory, making the directory and a first segment when there are none.
pub(super) fn load(
    expected: Expected,
    directory: &Arc<LogDirectory>,
    environment: &Environment,
    place: Place,
) -> Result<Arc<PartitionLog>> {
    let disk = directory.disk();
    disk.create_directory(&expected.path).map_err(Error::io("create", &expected.path))?;
    let loader = Loader { expected: &expected, place: &place, disk, now: (environment.clock)() };
    let loaded = loader.load(Millis(environment.producer_expiration_ms))?;
    let Expected { name, config, .. } = expected;
    Ok(PartitionLog::new(name, place, directory.clone(), environment.clone(), config, loaded))
}

struct Loader<'a> {
    expected: &'a Expected,
    place: &'a Place,
    disk: &'a dyn Disk,
    now: Millis,
}

impl Loader<'_> {
    fn load(&self, producer_expiration: Millis) -> Result<Loaded> {
        let path = &self.expected.path;
        let topic_id = partition_metadata::read_topic_id(self.disk, path)?;
        finish_interrupted(self.disk, path)?;
        let mut epochs = self.read_epochs()?;
        let mut segments = self.open_segments()?;
        let log_end = if self.expected.clean {
            self.find_end(&segments)?
        } else {
            self.recover_from(&mut segments, &mut epochs, producer_expiration)?
        };
        if log_end < self.expected.log_start {
            return self.start_empty(segments, topic_id);
        }
        let Some(segments) = Segments::new(segments) else { return self.start_empty(Vec::new(), topic_id) };
        let log_start = self.expected.log_start.max(segments.first_base());
        epochs.truncate_from_end(log_end);
        epochs.truncate_from_start(log_start);
        let replayed = self.load_producers(&segments, log_end, producer_expiration)?;
        let recovery_point = if self.expected.clean { log_end } else { self.recovery_point().min(log_end) };
        let mut producers = replayed.producers;
        let high_watermark = self.expected.high_watermark.min(log_end).max(log_start);
        producers.high_watermark_reached(high_watermark);
        Ok(Loaded {
            log_start,
            log_end,
            recovery_point,
            high_watermark,
            epochs,
            // A crash may have come between a change in memory and its file.
            epochs_unsaved: !self.expected.clean,
            producers,
            snapshot_at: replayed.snapshot_at.unwrap_or(Offset(-1)),
            topic_id,
            segments,
            checkpointed: self.checkpointed(),
        })
    }

    fn read_epochs(&self) -> Result<EpochCache> {
        match checkpoint::read_epochs(self.disk, &self.expected.path.join(EPOCH_CHECKPOINT)) {
            Ok(entries) => Ok(EpochCache::from_entries(entries)),
            Err(error @ Error::Malformed { .. }) => {
                tracing::warn!(%error, "leader epochs are damaged; those found while recovering are used");
                Ok(EpochCache::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the segments in order; indexes that are missing or cannot be right are rebuilt.
    fn open_segments(&self) -> Result<Vec<Arc<Segment>>> {
        let mut files: BTreeMap<Offset, FileSizes> = BTreeMap::new();
        let mut without_index: Vec<Offset> = Vec::new();
        let names = self.names()?;
        for file in names.iter().filter(|file| file.kind == FileKind::Log) {
            let has_index = names.contains(&SegmentFile { kind: FileKind::OffsetIndex, ..*file });
            files.insert(file.base_offset, self.sizes(*file, &names)?);
            if !has_index {
                without_index.push(file.base_offset);
            }
        }
        self.remove_orphans(&names, &files)?;
        let last = files.last_key_value().map(|(base, _)| *base);
        let mut segments = Vec::with_capacity(files.len());
        for (base, sizes) in files {
            let segment = self.open_segment(base, sizes)?;
            let will_be_recovered =
                !self.expected.clean && (Some(base) == last || base >= self.recovery_point());
            let rebuild = without_index.contains(&base) || !segment.indexes_are_sound().unwrap_or(false);
            if rebuild && !will_be_recovered {
                tracing::warn!(file = %segment.log().path().display(), "rebuilding the indexes of a segment");
                rebuild_indexes(&segment, &self.expected.config)?;
            }
            segments.push(Arc::new(segment));
        }
        Ok(segments)
    }

    fn open_segment(&self, base: Offset, sizes: FileSizes) -> Result<Segment> {
        match Segment::open(self.place, base, sizes, self.now) {
            // An index that shrank under us is as good as none.
            Err(Error::Damaged { .. }) => {
                let bare = FileSizes { log: sizes.log, ..FileSizes::default() };
                let segment = Segment::open(self.place, base, bare, self.now)?;
                rebuild_indexes(&segment, &self.expected.config)?;
                Ok(segment)
            }
            opened => opened,
        }
    }

    fn names(&self) -> Result<Vec<SegmentFile>> {
        let path = &self.expected.path;
        let entries = self.disk.list(path).map_err(Error::io("list", path))?;
        let mut files = Vec::new();
        for entry in entries.iter().filter(|entry| !entry.is_directory) {
            match SegmentFile::parse(&entry.name) {
                Some(file) if file.state == FileState::Live => files.push(file),
                None if entry.name.ends_with(".log") => {
                    let reason = "not the name of a segment; move it away and start again".to_owned();
                    return Err(Error::Refused { path: path.join(&entry.name), reason });
                }
                _ => {}
            }
        }
        Ok(files)
    }

    fn sizes(&self, log: SegmentFile, names: &[SegmentFile]) -> Result<FileSizes> {
        let size = |kind| {
            let file = SegmentFile { kind, ..log };
            if !names.contains(&file) {
                return Ok(0);
            }
            let path = file.path(&self.expected.path);
            self.disk.attributes(&path).map(|found| found.size).map_err(Error::io("stat", path))
        };
        Ok(FileSizes {
            log: size(FileKind::Log)?,
            offset_index: size(FileKind::OffsetIndex)?,
            time_index: size(FileKind::TimeIndex)?,
            transactions: size(FileKind::TransactionIndex)?,
        })
    }

    /// Removes index files whose segment is gone.
    fn remove_orphans(&self, names: &[SegmentFile], logs: &BTreeMap<Offset, FileSizes>) -> Result<()> {
        for file in names {
            let is_index = !matches!(file.kind, FileKind::Log | FileKind::Snapshot);
            if is_index && !logs.contains_key(&file.base_offset) {
                remove(self.disk, &file.path(&self.expected.path))?;
            }
        }
        Ok(())
    }

    /// Finds the log end after an orderly stop, from the last index entry on.
    fn find_end(&self, segments: &[Arc<Segment>]) -> Result<Offset> {
        let Some(active) = segments.last() else { return Ok(self.expected.log_start) };
        match active.restore_tail() {
            Err(error @ Error::Damaged { .. }) => {
                tracing::warn!(%error, "the end of a log is damaged though its broker stopped in order; recovering it");
                let mut derived =
                    Derived { epochs: &mut EpochCache::default(), producers: &mut ProducerStates::default() };
                Ok(recover(active, &self.expected.config, &mut derived)?.next_offset)
            }
            found => found,
        }
    }

    /// Recovers the segments from the one that holds the recovery point on. The first that lost bytes is the last one kept.
    fn recover_from(
        &self,
        segments: &mut Vec<Arc<Segment>>,
        epochs: &mut EpochCache,
        producer_expiration: Millis,
    ) -> Result<Offset> {
        let Some(last) = segments.last() else { return Ok(self.expected.log_start) };
        let point = self.recovery_point().min(last.base_offset());
        let first = segments.partition_point(|segment| segment.base_offset() <= point).saturating_sub(1);
        let untrusted_from = segments.get(first).map_or(Offset::ZERO, |segment| segment.base_offset());
        let mut producers = self.producers_before(segments, first, untrusted_from, producer_expiration)?;
        let mut log_end = untrusted_from;
        let mut kept = first;
        for segment in segments.iter().skip(first) {
            if kept > first && self.is_hole(log_end, segment.base_offset()) {
                break;
            }
            let mut derived = Derived { epochs, producers: &mut producers };
            let recovered = recover(segment, &self.expected.config, &mut derived)?;
            log_end = recovered.next_offset;
            kept += 1;
            if recovered.bytes_cut > 0 {
                break;
            }
        }
        for lost in segments.drain(kept..).rev() {
            tracing::warn!(file = %lost.log().path().display(), "a segment after a cut is removed");
            lost.rename_files(FileState::Deleted)?;
        }
        let path = SegmentFile::live(log_end, FileKind::Snapshot).path(&self.expected.path);
        if let Err(error) = producer_snapshot::write(self.disk, &path, &producers) {
            // It is built from the batches again; on a full disk the start must not depend on it.
            tracing::warn!(%error, "a producer snapshot could not be written");
        }
        self.remove_snapshots_above(log_end)?;
        Ok(log_end)
    }

    /// Whether records between two segments were lost: a file that power loss cut exactly between two batches looks whole.
    /// Compaction leaves holes too, also on a topic that was compacted once; so only what was written since a known recovery
    /// point is judged.
    fn is_hole(&self, log_end: Offset, next_base: Offset) -> bool {
        !self.expected.config.compact && self.expected.recovery_point.is_some() && log_end < next_base
    }

    fn checkpointed(&self) -> Checkpointed {
        Checkpointed {
            recovery_point: self.recovery_point(),
            log_start: self.expected.log_start,
            first_dirty: self.expected.first_dirty,
        }
    }

    fn recovery_point(&self) -> Offset {
        self.expected.recovery_point.unwrap_or(Offset::ZERO)
    }

    fn producers_before(
        &self,
        segments: &[Arc<Segment>],
        first: usize,
        offset: Offset,
        producer_expiration: Millis,
    ) -> Result<ProducerStates> {
        let mut replayed = replay::load_snapshot(self.place, offset)?;
        replayed.producers.expire(self.now, producer_expiration);
        if let Some(before) = Segments::new(segments.iter().take(first).cloned().collect()) {
            let from = replayed.snapshot_at.unwrap_or(Offset::ZERO);
            replay::replay(&before, from, offset, &mut replayed.producers)?;
        }
        Ok(replayed.producers)
    }

    fn remove_snapshots_above(&self, log_end: Offset) -> Result<()> {
        for file in self.names()? {
            if file.kind == FileKind::Snapshot && file.base_offset > log_end {
                remove(self.disk, &file.path(&self.expected.path))?;
            }
        }
        Ok(())
    }

    /// Keeps the snapshots that belong to a segment and the newest above, loads the newest and replays what follows.
    fn load_producers(
        &self,
        segments: &Segments,
        log_end: Offset,
        producer_expiration: Millis,
    ) -> Result<Replayed> {
        let mut snapshots: Vec<_> =
            self.names()?.into_iter().filter(|file| file.kind == FileKind::Snapshot).collect();
        snapshots.sort_unstable();
        let newest = snapshots.last().copied();
        for file in snapshots {
            let has_segment = segments.iter().any(|segment| segment.base_offset() == file.base_offset);
            let is_newest = Some(file) == newest && file.base_offset > segments.active().base_offset();
            if !(has_segment || is_newest) || file.base_offset > log_end {
                remove(self.disk, &file.path(&self.expected.path))?;
            }
        }
        let mut replayed = replay::load_snapshot(self.place, log_end)?;
        replayed.producers.expire(self.now, producer_expiration);
        // A log that stopped in order without a snapshot has none because nobody asked for one (Kafka before 0.11).
        let from = match replayed.snapshot_at {
            None if self.expected.clean => log_end,
            found => found.unwrap_or(Offset::ZERO),
        };
        replay::replay(segments, from, log_end, &mut replayed.producers)?;
        Ok(replayed)
    }

    /// Begins with an empty segment at the log start.
    fn start_empty(&self, old: Vec<Arc<Segment>>, topic_id: Option<uuid::Uuid>) -> Result<Loaded> {
        for segment in old.iter().rev() {
            segment.rename_files(FileState::Deleted)?;
        }
        for file in self.names()?.into_iter().filter(|file| file.kind == FileKind::Snapshot) {
            remove(self.disk, &file.path(&self.expected.path))?;
        }
        let start = self.expected.log_start;
        let first = Segment::begin(self.place, start, &self.expected.config, self.now)?;
        Ok(Loaded {
            segments: Segments::of(Arc::new(first)),
            log_start: start,
            log_end: start,
            recovery_point: start,
            high_watermark: start,
            epochs: EpochCache::default(),
            epochs_unsaved: false,
            producers: ProducerStates::default(),
            snapshot_at: Offset(-1),
            topic_id,
            checkpointed: self.checkpointed(),
        })
    }
}

/// Finishes or undoes what the cleaner, a split or a deletion was doing when the broker stopped.
fn finish_interrupted(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let mut files: Vec<_> = names.iter().filter_map(|entry| SegmentFile::parse(&entry.name)).collect();
    // New segments become `.swap` from highest to lowest: a `.cleaned` that is left means that the step was not finished,
    // and the swaps at or above it are not the whole replacement.
    let unfinished_from =
        files.iter().filter(|file| file.state == FileState::Cleaned).map(|file| file.base_offset).min();
    for file in &files {
        let worthless = match file.state {
            FileState::Deleted | FileState::Cleaned => true,
            FileState::Swap => unfinished_from.is_some_and(|from| file.base_offset >= from),
            FileState::Live => false,
        };
        if worthless {
            remove(disk, &file.path(directory))?;
        }
    }
    files.retain(|file| match file.state {
        FileState::Swap => unfinished_from.is_none_or(|from| file.base_offset < from),
        FileState::Live => true,
        FileState::Deleted | FileState::Cleaned => false,
    });
    finish_swap(disk, directory, &files)
}

/// Puts complete replacements in the place of the segments they replace.
fn finish_swap(disk: &dyn Disk, directory: &Path, files: &[SegmentFile]) -> Result<()> {
    let swaps: Vec<_> = files.iter().filter(|file| file.state == FileState::Swap).collect();
    let logs = swaps.iter().filter(|file| file.kind == FileKind::Log);
    let (Some(lowest), Some(highest)) =
        (logs.clone().map(|file| file.base_offset).min(), logs.map(|file| file.base_offset).max())
    else {
        return swaps.iter().try_for_each(|file| remove(disk, &file.path(directory)));
    };
    let end = end_of_swap(disk, directory, highest)?;
    for file in files.iter().filter(|file| file.state == FileState::Live && file.kind != FileKind::Snapshot) {
        if file.base_offset >= lowest && file.base_offset < end {
            remove(disk, &file.path(directory))?;
        }
    }
    for file in swaps {
        let from = file.path(directory);
        disk.rename(&from, &file.in_state(FileState::Live).path(directory))
            .map_err(Error::io("rename", from))?;
    }
    disk.sync_directory(directory).map_err(Error::io("sync", directory))
}

/// Returns the offset after the last batch of the highest replacement.
fn end_of_swap(disk: &dyn Disk, directory: &Path, base: Offset) -> Result<Offset> {
    let path = SegmentFile::live(base, FileKind::Log).in_state(FileState::Swap).path(directory);
    let file = disk.open(&path, crate::disk::OpenMode::Read).map_err(Error::io("open", &path))?;
    let size = file.attributes().map_err(Error::io("stat", &path))?.size;
    let mut window = vec![0; super::scan::PASS_WINDOW];
    let mut scan = super::scan::Scan::new(&*file, 0, size, &mut window);
    let mut end = base;
    while let super::scan::Step::Entry(found) = scan.step().map_err(Error::io("read", &path))? {
        end = end.max(found.header.next_offset());
    }
    Ok(end)
}

fn remove(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}
