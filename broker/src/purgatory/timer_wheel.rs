//! A hierarchical timer wheel: deadlines by the millisecond, insertion and cancellation in constant time.
//!
//! Level 0 has a slot per millisecond, level 1 a slot per 64 ms, and so on; a deadline sits at the lowest level whose
//! span reaches it and moves down as time comes nearer, so the work per deadline is at most one move per level.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

use crate::types::Millis;

const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Seven levels of 64 slots span 2^42 ms, more than a century.
const LEVELS: usize = 7;
/// The end of time: whatever lies beyond is due then.
const LAST_TICK: u64 = (1 << (SLOT_BITS * 7)) - 1;

/// Names an entry of a wheel until it fires or is cancelled; never names a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerKey {
    index: u32,
    generation: u32,
}

/// Values with deadlines, given back when the time has come.
///
/// The wheel has no clock: time is what [`advance`](Self::advance) is told, and it never goes back.
#[derive(Debug)]
pub struct TimerWheel<T> {
    /// Everything due up to here has been given back.
    elapsed: u64,
    levels: [Level; LEVELS],
    entries: Vec<Slab<T>>,
    free: Vec<u32>,
    len: usize,
}

#[derive(Debug)]
struct Level {
    /// Bit `n` is set when slot `n` holds an entry.
    occupied: u64,
    slots: [Vec<u32>; SLOTS],
}

#[derive(Debug)]
struct Slab<T> {
    generation: u32,
    held: Option<Held<T>>,
}

#[derive(Debug)]
struct Held<T> {
    deadline: u64,
    level: usize,
    slot: usize,
    /// Where in the slot's list, so that removal needs no search.
    position: usize,
    value: T,
}

impl<T> TimerWheel<T> {
    /// Returns an empty wheel whose time is `now`.
    #[must_use]
    pub fn new(now: Millis) -> Self {
        let level = || Level { occupied: 0, slots: std::array::from_fn(|_| Vec::new()) };
        Self {
            elapsed: ticks(now),
            levels: std::array::from_fn(|_| level()),
            entries: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }

    /// Returns how many values wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Keeps `value` until `deadline`; one that has passed already is given back by the next [`advance`](Self::advance).
    pub fn insert(&mut self, deadline: Millis, value: T) -> TimerKey {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Slab { generation: 0, held: None });
            u32::try_from(self.entries.len() - 1).expect("the purgatory bounds its operations far below 2^32")
        });
        let held = Held { deadline: ticks(deadline), level: 0, slot: 0, position: 0, value };
        let slab = self.slab(index);
        slab.held = Some(held);
        let generation = slab.generation;
        self.len += 1;
        self.place(index);
        TimerKey { index, generation }
    }

    /// Takes a value back before its deadline; `None` when it fired or was cancelled already.
    pub fn cancel(&mut self, key: TimerKey) -> Option<T> {
        let slab = self.entries.get(usize::try_from(key.index).ok()?)?;
        if slab.generation != key.generation || slab.held.is_none() {
            return None;
        }
        self.unlink(key.index);
        Some(self.release(key.index))
    }

    /// Moves time to `now` and appends every value whose deadline is not after it, earliest deadline first.
    pub fn advance(&mut self, now: Millis, due: &mut Vec<T>) {
        let now = ticks(now);
        while let Some((level, slot, start)) = self.next_slot() {
            if start > now {
                break;
            }
            self.elapsed = self.elapsed.max(start);
            let indexes = self.take_slot(level, slot);
            for index in indexes {
                if self.deadline(index) <= self.elapsed {
                    let value = self.release(index);
                    due.push(value);
                } else {
                    self.place(index);
                }
            }
        }
        self.elapsed = self.elapsed.max(now);
    }

    /// Returns when [`advance`](Self::advance) must be called next: never later than the earliest deadline, earlier
    /// when entries must move to a lower level first.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.next_slot().map(|(_, _, start)| Millis(i64::try_from(start).unwrap_or(i64::MAX)))
    }

    /// Finds the occupied slot that begins first, and the time at which it begins.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        self.levels.iter().enumerate().find_map(|(number, level)| {
            if level.occupied == 0 {
                return None;
            }
            let shift = shift_of(number);
            let here = self.elapsed >> shift;
            let current = u32::try_from(here % SLOTS as u64).expect("less than the number of slots");
            let ahead = level.occupied.rotate_right(current).trailing_zeros();
            let slot = usize::try_from((current + ahead) % (1 << SLOT_BITS)).expect("less than 64");
            Some((number, slot, (here + u64::from(ahead)) << shift))
        })
    }

    /// Puts an entry where its deadline belongs, seen from now.
    fn place(&mut self, index: u32) {
        let deadline = self.deadline(index).max(self.elapsed);
        let level = level_of(self.elapsed, deadline);
        let slot = usize::try_from((deadline >> shift_of(level)) % SLOTS as u64).expect("less than 64");
        let row = self.level(level);
        row.occupied |= 1 << slot;
        let list = row.slots.get_mut(slot).expect("a slot number is less than 64");
        list.push(index);
        let position = list.len() - 1;
        let held = self.held(index);
        (held.level, held.slot, held.position) = (level, slot, position);
    }

    fn unlink(&mut self, index: u32) {
        let held = self.held(index);
        let (level, slot, position) = (held.level, held.slot, held.position);
        let row = self.level(level);
        let list = row.slots.get_mut(slot).expect("a slot number is less than 64");
        list.swap_remove(position);
        let moved = list.get(position).copied();
        if list.is_empty() {
            row.occupied &= !(1 << slot);
        }
        if let Some(moved) = moved {
            self.held(moved).position = position;
        }
    }

    fn take_slot(&mut self, level: usize, slot: usize) -> Vec<u32> {
        let row = self.level(level);
        row.occupied &= !(1 << slot);
        std::mem::take(row.slots.get_mut(slot).expect("a slot number is less than 64"))
    }

    fn release(&mut self, index: u32) -> T {
        let slab = self.slab(index);
        slab.generation = slab.generation.wrapping_add(1);
        let held = slab.held.take().expect("only an entry that is held is released");
        self.free.push(index);
        self.len -= 1;
        held.value
    }

    fn deadline(&mut self, index: u32) -> u64 {
        self.held(index).deadline
    }

    fn held(&mut self, index: u32) -> &mut Held<T> {
        self.slab(index).held.as_mut().expect("a slot lists only entries that are held")
    }

    fn slab(&mut self, index: u32) -> &mut Slab<T> {
        let index = usize::try_from(index).expect("a 32-bit number fits");
        self.entries.get_mut(index).expect("indexes come from this slab, which never shrinks")
    }

    fn level(&mut self, level: usize) -> &mut Level {
        self.levels.get_mut(level).expect("a level number is less than the number of levels")
    }
}

