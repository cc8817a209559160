//! Universally unique ids as Kafka writes them: 22 characters of URL-safe base64 without padding.

use uuid::Uuid;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const TEXT_LENGTH: usize = 22;

/// Returns the 22 characters that name `id`.
#[must_use]
pub fn encode_uuid(id: Uuid) -> String {
    // 128 bits and four zero bits make 22 digits of six bits.
    let value = id.as_u128();
    (0..TEXT_LENGTH)
        .map(|digit| {
            let shift = 122_i32 - 6 * i32::try_from(digit).expect("22 digits");
            let bits = if shift >= 0 { value >> shift } else { value << -shift };
            let index = usize::try_from(bits & 0x3f).expect("six bits");
            char::from(*ALPHABET.get(index).expect("64 letters for six bits"))
        })
        .collect()
}

/// Returns the id that `text` names, or nothing when it is not 22 characters of the alphabet.
#[must_use]
pub fn decode_uuid(text: &str) -> Option<Uuid> {
    if text.len() != TEXT_LENGTH {
        return None;
    }
    let mut value = 0_u128;
    for (digit, byte) in text.bytes().enumerate() {
        let bits = u128::try_from(ALPHABET.iter().position(|letter| *letter == byte)?).ok()?;
        // The last digit carries only two bits of the id; Java's decoder ignores the other four.
        value = if digit + 1 < TEXT_LENGTH { value << 6 | bits } else { value << 2 | bits >> 4 };
    }
    Some(Uuid::from_u128(value))
}

/// Says whether `id` may not name a topic: Kafka keeps 0 and 1 for itself.
#[must_use]
pub fn is_reserved(id: Uuid) -> bool {
    id.as_u128() <= 1
}

/// Makes a topic id of random bytes, or nothing when these make one that Kafka draws again: a reserved id, or one whose
/// text starts with `-` and would look like an option on a command line.
#[must_use]
pub fn topic_id_from_bytes(random: [u8; 16]) -> Option<Uuid> {
    let id = uuid::Builder::from_random_bytes(random).into_uuid();
    (!is_reserved(id) && !encode_uuid(id).starts_with('-')).then_some(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_texts() {
        // `printf '\x00...\x01' | base64` with the alphabet of RFC 4648 section 5.
        let cases = [
            (0, "AAAAAAAAAAAAAAAAAAAAAA"),
            (1, "AAAAAAAAAAAAAAAAAAAAAQ"),
            (u128::MAX, "_____________________w"),
            (0xfb << 120, "-wAAAAAAAAAAAAAAAAAAAA"),
        ];
        for (value, text) in cases {
            assert_eq!(encode_uuid(Uuid::from_u128(value)), text);
            assert_eq!(decode_uuid(text), Some(Uuid::from_u128(value)));
        }
    }

    #[test]
    fn refuses_other_texts() {
        for text in
            ["", "AAAA", "AAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAA+", "AAAAAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(decode_uuid(text), None, "{text}");
        }
    }

    #[test]
    fn an_id_that_looks_like_an_option_is_drawn_again() {
        let mut bytes = [0x11; 16];
        assert!(topic_id_from_bytes(bytes).is_some());
        bytes[0] = 0xf8;
        assert_eq!(topic_id_from_bytes(bytes), None);
    }

    proptest! {
        #[test]
        fn round_trip(value: u128) {
            let id = Uuid::from_u128(value);
            prop_assert_eq!(decode_uuid(&encode_uuid(id)), Some(id));
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = decode_uuid(&text);
        }
    }
}
