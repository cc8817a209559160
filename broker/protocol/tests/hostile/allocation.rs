//! An allocator that counts, per thread, so that tests see what bytes make a decoder allocate.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one passes everything on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn add(size: usize) {
    // During the end of a thread its counters may be gone; what it still allocates then is of no interest.
    let _ = HELD.try_with(|held| {
        held.set(held.get().saturating_add(size));
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn remove(size: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().saturating_sub(size)));
}

// SAFETY: every call is passed on to the system's allocator with the arguments it came with, and its answer is
// returned. The counters are plain numbers without destructors, so touching them neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: `pointer` came from `alloc` or `realloc` above, thus from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new place may exist side by side for a moment.
        add(size);
        remove(layout.size());
        // SAFETY: as for `dealloc`; the caller keeps the contract for the new size.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work` and returns how many bytes it held at the most, beyond what the thread held before.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    let value = work();
    (value, PEAK.with(Cell::get) - before)
}
