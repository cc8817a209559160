//! The four codecs, every decompression under a limit: how much comes out is written nowhere in the protocol.

use std::fmt;
use std::io::{Read, Write as _};

use bytes::Bytes;

use super::error::CompressionError;
use super::{lz4, snappy};

/// A codec, by the number it has in a batch's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Compression {
    /// None.
    #[default]
    None,
    /// RFC 1952; several members count as one.
    Gzip,
    /// Snappy, in Java's framing or raw.
    Snappy,
    /// LZ4's frame format.
    Lz4,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Returns the codec with this number.
    pub fn from_code(code: i16) -> Option<Self> {
        match code {
            0 => Some(Self::None),
            1 => Some(Self::Gzip),
            2 => Some(Self::Snappy),
            3 => Some(Self::Lz4),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns the codec's number.
    pub fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// Returns the codec's name, as in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    pub(super) fn damaged(self, why: impl fmt::Display) -> CompressionError {
        CompressionError::Damaged { codec: self, why: why.to_string() }
    }

    pub(super) fn too_large(self, limit: usize) -> CompressionError {
        CompressionError::TooLarge { codec: self, limit }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of a decompression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decompressed {
    /// Nothing was compressed: the bytes are what they were.
    Same,
    /// These bytes.
    Bytes(Bytes),
}

/// Decompresses what a batch's attributes say is compressed with `codec`.
///
/// # Errors
/// When the data is damaged or is more than `limit` bytes.
pub fn decompress(codec: Compression, data: &[u8], limit: usize) -> Result<Decompressed, CompressionError> {
    let bytes = match codec {
        Compression::None => return Ok(Decompressed::Same),
        Compression::Gzip => read_all(codec, flate2::read::MultiGzDecoder::new(data), limit)?,
        Compression::Snappy => snappy::decompress(data, limit)?,
        Compression::Lz4 => lz4::decompress(data, limit)?,
        Compression::Zstd => {
            let mut decoder =
                zstd::stream::read::Decoder::with_buffer(data).map_err(|error| codec.damaged(error))?;
            // A frame may ask for a window of up to 2 GiB before a byte comes out.
            decoder.window_log_max(27).map_err(|error| codec.damaged(error))?;
            read_all(codec, decoder, limit)?
        }
    };
    Ok(Decompressed::Bytes(Bytes::from(bytes)))
}

/// Compresses with the codec's default level, framed as Kafka's own producer does.
///
/// # Errors
/// When the codec fails, as it might for want of memory.
pub fn compress(codec: Compression, data: &[u8]) -> Result<Vec<u8>, CompressionError> {
    match codec {
        Compression::None => Ok(data.to_vec()),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(data).and_then(|()| encoder.finish()).map_err(|error| codec.damaged(error))
        }
        Compression::Snappy => snappy::compress(data),
        Compression::Lz4 => lz4::compress(data),
        Compression::Zstd => {
            let mut encoder =
                zstd::stream::write::Encoder::new(Vec::new(), 0).map_err(|error| codec.damaged(error))?;
            encoder.write_all(data).and_then(|()| encoder.finish()).map_err(|error| codec.damaged(error))
        }
    }
}

/// Reads a decoder to its end, or to one byte more than is allowed.
pub(super) fn read_all(
    codec: Compression,
    decoder: impl Read,
    limit: usize,
) -> Result<Vec<u8>, CompressionError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut bytes).map_err(|error| codec.damaged(error))?;
    if bytes.len() > limit {
        return Err(codec.too_large(limit));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Compression; 4] =
        [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];

    proptest! {
        #[test]
        fn what_goes_in_comes_out(data in prop::collection::vec(0..4_u8, 0..100_000), index in 0..4_usize) {
            let packed = compress(ALL[index], &data).unwrap();
            prop_assert_eq!(decompress(ALL[index], &packed, data.len()), Ok(Decompressed::Bytes(Bytes::from(data))));
        }

        #[test]
        fn no_bytes_make_it_panic_or_exceed_the_limit(data: Vec<u8>, index in 0..4_usize) {
            if let Ok(Decompressed::Bytes(bytes)) = decompress(ALL[index], &data, 1_000) {
                prop_assert!(bytes.len() <= 1_000);
            }
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let zeros = vec![0; 10_000_000];
        for codec in ALL {
            let packed = compress(codec, &zeros).unwrap();
            assert_eq!(decompress(codec, &packed, 1_000_000), Err(codec.too_large(1_000_000)), "{codec}");
        }
    }
}
