//! Variable-length integers: seven bits a byte, low group first, the high bit set on all but the last.

use super::error::{DecodeError, DecodeErrorKind};
use super::reader::Reader;
use super::writer::Writer;

impl Reader {
    /// Reads an unsigned varint of at most 32 bits, as lengths and tags of flexible versions are.
    ///
    /// # Errors
    /// When the bytes end, or the number does not end in five bytes or does not fit.
    pub fn unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        let wide = self.unsigned_varlong(5)?;
        u32::try_from(wide).map_err(|_too_large| self.error(DecodeErrorKind::Varint))
    }

    /// Reads a zig-zag varint of at most 32 bits, as records have.
    ///
    /// # Errors
    /// When the bytes end, or the number does not end in five bytes or does not fit.
    pub fn varint(&mut self) -> Result<i32, DecodeError> {
        let raw = self.unsigned_varint()?;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    /// Reads a zig-zag varint of at most 64 bits, as records have.
    ///
    /// # Errors
    /// When the bytes end, or the number does not end in ten bytes or does not fit.
    pub fn varlong(&mut self) -> Result<i64, DecodeError> {
        let raw = self.unsigned_varlong(10)?;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    fn unsigned_varlong(&mut self, bytes_max: u32) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for index in 0..bytes_max {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte of a 64-bit number has room for one bit.
            if index == 9 && bits > 1 {
                return Err(self.error(DecodeErrorKind::Varint));
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.error(DecodeErrorKind::Varint))
    }
}

impl Writer {
    /// Writes an unsigned varint.
    pub fn unsigned_varint(&mut self, value: u32) {
        self.unsigned_varlong(u64::from(value));
    }

    /// Writes a zig-zag varint.
    pub fn varint(&mut self, value: i32) {
        self.unsigned_varlong(u64::from(((value << 1) ^ (value >> 31)).cast_unsigned()));
    }

    /// Writes a zig-zag varint of 64 bits.
    pub fn varlong(&mut self, value: i64) {
        self.unsigned_varlong(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    fn unsigned_varlong(&mut self, mut value: u64) {
        let mut bytes = [0; 10];
        let mut count = 0;
        for byte in &mut bytes {
            count += 1;
            let bits = (value & 0x7f) as u8;
            value >>= 7;
            *byte = if value == 0 { bits } else { bits | 0x80 };
            if value == 0 {
                break;
            }
        }
        self.raw(bytes.get(..count).unwrap_or_default());
    }
}

/// Returns how many bytes a zig-zag varint takes.
#[must_use]
pub fn varint_size(value: i32) -> usize {
    varlong_size(i64::from(value))
}

/// Returns how many bytes a zig-zag varint of 64 bits takes.
#[must_use]
pub fn varlong_size(value: i64) -> usize {
    let raw = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let bits = 64 - raw.leading_zeros().min(63);
    usize::try_from(bits.div_ceil(7)).unwrap_or(10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Writer)) -> bytes::Bytes {
        let mut writer = Writer::new();
        write(&mut writer);
        writer.into_bytes()
    }

    proptest! {
        #[test]
        fn every_number_comes_back(value: i64, small: i32, unsigned: u32) {
            let bytes = written(|w| w.varlong(value));
            prop_assert_eq!(bytes.len(), varlong_size(value));
            prop_assert_eq!(Reader::new("n", bytes).varlong(), Ok(value));
            let bytes = written(|w| w.varint(small));
            prop_assert_eq!(bytes.len(), varint_size(small));
            prop_assert_eq!(Reader::new("n", bytes).varint(), Ok(small));
            let bytes = written(|w| w.unsigned_varint(unsigned));
            prop_assert_eq!(Reader::new("n", bytes).unsigned_varint(), Ok(unsigned));
        }
    }

    #[test]
    fn a_number_that_does_not_end_or_fit_is_an_error() {
        for bytes in [&[0x80; 5][..], &[0xff, 0xff, 0xff, 0xff, 0x7f], &[0x80]] {
            assert!(
                Reader::new("n", bytes::Bytes::copy_from_slice(bytes)).unsigned_varint().is_err(),
                "{bytes:?}"
            );
        }
        for bytes in [&[0x80; 10][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]] {
            assert!(Reader::new("n", bytes::Bytes::copy_from_slice(bytes)).varlong().is_err(), "{bytes:?}");
        }
    }
}
