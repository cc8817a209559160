//! What happened in the last minute: the largest value of a gauge, and the share of time a thread slept.
//!
//! A minute is 60 slots of a second. A short spike between two looks at a gauge would otherwise go unseen.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seconds in a window.
const SLOTS: u64 = 60;
const SLOT_COUNT: usize = 60;
const SECOND_NS: u64 = 1_000_000_000;

/// Returns the time since metrics were first used in this process.
#[must_use]
pub fn uptime() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

fn uptime_ns() -> u64 {
    u64::try_from(uptime().as_nanos()).unwrap_or(u64::MAX)
}

/// A slot holds the second it belongs to in its upper half and a number in its lower half.
fn pack(second: u64, number: u32) -> u64 {
    (second << 32) | u64::from(number)
}

fn unpack(slot: u64) -> (u64, u32) {
    let number = u32::try_from(slot & u64::from(u32::MAX)).expect("masked to 32 bits");
    (slot >> 32, number)
}

/// The largest value of the last minute.
#[derive(Debug)]
pub struct WindowedMax {
    slots: [AtomicU64; SLOT_COUNT],
}

impl Default for WindowedMax {
    fn default() -> Self {
        Self { slots: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl WindowedMax {
    /// Notes a value.
    pub fn note(&self, value: usize) {
        self.note_at(uptime().as_secs() + 1, value);
    }

    /// Returns the largest value of the last minute; zero when none was noted.
    #[must_use]
    pub fn value(&self) -> u32 {
        self.value_at(uptime().as_secs() + 1)
    }

    /// Seconds count from 1, so that an untouched slot belongs to no second.
    fn note_at(&self, second: u64, value: usize) {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        let Some(slot) = self.slots.get(slot_index(second)) else { return };
        let raised = |old: u64| {
            let (of, largest) = unpack(old);
            (of != second || value > largest).then(|| pack(second, value))
        };
        // An update that is not needed changes nothing; that is no failure.
        let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
    }

    fn value_at(&self, second: u64) -> u32 {
        let recent = self.slots.iter().map(|slot| unpack(slot.load(Ordering::Relaxed)));
        recent.filter(|(of, _)| of + SLOTS > second).map(|(_, largest)| largest).max().unwrap_or(0)
    }
}

fn slot_index(second: u64) -> usize {
    usize::try_from(second % SLOTS).expect("below 60")
}

/// How much of the last minute one thread slept.
///
/// Only its own thread reports; anyone reads.
#[derive(Debug)]
pub struct IdleMeter {
    /// Microseconds slept, by second.
    slots: [AtomicU64; SLOT_COUNT],
    /// Since when the thread sleeps, in nanoseconds of uptime plus 1; 0 while it works.
    asleep_since: AtomicU64,
    /// When the meter began.
    began: u64,
}

impl Default for IdleMeter {
    fn default() -> Self {
        Self {
            slots: std::array::from_fn(|_| AtomicU64::new(0)),
            asleep_since: AtomicU64::new(0),
            began: uptime_ns(),
        }
    }
}

impl IdleMeter {
    /// The thread is about to sleep.
    pub fn sleep(&self) {
        self.sleep_at(uptime_ns());
    }

    /// The thread works again.
    pub fn wake(&self) {
        self.wake_at(uptime_ns());
    }

    /// Returns the share of the last minute, or of the time since the start, that the thread slept: 0 to 1.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio_at(uptime_ns())
    }

    fn sleep_at(&self, now: u64) {
        self.asleep_since.store(now + 1, Ordering::Relaxed);
    }

    fn wake_at(&self, now: u64) {
        let since = self.asleep_since.swap(0, Ordering::Relaxed);
        if since > 0 {
            let oldest = now.saturating_sub(SLOTS * SECOND_NS);
            self.credit((since - 1).max(oldest), now);
        }
    }

    /// Spreads the time from `from` to `to` over its seconds.
    fn credit(&self, mut from: u64, to: u64) {
        while from < to {
            let second = from / SECOND_NS;
            let end = ((second + 1) * SECOND_NS).min(to);
            let microseconds = u32::try_from((end - from) / 1_000).unwrap_or(u32::MAX);
            if let Some(slot) = self.slots.get(slot_index(second + 1)) {
                let (of, slept) = unpack(slot.load(Ordering::Relaxed));
                let slept = if of == second + 1 { slept } else { 0 };
                slot.store(pack(second + 1, slept.saturating_add(microseconds)), Ordering::Relaxed);
            }
            from = end;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    fn ratio_at(&self, now: u64) -> f64 {
        let window_start = now.saturating_sub((SLOTS - 1) * SECOND_NS).max(self.began);
        let first_second = window_start / SECOND_NS + 1;
        let slept: u64 = self
            .slots
            .iter()
            .map(|slot| unpack(slot.load(Ordering::Relaxed)))
            .filter(|(of, _)| *of >= first_second)
            .map(|(_, microseconds)| u64::from(microseconds))
            .sum();
        let asleep = match self.asleep_since.load(Ordering::Relaxed) {
            0 => 0,
            since => now.saturating_sub((since - 1).max(window_start)),
        };
        let elapsed = now.saturating_sub(window_start).max(1);
        ((slept * 1_000 + asleep) as f64 / elapsed as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_seen_for_a_minute() {
        let max = WindowedMax::default();
        assert_eq!(max.value_at(1), 0);
        max.note_at(10, 7);
        max.note_at(10, 3);
        max.note_at(40, 5);
        assert_eq!(max.value_at(69), 7);
        assert_eq!(max.value_at(70), 5);
        assert_eq!(max.value_at(100), 0);
        max.note_at(130, 1);
        assert_eq!(max.value_at(130), 1);
    }

    fn meter() -> IdleMeter {
        IdleMeter { began: 0, ..IdleMeter::default() }
    }

    #[test]
    fn sleep_counts_while_it_lasts_and_afterwards() {
        let meter = meter();
        meter.sleep_at(0);
        assert!((meter.ratio_at(10 * SECOND_NS) - 1.0).abs() < 0.01);
        meter.wake_at(10 * SECOND_NS);
        assert!((meter.ratio_at(20 * SECOND_NS) - 0.5).abs() < 0.01);
        meter.sleep_at(20 * SECOND_NS);
        meter.wake_at(40 * SECOND_NS);
        assert!((meter.ratio_at(40 * SECOND_NS) - 0.75).abs() < 0.01);
    }

    #[test]
    fn sleep_long_ago_is_forgotten() {
        let meter = meter();
        meter.sleep_at(0);
        meter.wake_at(30 * SECOND_NS);
        assert!(meter.ratio_at(100 * SECOND_NS) < 0.01);
        meter.sleep_at(100 * SECOND_NS);
        meter.wake_at(1_000 * SECOND_NS);
        assert!(meter.ratio_at(1_000 * SECOND_NS) > 0.99);
    }
}
