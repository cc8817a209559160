//! A stretch of a file, ready to be sent.

use std::any::Any;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ottla_protocol::wire::Region;

use super::seam::DiskFile;

/// Bytes of an open file, such as records of a segment. The file stays readable after its deletion; when it was cut in between, what is missing
/// is an error of the connection, never padding.
#[derive(Debug, Clone)]
pub struct FileRegion {
    file: Arc<dyn DiskFile>,
    position: u64,
    size: u32,
}

impl FileRegion {
    /// Names `size` bytes of `file` from `position` on.
    #[must_use]
    pub fn new(file: Arc<dyn DiskFile>, position: u64, size: u32) -> Self {
        Self { file, position, size }
    }

    /// Returns where in the file the region begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns how many bytes it has.
    #[must_use]
    pub fn size(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// Returns the file's descriptor, for `sendfile`.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.descriptor()
    }

    /// Fills `buffer` from `offset` bytes into the region; returns how many bytes there were.
    ///
    /// # Errors
    /// What the operating system answered; [`io::ErrorKind::UnexpectedEof`] when the file was cut.
    pub fn read_at(&self, buffer: &mut [u8], offset: usize) -> io::Result<usize> {
        let wanted = buffer.len().min(self.size().saturating_sub(offset));
        let buffer = buffer.get_mut(..wanted).unwrap_or_default();
        let read = self.file.read_at(buffer, self.position + offset as u64)?;
        if read < wanted { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }
}

/// The kind of region that the network sends from the file, without reading it.
impl Region for FileRegion {
    fn size(&self) -> usize {
        Self::size(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
