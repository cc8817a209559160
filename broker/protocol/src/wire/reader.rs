//! A reader over received bytes that trusts no length it reads.

use bytes::Bytes;

use super::error::{DecodeError, DecodeErrorKind};

/// The most elements that all arrays of one message may have together. Every element takes at least a byte, so a
/// message of this many elements is a megabyte at least; the largest ones real clusters send are far below.
const ELEMENTS_MAX: usize = 4_000_000;
/// How deep messages are nested; declared ones never get near.
const DEPTH_MAX: usize = 16;

/// A step of the path to a field.
#[derive(Debug, Clone, Copy)]
enum Step {
    Field(&'static str),
    Element(usize),
}

/// Reads from the front of received bytes. Slices that it hands out share them.
#[derive(Debug)]
pub struct Reader {
    bytes: Bytes,
    position: usize,
    elements: usize,
    depth: usize,
    path: [Option<Step>; DEPTH_MAX * 2],
}

impl Reader {
    /// Reads these bytes; `name` begins the paths in errors.
    pub fn new(name: &'static str, bytes: Bytes) -> Self {
        let mut path = [None; DEPTH_MAX * 2];
        path[0] = Some(Step::Field(name));
        Self { bytes, position: 0, elements: 0, depth: 1, path }
    }

    /// Returns how many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns how many bytes were read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns an error about the field at hand.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        let mut path = String::new();
        for step in self.path.iter().take(self.depth).flatten() {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Element(index) => path.push_str(&format!("[{index}]")),
            }
        }
        DecodeError { path, offset: self.position, kind }
    }

    /// Reads a part that has a name in errors.
    ///
    /// # Errors
    /// Those of `read`, and nesting that no declared message has.
    pub fn named<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.within(Step::Field(name), read)
    }

    /// Reads the element of an array with this index.
    ///
    /// # Errors
    /// Those of `read`, and more elements than a message may have.
    pub fn element<T>(
        &mut self,
        index: usize,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.elements += 1;
        if self.elements > ELEMENTS_MAX {
            return Err(self.error(DecodeErrorKind::TooMany));
        }
        self.within(Step::Element(index), read)
    }

    fn within<T>(
        &mut self,
        step: Step,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let Some(place) = self.path.get_mut(self.depth) else {
            return Err(self.error(DecodeErrorKind::TooMany));
        };
        *place = Some(step);
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    /// Takes the next bytes without copying them.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn take(&mut self, count: usize) -> Result<Bytes, DecodeError> {
        if count > self.left() {
            return Err(self.error(DecodeErrorKind::Short { wanted: count, left: self.left() }));
        }
        let start = self.position;
        self.position += count;
        Ok(self.bytes.slice(start..self.position))
    }

    /// Takes the next `N` bytes as an array.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(chunk) => {
                let chunk = *chunk;
                self.position += N;
                Ok(chunk)
            }
            None => Err(self.error(DecodeErrorKind::Short { wanted: N, left: rest.len() })),
        }
    }

    /// Takes the rest.
    pub fn rest(&mut self) -> Bytes {
        let rest = self.bytes.slice(self.position..);
        self.position = self.bytes.len();
        rest
    }

    /// Reads a part from exactly the next `count` bytes.
    ///
    /// # Errors
    /// When fewer are left, those of `read`, and when `read` leaves some of them over.
    pub fn exactly<T>(
        &mut self,
        count: usize,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if count > self.left() {
            return Err(self.error(DecodeErrorKind::Short { wanted: count, left: self.left() }));
        }
        let end = self.position + count;
        let whole = self.bytes.clone();
        self.bytes.truncate(end);
        let outcome = read(self);
        let surplus = self.left();
        self.bytes = whole;
        let value = outcome?;
        if surplus > 0 {
            return Err(self.error(DecodeErrorKind::Surplus(surplus)));
        }
        Ok(value)
    }

    /// Checks that everything was read.
    ///
    /// # Errors
    /// When bytes are left over.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.left() {
            0 => Ok(()),
            surplus => Err(self.error(DecodeErrorKind::Surplus(surplus))),
        }
    }

    /// Turns a length that was read into a count that the bytes left can fill, each element taking at least
    /// `least_bytes`.
    ///
    /// # Errors
    /// When the length is negative, or claims more than is there.
    pub fn count(&self, length: i64, least_bytes: usize) -> Result<usize, DecodeError> {
        let count = usize::try_from(length)
            .ok()
            .filter(|count| count.checked_mul(least_bytes.max(1)).is_some_and(|bytes| bytes <= self.left()));
        count.ok_or_else(|| self.error(DecodeErrorKind::Length(length)))
    }
}
