//! Reads jute values from a slice and says where it stopped when it cannot.

use std::borrow::Cow;

/// A request or file that does not hold what it says it holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} at byte {offset}: {problem}")]
pub struct DecodeError {
    /// The field that was read, in ZooKeeper's own name.
    pub field: &'static str,
    /// Where it begins, counted from the start of the frame.
    pub offset: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// A position in a frame.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, offset: 0 }
    }

    /// Returns how many bytes were read.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns how many bytes are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.offset)
    }

    /// Reads `count` bytes as they are.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn raw(&mut self, field: &'static str, count: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.offset.checked_add(count);
        match end.and_then(|end| self.bytes.get(self.offset..end)) {
            Some(slice) => {
                self.offset = self.offset.saturating_add(count);
                Ok(slice)
            }
            None => Err(self.error(field, "ends before its value")),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let offset = self.offset;
        let slice = self.raw(field, N)?;
        slice.try_into().map_err(|_wrong_length| DecodeError {
            field,
            offset,
            problem: "ends before its value",
        })
    }

    /// Reads a boolean; any byte but zero is true.
    ///
    /// # Errors
    /// When the frame ends before.
    pub fn bool(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        Ok(self.array::<1>(field)? != [0])
    }

    /// Reads a 32-bit integer.
    ///
    /// # Errors
    /// When the frame ends before.
    pub fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(self.array(field)?))
    }

    /// Reads a 64-bit integer.
    ///
    /// # Errors
    /// When the frame ends before.
    pub fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        Ok(i64::from_be_bytes(self.array(field)?))
    }

    /// Reads a buffer, `None` for null.
    ///
    /// # Errors
    /// When its length is negative (other than null) or more than is left.
    pub fn buffer(&mut self, field: &'static str) -> Result<Option<&'a [u8]>, DecodeError> {
        let offset = self.offset;
        match self.i32(field)? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) => self.raw(field, length).map(Some),
                Err(_negative) => Err(DecodeError { field, offset, problem: "has a negative length" }),
            },
        }
    }

    /// Reads a string that must not be null. Bytes that are not UTF-8 become U+FFFD, as Java has it.
    ///
    /// # Errors
    /// When it is null or longer than what is left.
    pub fn string(&mut self, field: &'static str) -> Result<Cow<'a, str>, DecodeError> {
        let offset = self.offset;
        match self.buffer(field)? {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes)),
            None => Err(DecodeError { field, offset, problem: "is null" }),
        }
    }

    /// Reads the count of a vector whose items take at least `item_bytes_min` each; null counts as empty.
    ///
    /// # Errors
    /// When the frame cannot hold that many.
    pub fn count(&mut self, field: &'static str, item_bytes_min: usize) -> Result<usize, DecodeError> {
        let offset = self.offset;
        let count = usize::try_from(self.i32(field)?).unwrap_or(0);
        if count.saturating_mul(item_bytes_min) > self.remaining() {
            return Err(DecodeError { field, offset, problem: "counts more items than the frame can hold" });
        }
        Ok(count)
    }

    /// Returns an error about `field` at the present position.
    #[must_use]
    pub fn error(&self, field: &'static str, problem: &'static str) -> DecodeError {
        DecodeError { field, offset: self.offset, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_checked_before_anything_is_read() {
        let claims_2_gib = [0x7f, 0xff, 0xff, 0xff, 1, 2];
        let error = Reader::new(&claims_2_gib).buffer("data").unwrap_err();
        assert_eq!((error.field, error.problem), ("data", "ends before its value"));
        let error = Reader::new(&claims_2_gib).count("acl", 1).unwrap_err();
        assert_eq!(error.problem, "counts more items than the frame can hold");
        let negative = [0xff, 0xff, 0xff, 0xfe];
        assert_eq!(Reader::new(&negative).buffer("data").unwrap_err().problem, "has a negative length");
    }

    #[test]
    fn null_and_empty_differ() {
        assert_eq!(Reader::new(&[0xff; 4]).buffer("data"), Ok(None));
        assert_eq!(Reader::new(&[0; 4]).buffer("data"), Ok(Some(&[][..])));
        assert_eq!(Reader::new(&[0xff; 4]).string("path").unwrap_err().problem, "is null");
        assert_eq!(Reader::new(&[0xff; 4]).count("acl", 1), Ok(0));
    }
}
