//! Rebuilding what is known of producers: the newest snapshot, then the batches after it.

use super::error::{Error, Result};
use super::file_names::{FileKind, FileState, SegmentFile};
use super::partition_log::{Appender, PartitionLog};
use super::producer_snapshot;
use super::producer_state::ProducerStates;
use super::scan::{PASS_WINDOW, Scan};
use super::segment::{Place, Segment};
use super::segments::Segments;
use crate::types::{Millis, Offset};

/// The state of producers at an offset, and where the snapshot it came from was taken.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) producers: ProducerStates,
    pub(super) snapshot_at: Option<Offset>,
}

impl PartitionLog {
    /// Rebuilds the state of producers when it may be ahead of the log.
    pub(super) fn refresh_producers(&self, appender: &mut Appender) -> Result<()> {
        if !appender.producers_stale {
            return Ok(());
        }
        let segments = self.segments.load_full();
        let mut replayed = load_snapshot(&self.place, self.log_end_offset())?;
        let expiration = Millis(self.environment.producer_expiration_ms);
        replayed.producers.expire(self.now(), expiration);
        let from = replayed.snapshot_at.unwrap_or(Offset::ZERO);
        replay(&segments, from, self.log_end_offset(), &mut replayed.producers)?;
        replayed.producers.high_watermark_reached(self.high_watermark());
        appender.producers = replayed.producers;
        appender.snapshot_at = replayed.snapshot_at.unwrap_or(Offset(-1));
        appender.producers_stale = false;
        self.publish_first_unstable(appender);
        Ok(())
    }

    /// Forgets producers that were idle too long.
    pub(super) fn expire_producers(&self) {
        let mut appender = self.lock();
        let expiration = Millis(self.environment.producer_expiration_ms);
        appender.producers.expire(self.now(), expiration);
    }
}

/// Reads the newest snapshot at or below `log_end` that is whole; one that is damaged is removed.
pub(super) fn load_snapshot(place: &Place, log_end: Offset) -> Result<Replayed> {
    let directory = place.location.directory();
    let disk = &*place.handles.disk;
    let names = disk.list(&directory).map_err(Error::io("list", &*directory))?;
    let mut snapshots: Vec<SegmentFile> = names
        .iter()
        .filter_map(|entry| SegmentFile::parse(&entry.name))
        .filter(|file| file.kind == FileKind::Snapshot && file.state == FileState::Live)
        .filter(|file| file.base_offset <= log_end)
        .collect();
    snapshots.sort_unstable();
    while let Some(newest) = snapshots.pop() {
        let path = newest.path(&directory);
        match producer_snapshot::read(disk, &path) {
            Ok(producers) => return Ok(Replayed { producers, snapshot_at: Some(newest.base_offset) }),
            Err(error @ Error::Damaged { .. }) => {
                tracing::warn!(%error, "a producer snapshot is damaged and removed; an older one is used");
                disk.remove_file(&path).map_err(Error::io("remove", path))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Replayed { producers: ProducerStates::default(), snapshot_at: None })
}

/// Applies the batches of `from..to` to the state of producers.
pub(super) fn replay(
    segments: &Segments,
    from: Offset,
    to: Offset,
    producers: &mut ProducerStates,
) -> Result<()> {
    if from >= to {
        return Ok(());
    }
    let mut window = vec![0; PASS_WINDOW];
    for segment in segments.tail_from(from).iter().filter(|segment| segment.base_offset() < to) {
        replay_segment(segment, from, to, producers, &mut window)?;
    }
    Ok(())
}

fn replay_segment(
    segment: &Segment,
    from: Offset,
    to: Offset,
    producers: &mut ProducerStates,
    window: &mut [u8],
) -> Result<()> {
    let Some(first) = segment.find(from, segment.size())? else { return Ok(()) };
    let file = segment.handle()?;
    let mut scan = Scan::new(&*file, first.position, segment.size(), window);
    while let Some(found) = segment.step(&mut scan)? {
        if found.header.base_offset >= to {
            break;
        }
        if found.header.has_producer() && found.header.base_offset >= from {
            let marker = scan.marker(&found).map_err(Error::io("read", segment.log().path()))?;
            // Transactions that this ends are in the transaction index already.
            producers.apply(&found.header, marker);
        }
    }
    Ok(())
}