fn shift_of(level: usize) -> u32 {
    SLOT_BITS * u32::try_from(level).expect("there are seven levels")
}

/// The lowest level at which `deadline` and `elapsed` lie in the same turn of the wheel.
fn level_of(elapsed: u64, deadline: u64) -> usize {
    let differing = (elapsed ^ deadline) | (SLOTS as u64 - 1);
    let level = (63 - differing.leading_zeros()) / SLOT_BITS;
    usize::try_from(level).expect("less than seven, as no tick is beyond the last")
}

fn ticks(moment: Millis) -> u64 {
    u64::try_from(moment.0).unwrap_or(0).min(LAST_TICK)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn due(wheel: &mut TimerWheel<u32>, now: i64) -> Vec<u32> {
        let mut out = Vec::new();
        wheel.advance(Millis(now), &mut out);
        out
    }

    #[test]
    fn fires_at_the_deadline_and_not_before() {
        let mut wheel = TimerWheel::new(Millis(1_000));
        wheel.insert(Millis(1_500), 1);
        wheel.insert(Millis(31_000), 2);
        assert_eq!(due(&mut wheel, 1_499), [0u32; 0]);
        assert_eq!(due(&mut wheel, 1_500), [1]);
        assert_eq!(due(&mut wheel, 30_999), [0u32; 0]);
        assert_eq!(due(&mut wheel, 40_000), [2]);
        assert!(wheel.is_empty());
    }

    #[test]
    fn a_deadline_in_the_past_is_due_at_once() {
        let mut wheel = TimerWheel::new(Millis(100));
        wheel.insert(Millis(3), 7);
        assert_eq!(wheel.next_deadline(), Some(Millis(100)));
        assert_eq!(due(&mut wheel, 100), [7]);
    }

    #[test]
    fn a_cancelled_key_never_names_the_entry_that_took_its_place() {
        let mut wheel = TimerWheel::new(Millis(0));
        let first = wheel.insert(Millis(10), 1);
        assert_eq!(wheel.cancel(first), Some(1));
        let _second = wheel.insert(Millis(10), 2);
        assert_eq!(wheel.cancel(first), None);
        assert_eq!(due(&mut wheel, 10), [2]);
    }

    #[test]
    fn a_deadline_beyond_the_span_waits_until_the_end_of_time() {
        let mut wheel = TimerWheel::new(Millis(0));
        wheel.insert(Millis(i64::MAX), 1);
        assert_eq!(due(&mut wheel, 1 << 40), [0u32; 0]);
        assert_eq!(wheel.len(), 1);
        assert_eq!(due(&mut wheel, i64::MAX), [1]);
    }

    proptest! {
        /// Beside a plain list: the same values, never early, never late, and `next_deadline` never oversleeps.
        #[test]
        fn behaves_as_a_sorted_list(
            start in 0i64..1_000_000_000,
            operations in proptest::collection::vec((0i64..100_000, 0i64..5_000, any::<bool>()), 1..200),
        ) {
            let mut wheel = TimerWheel::new(Millis(start));
            let mut model: Vec<(i64, u32, TimerKey)> = Vec::new();
            let mut now = start;
            for (number, (delay, step, cancel)) in (0u32..).zip(operations) {
                let key = wheel.insert(Millis(now + delay), number);
                model.push((now + delay, number, key));
                if cancel && model.len() > 2 {
                    let (_, value, key) = model.remove(model.len() / 2);
                    prop_assert_eq!(wheel.cancel(key), Some(value));
                }
                let earliest = model.iter().map(|entry| entry.0).min();
                prop_assert!(wheel.next_deadline().map(|deadline| deadline.0) <= earliest.map(|e| e.max(now)));
                now += step;
                let mut fired = due(&mut wheel, now);
                let mut expected: Vec<u32> =
                    model.iter().filter(|entry| entry.0 <= now).map(|entry| entry.1).collect();
                model.retain(|entry| entry.0 > now);
                fired.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(fired, expected);
                prop_assert_eq!(wheel.len(), model.len());
            }
        }
    }
}
