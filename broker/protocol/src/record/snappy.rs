//! Snappy as Java's clients frame it, and raw as others send it.
//!
//! ```text
//! 82 "SNAPPY" 00 · version i32 · compatible version i32 · then blocks: length i32 · raw snappy
//! ```

use super::compression::Compression;
use super::error::CompressionError;

const MAGIC: &[u8; 8] = b"\x82SNAPPY\0";
const HEADER_BYTES: usize = 16;
/// What a block holds at most before compression.
const BLOCK_BYTES: usize = 32 * 1024;
const CODEC: Compression = Compression::Snappy;

pub(super) fn decompress(data: &[u8], limit: usize) -> Result<Vec<u8>, CompressionError> {
    let mut out = Vec::new();
    if !data.starts_with(MAGIC) {
        block(data, limit, &mut out)?;
        return Ok(out);
    }
    let mut rest = data.get(HEADER_BYTES..).ok_or_else(|| CODEC.damaged("the framing is cut"))?;
    while !rest.is_empty() {
        let (length, behind) =
            rest.split_first_chunk().ok_or_else(|| CODEC.damaged("a block's length is cut"))?;
        let length = usize::try_from(i32::from_be_bytes(*length))
            .map_err(|_negative| CODEC.damaged("a block's length is negative"))?;
        let (data, behind) =
            behind.split_at_checked(length).ok_or_else(|| CODEC.damaged("a block is cut"))?;
        block(data, limit, &mut out)?;
        rest = behind;
    }
    Ok(out)
}

/// A block says how long it will be before anything is allocated for it.
fn block(data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CompressionError> {
    let size = snap::raw::decompress_len(data).map_err(|error| CODEC.damaged(error))?;
    let start = out.len();
    if size > limit.saturating_sub(start) {
        return Err(CODEC.too_large(limit));
    }
    // Snappy never does better than about 1 to 21 in a copy of 64 bytes by three; a claim beyond that is a lie that
    // would only cost memory.
    if size / 64 > data.len() {
        return Err(CODEC.damaged("a block claims more than its bytes can hold"));
    }
    out.resize(start + size, 0);
    let place = out.get_mut(start..).unwrap_or_default();
    let written = snap::raw::Decoder::new().decompress(data, place).map_err(|error| CODEC.damaged(error))?;
    out.truncate(start + written);
    Ok(())
}

pub(super) fn compress(data: &[u8]) -> Result<Vec<u8>, CompressionError> {
    let mut out = Vec::with_capacity(HEADER_BYTES + data.len() / 2);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&1_i32.to_be_bytes());
    out.extend_from_slice(&1_i32.to_be_bytes());
    let mut encoder = snap::raw::Encoder::new();
    for piece in data.chunks(BLOCK_BYTES) {
        let packed = encoder.compress_vec(piece).map_err(|error| CODEC.damaged(error))?;
        let length = i32::try_from(packed.len()).map_err(|error| CODEC.damaged(error))?;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&packed);
    }
    Ok(out)
}
