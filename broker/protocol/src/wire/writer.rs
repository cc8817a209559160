//! A writer whose result is a list of parts, so that records are never copied.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::error::EncodeError;

/// A stretch of bytes that lies elsewhere, such as in a file, and is sent from there.
pub trait Region: Any + Debug + Send + Sync {
    /// Returns how many bytes it has; the same every time.
    fn size(&self) -> usize;
    /// Returns itself, for the network to find out what it really is.
    fn as_any(&self) -> &dyn Any;
}

/// A piece of an encoded message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Bytes at hand.
    Bytes(Bytes),
    /// Bytes that lie elsewhere.
    Region(Arc<dyn Region>),
}

impl Part {
    /// Returns how many bytes it has.
    pub fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Region(region) => region.size(),
        }
    }
}

/// The records of a fetch response: none, bytes at hand, or regions that lie elsewhere.
#[derive(Debug, Clone, Default)]
pub enum Records {
    /// Null: there are none.
    #[default]
    Null,
    /// Batches back to back. What is decoded is always this or null.
    Bytes(Bytes),
    /// Batches back to back, in this order.
    Regions(Vec<Arc<dyn Region>>),
}

impl Records {
    /// Returns how many bytes they have.
    pub fn size(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::Regions(regions) => regions.iter().map(|region| region.size()).sum(),
        }
    }

    /// Returns whether there is not a single byte.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }
}

/// Equal when null alike, or when the bytes at hand are equal. Regions are equal only to themselves.
impl PartialEq for Records {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bytes(mine), Self::Bytes(theirs)) => mine == theirs,
            (Self::Regions(mine), Self::Regions(theirs)) => {
                mine.len() == theirs.len()
                    && mine.iter().zip(theirs).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs))
            }
            _ => false,
        }
    }
}

/// Writes a message as parts.
#[derive(Debug, Default)]
pub struct Writer {
    parts: Vec<Part>,
    tail: BytesMut,
}

/// Received bytes at least this long are passed on as a part of their own instead of being copied.
const SHARE_BYTES_MIN: usize = 512;

impl Writer {
    /// Starts with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    /// Writes bytes that are shared; long ones are not copied.
    pub fn shared(&mut self, bytes: &Bytes) {
        if bytes.len() < SHARE_BYTES_MIN {
            self.raw(bytes);
        } else {
            self.cut();
            self.parts.push(Part::Bytes(bytes.clone()));
        }
    }

    /// Writes bytes that lie elsewhere.
    pub fn region(&mut self, region: Arc<dyn Region>) {
        self.cut();
        self.parts.push(Part::Region(region));
    }

    /// Writes what another writer has written.
    pub fn append(&mut self, other: Self) {
        for part in other.into_parts() {
            match part {
                Part::Bytes(bytes) => self.shared(&bytes),
                Part::Region(region) => self.region(region),
            }
        }
    }

    /// Returns how many bytes were written.
    pub fn size(&self) -> usize {
        self.parts.iter().map(Part::size).sum::<usize>() + self.tail.len()
    }

    /// Returns the parts, in order, none of them empty.
    pub fn into_parts(mut self) -> Vec<Part> {
        self.cut();
        self.parts
    }

    /// Returns everything as one run of bytes. Regions must not be among the parts: they are left out.
    pub fn into_bytes(mut self) -> Bytes {
        if self.parts.is_empty() {
            return self.tail.freeze();
        }
        self.cut();
        let mut whole = BytesMut::with_capacity(self.parts.iter().map(Part::size).sum());
        for part in &self.parts {
            match part {
                Part::Bytes(bytes) => whole.extend_from_slice(bytes),
                Part::Region(_) => debug_assert!(false, "regions are sent, not flattened"),
            }
        }
        whole.freeze()
    }

    /// Writes a length as an `i32`.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn length(&mut self, what: &'static str, size: usize) -> Result<(), EncodeError> {
        let length = i32::try_from(size).map_err(|_too_large| EncodeError::TooLong { what, size })?;
        self.raw(&length.to_be_bytes());
        Ok(())
    }

    /// Writes a length as flexible versions do: one more than it is, so that 0 can mean null.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn compact_length(&mut self, what: &'static str, size: usize) -> Result<(), EncodeError> {
        let length = i32::try_from(size).map_err(|_too_large| EncodeError::TooLong { what, size })?;
        self.unsigned_varint(length.cast_unsigned() + 1);
        Ok(())
    }

    fn cut(&mut self) {
        if !self.tail.is_empty() {
            self.parts.push(Part::Bytes(self.tail.split().freeze()));
        }
    }
}
