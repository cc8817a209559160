//! Writes jute values to a growing buffer.

/// A buffer that is written front to back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Returns an empty writer.
    #[must_use]
    pub fn new() -> Self {
        Writer::default()
    }

    /// Returns a writer that begins with room for the length of its frame, which [`Writer::into_frame`] fills in.
    #[must_use]
    pub fn frame() -> Self {
        let mut bytes = Vec::with_capacity(128);
        bytes.extend_from_slice(&[0; 4]);
        Writer { bytes }
    }

    /// Returns the frame with its length in front.
    ///
    /// # Panics
    /// When the writer was not made by [`Writer::frame`].
    #[must_use]
    pub fn into_frame(mut self) -> Vec<u8> {
        let body = self.bytes.len().saturating_sub(4);
        let length = length_i32(body).to_be_bytes();
        self.bytes.get_mut(..4).expect("a frame begins with room for its length").copy_from_slice(&length);
        self.bytes
    }

    /// Returns what was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns what was written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets what was written and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a boolean as one byte.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// Writes a 32-bit integer.
    pub fn i32(&mut self, value: i32) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a 64-bit integer.
    pub fn i64(&mut self, value: i64) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a buffer with its length, −1 for null.
    pub fn buffer(&mut self, value: Option<&[u8]>) {
        match value {
            Some(bytes) => {
                self.count(bytes.len());
                self.raw(bytes);
            }
            None => self.i32(-1),
        }
    }

    /// Writes a string with its length.
    pub fn string(&mut self, value: &str) {
        self.buffer(Some(value.as_bytes()));
    }

    /// Writes the count of a vector or the length of a buffer.
    pub fn count(&mut self, count: usize) {
        self.i32(length_i32(count));
    }
}

/// Lengths come from memory that the limits of the server keep far below 2 GiB; one that were not would be cut
/// here and refused by the reader instead of being misread.
fn length_i32(length: usize) -> i32 {
    debug_assert!(i32::try_from(length).is_ok(), "a jute length of {length} bytes");
    i32::try_from(length).unwrap_or(i32::MAX)
}
