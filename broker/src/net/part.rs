//! What a response is made of.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use bytes::Bytes;

/// A piece of a response.
#[derive(Debug, Clone)]
pub enum Part {
    /// Bytes in memory.
    Bytes(Bytes),
    /// Bytes in a file.
    Region(Arc<dyn Region>),
}

/// A run of bytes in an open file.
pub trait Region: fmt::Debug + Send + Sync {
    /// Returns the file.
    fn file(&self) -> BorrowedFd<'_>;
    /// Returns where the run begins.
    fn position(&self) -> u64;
    /// Returns how many bytes it has.
    fn len(&self) -> usize;
}
