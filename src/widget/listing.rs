//! An ordered list of keys with a cursor that stays on its key whatever happens to the order.

use std::cell::Cell;
use std::ops::Range;

/// An ordered list of keys with a cursor that stays on its key when the order changes, and on its place when the key
/// goes.
#[derive(Debug, Clone)]
pub struct Listing<K> {
    keys: Vec<K>,
    selected: Option<K>,
    place: usize,
    /// The first row drawn. Remembered so that the view scrolls only as far as it must; drawing settles it.
    first: Cell<usize>,
    /// The rows that fitted when it was drawn last: a page.
    page: Cell<usize>,
}

impl<K> Default for Listing<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), selected: None, place: 0, first: Cell::new(0), page: Cell::new(0) }
    }
}

impl<K: PartialEq + Clone> Listing<K> {
    /// Puts other keys in place, or the same in another order.
    pub fn set(&mut self, keys: Vec<K>) {
        self.keys = keys;
        let found =
            self.selected.as_ref().and_then(|selected| self.keys.iter().position(|key| key == selected));
        self.go_to(found.unwrap_or(self.place));
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Returns the key under the cursor.
    pub fn selected(&self) -> Option<&K> {
        self.selected.as_ref()
    }

    /// Returns the place of the cursor.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Moves the cursor to a key, if it is there.
    pub fn select(&mut self, key: &K) {
        if let Some(place) = self.keys.iter().position(|known| known == key) {
            self.go_to(place);
        }
    }

    /// Moves the cursor by this many rows, as far as there are any.
    pub fn step(&mut self, by: isize) {
        self.go_to(self.place.saturating_add_signed(by));
    }

    /// Moves the cursor by this many pages.
    pub fn page(&mut self, by: isize) {
        let rows = isize::try_from(self.page.get().saturating_sub(1).max(1)).unwrap_or(isize::MAX);
        self.step(rows.saturating_mul(by));
    }

    /// Moves the cursor to the first row.
    pub fn top(&mut self) {
        self.go_to(0);
    }

    /// Moves the cursor to the last row.
    pub fn bottom(&mut self) {
        self.go_to(usize::MAX);
    }

    fn go_to(&mut self, place: usize) {
        self.place = place.min(self.keys.len().saturating_sub(1));
        self.selected = self.keys.get(self.place).cloned();
    }

    /// Returns the rows to draw where this many fit, scrolled so that the cursor is among them.
    pub fn visible(&self, rows: usize) -> Range<usize> {
        self.page.set(rows);
        let count = self.keys.len();
        let mut first = self.first.get().min(count.saturating_sub(rows));
        if self.place < first {
            first = self.place;
        } else if rows > 0 && self.place >= first + rows {
            first = self.place + 1 - rows;
        }
        self.first.set(first);
        first..first.saturating_add(rows).min(count)
    }

    /// Moves the cursor to the row drawn at this place of the viewport. Returns whether there is one.
    pub fn click(&mut self, row: usize) -> bool {
        let place = self.first.get().saturating_add(row);
        let there = row < self.page.get() && place < self.keys.len();
        if there {
            self.go_to(place);
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_on_its_key_when_the_order_changes() {
        let mut list = Listing::default();
        list.set(vec!["a", "b", "c", "d"]);
        list.step(2);
        list.set(vec!["d", "c", "b", "a"]);
        assert_eq!((list.selected(), list.place()), (Some(&"c"), 1));
    }

    #[test]
    fn the_cursor_stays_in_its_place_when_its_key_goes() {
        let mut list = Listing::default();
        list.set(vec!["a", "b", "c"]);
        list.bottom();
        list.set(vec!["a", "b"]);
        assert_eq!(list.selected(), Some(&"b"));
        list.set(Vec::new());
        assert_eq!(list.selected(), None);
        list.step(-3);
        list.set(vec!["z"]);
        assert_eq!(list.selected(), Some(&"z"));
    }

    #[test]
    fn the_view_scrolls_only_as_far_as_it_must() {
        let mut list = Listing::default();
        list.set((0..10).collect());
        assert_eq!(list.visible(4), 0..4);
        list.step(5);
        assert_eq!(list.visible(4), 2..6);
        list.step(-2);
        assert_eq!(list.visible(4), 2..6, "still in sight, so nothing moves");
        list.top();
        assert_eq!(list.visible(4), 0..4);
        list.page(1);
        assert_eq!(list.selected(), Some(&3));
        assert_eq!(list.visible(0), 0..0);
        assert_eq!(list.visible(100), 0..10);
    }
}
