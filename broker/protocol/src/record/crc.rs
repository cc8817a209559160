//! Checksums: Castagnoli's for batches v2, the IEEE one for older messages.

/// Returns the CRC-32C of the pieces, one after the other.
pub fn crc32c(pieces: &[&[u8]]) -> u32 {
    match pieces {
        [whole] => narrow(crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, whole)),
        _ => {
            let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
            for piece in pieces {
                digest.update(piece);
            }
            narrow(digest.finalize())
        }
    }
}

/// Returns the CRC-32 of the bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[expect(clippy::cast_possible_truncation, reason = "a 32-bit checksum in the low half of a 64-bit number")]
fn narrow(checksum: u64) -> u32 {
    checksum as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_both() {
        assert_eq!(crc32c(&[b"123456789"]), 0xe306_9283);
        assert_eq!(crc32c(&[b"1234", b"", b"56789"]), 0xe306_9283);
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
