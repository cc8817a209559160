//! Walking the batches of a segment, also of one that is still being written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::record::{self, ControlRecord, Record};

use crate::disk::{Disk, DiskFile, OpenMode, RealDisk};
use crate::log::entry_header::EntryHeader;
use crate::log::error::{Error, Result};
use crate::log::scan::{Found, Scan, Step};
use crate::log::validate::DECOMPRESSED_BYTES_MAX;

const WINDOW: usize = 64 << 10;

/// Reads a segment's file from batch to batch.
#[derive(Debug)]
pub struct SegmentReader {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    inode: u64,
    position: u64,
    window: Vec<u8>,
}

/// What comes next in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A batch.
    Batch(StoredBatch),
    /// Nothing yet: the last batch ends where the file does.
    End,
    /// A batch has begun that is not there as a whole: it is being written, or a crash cut it.
    Unfinished {
        /// Where it begins.
        position: u64,
    },
    /// No batch can begin like this. The reader stays here.
    Damaged {
        /// Where the damage begins.
        position: u64,
        /// What is wrong.
        reason: String,
    },
}

/// A batch, or a message set entry of the older formats, as it lies in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBatch {
    /// Where in the file it begins.
    pub position: u64,
    /// Its header.
    pub header: EntryHeader,
    /// Whether its checksum is that of its bytes.
    pub checksum_matches: bool,
    /// All its bytes.
    pub bytes: Bytes,
}

impl SegmentReader {
    /// Opens a segment's file at its first batch.
    ///
    /// # Errors
    /// What the operating system answered.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let file = RealDisk.open(&path, OpenMode::Read).map_err(Error::io("open", &path))?;
        let inode = inode(&path).unwrap_or(0);
        Ok(Self { path, file, inode, position: 0, window: vec![0; WINDOW] })
    }

    /// Returns where the next batch begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes on at `position`, where a batch must begin.
    pub fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// Whether the name now stands for another file, or none: retention or the cleaner has taken this one away.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        inode(&self.path) != Some(self.inode)
    }

    /// Reads the next batch. A live segment that answered [`Next::End`] or [`Next::Unfinished`] can be asked again.
    ///
    /// # Errors
    /// What the operating system answered.
    #[expect(clippy::should_implement_trait, reason = "an end is not final, as an iterator's would be")]
    pub fn next(&mut self) -> Result<Next> {
        match self.try_next() {
            Ok(next) => Ok(next),
            Err(error) => Err(Error::io("read", &self.path)(error)),
        }
    }

    fn try_next(&mut self) -> std::io::Result<Next> {
        // The size is asked each time: the file grows while it is written and shrinks when it is truncated.
        let size = self.file.attributes()?.size;
        if size < self.position {
            let reason = format!("the file was cut to {size} bytes");
            return Ok(Next::Damaged { position: self.position, reason });
        }
        let mut scan = Scan::new(&*self.file, self.position, size, &mut self.window);
        let found = match scan.step()? {
            Step::Entry(found) => found,
            Step::End => return Ok(Next::End),
            Step::Torn => return Ok(Next::Unfinished { position: self.position }),
            Step::Invalid(reason) => {
                return Ok(Next::Damaged { position: self.position, reason: reason.to_owned() });
            }
        };
        let checksum_matches = scan.checksum_matches(&found)?;
        let bytes = self.read(&found)?;
        if bytes.len() < usize::try_from(found.header.size).unwrap_or(usize::MAX) {
            return Ok(Next::Unfinished { position: found.position });
        }
        self.position = found.position + u64::from(found.header.size);
        Ok(Next::Batch(StoredBatch {
            position: found.position,
            header: found.header,
            checksum_matches,
            bytes,
        }))
    }

    fn read(&self, found: &Found) -> std::io::Result<Bytes> {
        // The entry was found to lie inside of the file, so this is no more than the file has.
        let mut bytes = vec![0; usize::try_from(found.header.size).unwrap_or(0)];
        let read = self.file.read_at(&mut bytes, found.position)?;
        bytes.truncate(read);
        Ok(bytes.into())
    }
}

impl StoredBatch {
    /// Decodes its records, decompressing them if need be.
    ///
    /// # Errors
    /// What is wrong with the first that cannot be decoded.
    pub fn records(&self) -> std::result::Result<Vec<Record>, record::BatchError> {
        if self.header.magic == 2 {
            return record::iterate(&self.bytes, DECOMPRESSED_BYTES_MAX)?.collect();
        }
        let messages = record::messages(&self.bytes, DECOMPRESSED_BYTES_MAX)?;
        let record = |message: record::LegacyMessage| Record {
            offset: message.offset,
            timestamp: message.timestamp,
            sequence: -1,
            key: message.key,
            value: message.value,
            headers: Vec::new(),
        };
        Ok(messages.into_iter().map(record).collect())
    }

    /// Returns what a control batch says.
    #[must_use]
    pub fn control(&self) -> Option<ControlRecord> {
        let records = self.header.is_control().then(|| self.records().ok())??;
        ControlRecord::parse(records.first()?)
    }
}

fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
    }

    #[test]
    fn a_live_segment_is_followed_byte_by_byte() {
        let whole = fs::read(vector("segment/00000000000000001000.log")).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.log");
        fs::write(&path, b"").unwrap();
        let mut reader = SegmentReader::open(&path).unwrap();
        let mut seen = 0;
        for end in 0..=1800 {
            fs::write(&path, &whole[..end]).unwrap();
            match reader.next().unwrap() {
                Next::Batch(batch) => {
                    assert!(batch.checksum_matches);
                    assert_eq!(batch.records().unwrap().len(), 5);
                    seen += 1;
                }
                Next::End => assert_eq!(reader.position(), end as u64),
                Next::Unfinished { position } => assert!(position < end as u64),
                damaged @ Next::Damaged { .. } => panic!("{damaged:?}"),
            }
        }
        assert_eq!((seen, reader.position()), (2, 1762));
        fs::write(&path, &whole[..100]).unwrap();
        assert!(matches!(reader.next().unwrap(), Next::Damaged { position: 1762, .. }));
        fs::remove_file(&path).unwrap();
        assert!(reader.is_replaced());
    }

    #[test]
    fn every_format_is_decoded() {
        let names = ["v0.log", "v1-gzip.log", "v0-lz4.log", "v2-none.log", "v2-zstd.log", "v2-compacted.log"];
        let counts = [3, 3, 3, 5, 5, 4];
        for (name, expected) in names.into_iter().zip(counts) {
            let mut reader = SegmentReader::open(vector(name)).unwrap();
            let mut count = 0;
            while let Next::Batch(batch) = reader.next().unwrap() {
                count += batch.records().unwrap().len();
            }
            assert_eq!(count, expected, "{name}");
        }
        let mut reader = SegmentReader::open(vector("v2-transaction.log")).unwrap();
        let mut markers = Vec::new();
        while let Next::Batch(batch) = reader.next().unwrap() {
            markers.extend(batch.control());
        }
        assert_eq!(markers.len(), 2);
        let mut reader = SegmentReader::open(vector("corrupt-crc.log")).unwrap();
        let mut matches = Vec::new();
        while let Next::Batch(batch) = reader.next().unwrap() {
            matches.push(batch.checksum_matches);
        }
        assert_eq!(matches, [true, true, false]);
    }
}
