//! The end of a log as readers see it: offset, segment and byte position, always of the same append.

use std::hint;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

use crate::types::Offset;

/// Where a log ends: the offset of the next record, and where its bytes will go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// The log end offset.
    pub(super) offset: Offset,
    /// The base offset of the active segment.
    pub(super) segment: Offset,
    /// The byte after the last batch in that segment.
    pub(super) position: u64,
}

/// A [`LogEnd`] that one thread at a time publishes and any number read, none waiting for a lock (a sequence lock).
///
/// The writer makes the count odd, stores, and makes it even again; a reader that saw an odd or a changed count tries again.
#[derive(Debug)]
pub(super) struct Tail {
    count: AtomicU64,
    offset: AtomicI64,
    segment: AtomicI64,
    position: AtomicU64,
}

impl Tail {
    pub(super) fn new(end: LogEnd) -> Self {
        Self {
            count: AtomicU64::new(0),
            offset: AtomicI64::new(end.offset.0),
            segment: AtomicI64::new(end.segment.0),
            position: AtomicU64::new(end.position),
        }
    }

    pub(super) fn offset(&self) -> Offset {
        Offset(self.offset.load(Ordering::Acquire))
    }

    pub(super) fn load(&self) -> LogEnd {
        loop {
            let before = self.count.load(Ordering::Acquire);
            let end = LogEnd {
                offset: Offset(self.offset.load(Ordering::Relaxed)),
                segment: Offset(self.segment.load(Ordering::Relaxed)),
                position: self.position.load(Ordering::Relaxed),
            };
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.count.load(Ordering::Relaxed) == before {
                return end;
            }
            hint::spin_loop();
        }
    }

    /// Publishes a new end. The caller holds the append lock.
    pub(super) fn publish(&self, end: LogEnd) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.offset.store(end.offset.0, Ordering::Release);
        self.segment.store(end.segment.0, Ordering::Relaxed);
        self.position.store(end.position, Ordering::Relaxed);
        self.count.store(count.wrapping_add(2), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_never_sees_a_mixture() {
        let end = |at: u32| LogEnd {
            offset: Offset(at.into()),
            segment: Offset(i64::from(at) * 3),
            position: u64::from(at) * 7,
        };
        let tail = Tail::new(end(0));
        std::thread::scope(|scope| {
            scope.spawn(|| (1..=200_000).for_each(|at| tail.publish(end(at))));
            let mut last = 0;
            while last < 200_000 {
                let seen = tail.load();
                let at = u32::try_from(seen.offset.0).unwrap();
                assert_eq!(seen, end(at));
                assert!(at >= last);
                last = at;
            }
        });
    }
}
