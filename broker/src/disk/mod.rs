//! The storage seam: open, append, read at, sync, rename, list. Everything the log does to a disk goes through it, so that
//! tests can tear, lose, fill and freeze.
//!
//! Start at [`Disk`] (names) and [`DiskFile`] (bytes); [`RealDisk`] is what a broker runs on. No caching, no policy: a call
//! here is a system call there.

mod atomic_write;
mod file_region;
mod real;
mod seam;

pub use atomic_write::replace;
pub use file_region::FileRegion;
pub use real::RealDisk;
pub use seam::{Attributes, Disk, DiskFile, Entry, OpenMode};
