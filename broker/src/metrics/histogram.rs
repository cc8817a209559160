//! How long things took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in milliseconds; one more bucket takes the rest.
pub const BUCKETS_MS: [f64; 17] = [
    0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 10_000.0,
    30_000.0,
];

/// The same bounds in nanoseconds.
const BOUNDS_NS: [u64; 17] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
    30_000_000_000,
];

/// Durations, counted by size.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS_NS.len()],
    count: AtomicU64,
    sum_ns: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let index = BOUNDS_NS.partition_point(|bound| *bound < nanoseconds);
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_ns.fetch_add(nanoseconds, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many durations were counted.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the sum of all durations in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "a sum for people needs no more than 53 bits")]
    pub fn sum_ms(&self) -> f64 {
        self.sum_ns.load(Ordering::Relaxed) as f64 / 1_000_000.0
    }

    /// Returns, for each bound of [`BUCKETS_MS`], how many durations were not above it.
    pub fn cumulative(&self) -> [u64; BUCKETS_MS.len()] {
        let mut total = 0;
        std::array::from_fn(|index| {
            total += self.buckets.get(index).map_or(0, |bucket| bucket.load(Ordering::Relaxed));
            total
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_holds_it() {
        let histogram = Histogram::default();
        for duration in
            [Duration::ZERO, Duration::from_micros(50), Duration::from_millis(2), Duration::from_secs(60)]
        {
            histogram.observe(duration);
        }
        let cumulative = histogram.cumulative();
        assert_eq!((cumulative[0], cumulative[4], cumulative[5], cumulative[16]), (2, 2, 3, 3));
        assert_eq!(histogram.count(), 4);
    }

    #[test]
    fn bounds_are_the_same_in_both_units() {
        for (ms, ns) in BUCKETS_MS.iter().zip(BOUNDS_NS) {
            assert_eq!(Duration::from_secs_f64(ms / 1_000.0), Duration::from_nanos(ns));
        }
    }
}
