//! File regions, the only kind of region that the network knows how to send.

use std::any::Any;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use ottla_protocol::wire::Region;

/// An open file.
pub trait OpenFile: AsFd + fmt::Debug + Send + Sync {}

impl<T: AsFd + fmt::Debug + Send + Sync> OpenFile for T {}

/// A stretch of an open file.
#[derive(Debug, Clone)]
pub struct FileRegion {
    file: Arc<dyn OpenFile>,
    position: u64,
    size: usize,
}

impl FileRegion {
    /// Names `size` bytes of `file` from `position` on.
    #[must_use]
    pub fn new(file: Arc<dyn OpenFile>, position: u64, size: usize) -> Self {
        Self { file, position, size }
    }

    /// Returns the file.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns where in the file it begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl Region for FileRegion {
    fn size(&self) -> usize {
        self.size
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the file region behind `region`.
pub(crate) fn file_region(region: &dyn Region) -> Option<&FileRegion> {
    region.as_any().downcast_ref()
}
