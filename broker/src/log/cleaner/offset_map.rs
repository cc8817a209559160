//! The last offset of every key, in memory that is given beforehand.

use std::hash::{BuildHasher, RandomState};

use crate::types::Offset;

/// Bytes that one key takes.
pub(super) const SLOT_BYTES: usize = 24;
/// How full the table may get (Kafka: `log.cleaner.io.buffer.load.factor`).
const LOAD_PERCENT: usize = 90;

/// Keys by a 128-bit hash under a secret of this map, so that nobody can make two keys collide.
#[derive(Debug)]
pub(super) struct OffsetMap {
    slots: Vec<Slot>,
    used: usize,
    secrets: (RandomState, RandomState),
    last_offset: Option<Offset>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Both zero for a free slot.
    hash: (u64, u64),
    offset: i64,
}

impl OffsetMap {
    /// Makes a map with room for `keys`, or for as many as fit into `bytes_max`; at least for one.
    pub(super) fn new(keys: u64, bytes_max: usize) -> Self {
        let most = bytes_max / SLOT_BYTES;
        let wanted = usize::try_from(keys).unwrap_or(usize::MAX).saturating_mul(100) / LOAD_PERCENT + 2;
        let slots = vec![Slot { hash: (0, 0), offset: -1 }; wanted.min(most).max(2)];
        Self { slots, used: 0, secrets: (RandomState::new(), RandomState::new()), last_offset: None }
    }

    /// Notes that `offset` has `key`. Returns whether there was room.
    pub(super) fn put(&mut self, key: &[u8], offset: Offset) -> bool {
        let hash = self.hash(key);
        let is_full = self.used * 100 >= self.slots.len() * LOAD_PERCENT;
        let Some(slot) = self.slot_of(hash) else { return false };
        let is_new = slot.hash == (0, 0);
        if is_new && is_full {
            return false;
        }
        *slot = Slot { hash, offset: offset.0 };
        self.used += usize::from(is_new);
        self.last_offset = Some(offset);
        true
    }

    /// Notes that everything up to `offset` was looked at.
    pub(super) fn reached(&mut self, offset: Offset) {
        self.last_offset = self.last_offset.max(Some(offset));
    }

    /// Returns the last offset that was noted for `key`.
    pub(super) fn get(&self, key: &[u8]) -> Option<Offset> {
        let hash = self.hash(key);
        let found = self.probe(hash).filter_map(|at| self.slots.get(at));
        let slot = found.into_iter().find(|slot| slot.hash == hash || slot.hash == (0, 0))?;
        (slot.hash == hash).then_some(Offset(slot.offset))
    }

    /// Returns the last offset that was looked at.
    pub(super) fn last_offset(&self) -> Option<Offset> {
        self.last_offset
    }

    fn slot_of(&mut self, hash: (u64, u64)) -> Option<&mut Slot> {
        let is_match =
            |at: &usize| self.slots.get(*at).is_some_and(|slot| slot.hash == hash || slot.hash == (0, 0));
        let at = self.probe(hash).find(is_match)?;
        self.slots.get_mut(at)
    }

    /// Returns the places to look at, one after the other.
    fn probe(&self, hash: (u64, u64)) -> impl Iterator<Item = usize> + use<> {
        let length = self.slots.len();
        let start = usize::try_from(hash.0 % length as u64).unwrap_or(0);
        (0..length).map(move |step| (start + step) % length)
    }

    fn hash(&self, key: &[u8]) -> (u64, u64) {
        // Never the mark of a free slot.
        (self.secrets.0.hash_one(key) | 1, self.secrets.1.hash_one(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_offset_of_a_key_is_kept_and_a_full_map_says_so() {
        let mut map = OffsetMap::new(100, 1 << 20);
        for offset in 0..300_i64 {
            assert!(map.put(&(offset % 100).to_be_bytes(), Offset(offset)));
        }
        for key in 0..100_i64 {
            assert_eq!(map.get(&key.to_be_bytes()), Some(Offset(200 + key)));
        }
        assert_eq!(map.get(b"another"), None);
        assert_eq!(map.last_offset(), Some(Offset(299)));

        let mut small = OffsetMap::new(1000, 10 * SLOT_BYTES);
        let fitting = (0..1000_i64).take_while(|key| small.put(&key.to_be_bytes(), Offset(*key))).count();
        assert_eq!(fitting, 9);
        assert!(small.put(&3_i64.to_be_bytes(), Offset(50)), "a known key needs no room");
        assert_eq!(small.get(&3_i64.to_be_bytes()), Some(Offset(50)));
    }
}
