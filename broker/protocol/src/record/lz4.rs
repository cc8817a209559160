//! LZ4's frame format with Kafka's habits: independent blocks of 64 KiB, no checksums, one frame; what follows the end
//! mark is ignored. In message sets of magic 0 the header's checksum is wrong by design and is not looked at.
//!
//! ```text
//! 04 22 4D 18 · FLG · BD · [content size u64] · HC · blocks: size u32, high bit set when stored as it is · data · 0
//! ```

use std::io::Write as _;

use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

use super::compression::Compression;
use super::error::CompressionError;

const MAGIC: &[u8; 4] = &[0x04, 0x22, 0x4d, 0x18];
const CODEC: Compression = Compression::Lz4;
/// The bit of a block's size that says it is stored as it is.
const STORED: u32 = 1 << 31;

/// What the FLG byte says.
struct Flags {
    block_checksums: bool,
    content_size: bool,
}

impl Flags {
    /// Dependent blocks, a dictionary and reserved bits are refused, as Kafka does (`Lz4BlockInputStream`).
    fn parse(byte: u8) -> Result<Self, CompressionError> {
        if byte >> 6 != 1 {
            return Err(CODEC.damaged("the frame's version is unknown"));
        }
        if byte & 0x20 == 0 {
            return Err(CODEC.damaged("dependent blocks are not supported"));
        }
        if byte & 0x03 != 0 {
            return Err(CODEC.damaged("reserved bits are set"));
        }
        Ok(Self { block_checksums: byte & 0x10 != 0, content_size: byte & 0x08 != 0 })
    }
}

pub(super) fn decompress(data: &[u8], limit: usize) -> Result<Vec<u8>, CompressionError> {
    let cut = || CODEC.damaged("the frame is cut");
    let rest = data.strip_prefix(MAGIC).ok_or_else(|| CODEC.damaged("the frame's magic is missing"))?;
    let ([flags, descriptor], rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let flags = Flags::parse(*flags)?;
    let block_max = match descriptor {
        0x40 => 64 * 1024,
        0x50 => 256 * 1024,
        0x60 => 1024 * 1024,
        0x70 => 4 * 1024 * 1024,
        _ => return Err(CODEC.damaged("the block size is unknown")),
    };
    let header_left = if flags.content_size { 9 } else { 1 };
    let mut rest = rest.get(header_left..).ok_or_else(cut)?;
    let mut out = Vec::new();
    loop {
        let (size, behind) = rest.split_first_chunk().ok_or_else(cut)?;
        let size = u32::from_le_bytes(*size);
        if size == 0 {
            return Ok(out);
        }
        let length = usize::try_from(size & !STORED).unwrap_or(usize::MAX);
        if length > block_max {
            return Err(CODEC.damaged("a block is larger than the frame allows"));
        }
        let (block, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
        let behind = if flags.block_checksums { behind.get(4..).ok_or_else(cut)? } else { behind };
        let room = limit.saturating_sub(out.len());
        if size & STORED != 0 {
            if block.len() > room {
                return Err(CODEC.too_large(limit));
            }
            out.extend_from_slice(block);
        } else {
            append_block(block, block_max, room, limit, &mut out)?;
        }
        rest = behind;
    }
}

fn append_block(
    block: &[u8],
    block_max: usize,
    room: usize,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CompressionError> {
    // A byte of LZ4 stands for 255 bytes at most, so little data never asks for a large buffer.
    let size = block_max.min(block.len().saturating_mul(256));
    let start = out.len();
    out.resize(start + size.min(room.saturating_add(1)), 0);
    let place = out.get_mut(start..).unwrap_or_default();
    let full = place.len() < size;
    match lz4_flex::block::decompress_into(block, place) {
        Ok(written) if written <= room => {
            out.truncate(start + written);
            Ok(())
        }
        Ok(_) => Err(CODEC.too_large(limit)),
        Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if full => Err(CODEC.too_large(limit)),
        Err(error) => Err(CODEC.damaged(error)),
    }
}

pub(super) fn compress(data: &[u8]) -> Result<Vec<u8>, CompressionError> {
    let info = FrameInfo::new().block_size(BlockSize::Max64KB).block_mode(BlockMode::Independent);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(data).map_err(|error| CODEC.damaged(error))?;
    encoder.finish().map_err(|error| CODEC.damaged(error))
}
