//! The segments of a log, in order: an immutable list that is replaced as a whole, so that readers need no lock.

use std::sync::Arc;

use super::segment::Segment;
use crate::types::Offset;

/// A log's segments by rising base offset; never empty, the last is the active one.
#[derive(Debug, Clone)]
pub(super) struct Segments(Vec<Arc<Segment>>);

impl Segments {
    /// Takes a list; `None` when it is empty.
    pub(super) fn new(mut segments: Vec<Arc<Segment>>) -> Option<Self> {
        segments.sort_unstable_by_key(|segment| segment.base_offset());
        (!segments.is_empty()).then_some(Self(segments))
    }

    pub(super) fn of(segment: Arc<Segment>) -> Self {
        Self(vec![segment])
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Arc<Segment>> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn active(&self) -> &Arc<Segment> {
        self.0.last().expect("a log has at least one segment")
    }

    pub(super) fn first_base(&self) -> Offset {
        self.0.first().map_or(Offset::ZERO, |segment| segment.base_offset())
    }

    /// Returns the place of the segment that holds `offset`: the last whose base is at or below it.
    pub(super) fn place_of(&self, offset: Offset) -> Option<usize> {
        self.0.partition_point(|segment| segment.base_offset() <= offset).checked_sub(1)
    }

    pub(super) fn get(&self, place: usize) -> Option<&Arc<Segment>> {
        self.0.get(place)
    }

    /// Returns the segments from the one that holds `offset` on; all when none does.
    pub(super) fn tail_from(&self, offset: Offset) -> &[Arc<Segment>] {
        self.0.get(self.place_of(offset).unwrap_or(0)..).unwrap_or_default()
    }

    /// Returns where the segment at `place` ends: at the base of the next one, or at `log_end`.
    pub(super) fn end_of(&self, place: usize, log_end: Offset) -> Offset {
        self.0.get(place + 1).map_or(log_end, |next| next.base_offset())
    }

    /// Returns the list with `segment` in its place; one of the same base offset is replaced.
    pub(super) fn with(&self, segment: Arc<Segment>) -> Self {
        let base = segment.base_offset();
        let kept = self.0.iter().filter(|known| known.base_offset() != base).cloned();
        let mut segments: Vec<_> = kept.chain([segment]).collect();
        segments.sort_unstable_by_key(|segment| segment.base_offset());
        Self(segments)
    }

    /// Returns the list without the segments for which `gone` holds; `None` when nothing would be left.
    pub(super) fn without(&self, gone: impl Fn(&Segment) -> bool) -> Option<Self> {
        let kept: Vec<_> = self.0.iter().filter(|segment| !gone(segment)).cloned().collect();
        (!kept.is_empty()).then_some(Self(kept))
    }
}
