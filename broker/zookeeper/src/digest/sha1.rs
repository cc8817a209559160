//! SHA-1.

/// Returns the SHA-1 of `message` (RFC 3174).
#[must_use]
pub(crate) fn sha1(message: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(message.len() as u64).wrapping_mul(8).to_be_bytes());
    let (blocks, _) = padded.as_chunks::<64>();
    for block in blocks {
        compress(&mut state, block);
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

fn compress(state: &mut [u32; 5], block: &[u8; 64]) {
    // The schedule is kept as its last sixteen words, the oldest first.
    let mut window: std::collections::VecDeque<u32> =
        block.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for round in 0..80 {
        let at = |index: usize| window.get(index).copied().unwrap_or(0);
        let word = at(0);
        let next = (at(13) ^ at(8) ^ at(2) ^ at(0)).rotate_left(1);
        let (f, k) = match round {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999_u32),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(word);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
        window.pop_front();
        window.push_back(next);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn sha1_of_the_published_examples() {
        let cases: [(&[u8], &str); 4] = [
            (b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (&[b'a'; 1_000_000], "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ];
        for (message, expected) in cases {
            assert_eq!(hex(&sha1(message)), expected);
        }
    }
}
