//! Base64.

/// Returns `bytes` in base64 with padding (RFC 4648).
#[must_use]
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4_usize {
            let symbol = (bits >> (18 - 6 * position)) & 63;
            let padding = position > chunk.len();
            let letter = usize::try_from(symbol).ok().and_then(|symbol| ALPHABET.get(symbol));
            text.push(if padding { '=' } else { letter.map_or('=', |letter| char::from(*letter)) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_published_examples() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
