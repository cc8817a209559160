//! Which leader epoch began at which offset: what followers and consumers ask to find where two logs part.
//!
//! Plain data. Epochs and start offsets both rise strictly; [`EpochCache::assign`] removes what a new entry contradicts.

use crate::types::{LeaderEpoch, Offset};

/// The leader epochs of one log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpochCache {
    entries: Vec<(LeaderEpoch, Offset)>,
}

impl EpochCache {
    /// Takes entries as a checkpoint holds them; each removes those before it that it contradicts.
    #[must_use]
    pub fn from_entries(entries: impl IntoIterator<Item = (LeaderEpoch, Offset)>) -> Self {
        let mut cache = Self::default();
        for (epoch, start) in entries {
            cache.assign(epoch, start);
        }
        cache
    }

    /// Returns the entries, rising.
    #[must_use]
    pub fn entries(&self) -> &[(LeaderEpoch, Offset)] {
        &self.entries
    }

    /// Returns the latest epoch and where it began.
    #[must_use]
    pub fn latest(&self) -> Option<(LeaderEpoch, Offset)> {
        self.entries.last().copied()
    }

    /// Whether [`assign`](Self::assign) would change anything.
    #[must_use]
    pub fn would_assign(&self, epoch: LeaderEpoch, start: Offset) -> bool {
        epoch.0 >= 0 && start.0 >= 0 && self.latest().is_none_or(|(latest, at)| epoch != latest || start < at)
    }

    /// Notes that `epoch` begins at `start`, if it is not the latest or begins earlier than known. Entries with an equal or
    /// larger epoch or start are removed first. Returns whether anything changed.
    pub fn assign(&mut self, epoch: LeaderEpoch, start: Offset) -> bool {
        if !self.would_assign(epoch, start) {
            return false;
        }
        self.entries.retain(|(known, at)| *known < epoch && *at < start);
        self.entries.push((epoch, start));
        true
    }

    /// Answers `OffsetsForLeaderEpoch`: the largest known epoch not above `epoch`, and the offset where the next one
    /// begins. Unknown for an epoch above all known ones; an epoch below the first one ends where the first begins.
    #[must_use]
    pub fn end_offset_for(&self, epoch: LeaderEpoch, log_end: Offset) -> Option<(LeaderEpoch, Offset)> {
        let (latest, _) = self.latest()?;
        if epoch == latest {
            return Some((epoch, log_end));
        }
        if epoch.0 < 0 || epoch > latest {
            return None;
        }
        let next = self.entries.partition_point(|(known, _)| *known <= epoch);
        let end = self.entries.get(next).map_or(log_end, |(_, start)| *start);
        let floor =
            next.checked_sub(1).and_then(|at| self.entries.get(at)).map_or(epoch, |(known, _)| *known);
        Some((floor, end))
    }

    /// Returns the epoch that holds `offset`.
    #[must_use]
    pub fn epoch_for_offset(&self, offset: Offset) -> Option<LeaderEpoch> {
        let after = self.entries.partition_point(|(_, start)| *start <= offset);
        self.entries.get(after.checked_sub(1)?).map(|(epoch, _)| *epoch)
    }

    /// Forgets epochs that begin at or after `end`. Returns whether anything changed.
    pub fn truncate_from_end(&mut self, end: Offset) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(_, start)| *start < end);
        self.entries.len() != before
    }

    /// Joins all epochs that begin at or before `start` into one that begins there. Returns whether anything changed.
    pub fn truncate_from_start(&mut self, start: Offset) -> bool {
        let covered = self.entries.partition_point(|(_, at)| *at <= start);
        let Some(last_covered) = covered.checked_sub(1) else { return false };
        let Some((epoch, at)) = self.entries.get(last_covered).copied() else { return false };
        if last_covered == 0 && at == start {
            return false;
        }
        self.entries.drain(..last_covered);
        if let Some(first) = self.entries.first_mut() {
            *first = (epoch, start);
        }
        true
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(i32, i64)]) -> EpochCache {
        EpochCache::from_entries(entries.iter().map(|(epoch, start)| (LeaderEpoch(*epoch), Offset(*start))))
    }

    fn shown(cache: &EpochCache) -> Vec<(i32, i64)> {
        cache.entries().iter().map(|(epoch, start)| (epoch.0, start.0)).collect()
    }

    #[test]
    fn an_entry_removes_what_it_contradicts() {
        type Entries = &'static [(i32, i64)];
        let cases: [(Entries, Entries); 7] = [
            (&[(0, 0), (2, 10)], &[(0, 0), (2, 10)]),
            (&[(2, 10), (2, 12)], &[(2, 10)]),
            (&[(2, 10), (2, 5)], &[(2, 5)]),
            (&[(1, 0), (3, 10), (2, 20)], &[(1, 0), (2, 20)]),
            (&[(1, 0), (2, 10), (3, 10)], &[(1, 0), (3, 10)]),
            (&[(1, 5), (2, 10), (3, 0)], &[(3, 0)]),
            (&[(-1, 5), (1, -1)], &[]),
        ];
        for (assigned, expected) in cases {
            assert_eq!(shown(&cache(assigned)), expected, "{assigned:?}");
        }
    }

    #[test]
    fn the_end_of_an_epoch_is_the_start_of_the_next() {
        let cache = cache(&[(2, 10), (4, 20), (5, 30)]);
        let cases = [
            (5, Some((5, 99))),
            (6, None),
            (-1, None),
            (4, Some((4, 30))),
            (3, Some((2, 20))),
            (2, Some((2, 20))),
            (1, Some((1, 10))),
        ];
        for (epoch, expected) in cases {
            let found = cache.end_offset_for(LeaderEpoch(epoch), Offset(99));
            assert_eq!(found.map(|(epoch, end)| (epoch.0, end.0)), expected, "{epoch}");
        }
        assert_eq!(EpochCache::default().end_offset_for(LeaderEpoch(0), Offset(0)), None);
        assert_eq!(cache.epoch_for_offset(Offset(9)), None);
        assert_eq!(cache.epoch_for_offset(Offset(29)), Some(LeaderEpoch(4)));
    }

    #[test]
    fn both_ends_can_be_cut() {
        let whole = cache(&[(2, 10), (4, 20), (5, 30)]);
        for (end, expected) in [(31, 3), (30, 2), (20, 1), (10, 0)] {
            let mut cache = whole.clone();
            assert_eq!(cache.truncate_from_end(Offset(end)), expected < 3);
            assert_eq!(cache.entries().len(), expected, "{end}");
        }
        let cases: [(i64, &[(i32, i64)]); 5] = [
            (9, &[(2, 10), (4, 20), (5, 30)]),
            (10, &[(2, 10), (4, 20), (5, 30)]),
            (15, &[(2, 15), (4, 20), (5, 30)]),
            (20, &[(4, 20), (5, 30)]),
            (99, &[(5, 99)]),
        ];
        for (start, expected) in cases {
            let mut cache = whole.clone();
            assert_eq!(cache.truncate_from_start(Offset(start)), start > 10);
            assert_eq!(shown(&cache), expected, "{start}");
        }
    }
}
