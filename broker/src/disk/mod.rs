//! The storage seam: open, append, read at, sync, rename, list. Everything the log does to a disk goes through it, so that
//! tests can tear, lose, fill and freeze.
