//! Kafka's UUIDs: 16 bytes, written for people as 22 characters of URL-safe base64 without padding.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// An id of a topic, a directory or a cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// No id.
    pub const ZERO: Self = Self([0; 16]);

    /// Returns whether it is no id.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        // 128 bits are 21 groups of six and one of two, which is filled up with zeros at its end.
        for group in 0..22_u32 {
            let six = if group < 21 { bits >> (122 - 6 * group) } else { bits << 4 };
            let index = usize::try_from(six & 0x3f).unwrap_or(0);
            f.write_str(
                ALPHABET.get(index..=index).and_then(|c| std::str::from_utf8(c).ok()).unwrap_or("A"),
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is not 22 characters of URL-safe base64")]
pub struct ParseUuidError(String);

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseUuidError(text.chars().take(40).collect());
        if text.len() != 22 {
            return Err(wrong());
        }
        let mut bits = 0_u128;
        for (index, character) in text.bytes().enumerate() {
            let six = ALPHABET.iter().position(|known| *known == character).ok_or_else(wrong)? as u128;
            if index < 21 {
                bits = (bits << 6) | six;
            } else if six & 0x0f == 0 {
                bits = (bits << 2) | (six >> 4);
            } else {
                return Err(wrong());
            }
        }
        Ok(Self(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes: [u8; 16]) {
            let id = Uuid(bytes);
            prop_assert_eq!(id.to_string().parse::<Uuid>(), Ok(id));
        }
    }

    #[test]
    fn a_known_id_is_written_as_kafka_does() {
        assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(Uuid([0xff; 16]).to_string(), "_____________________w");
        assert!("AAAAAAAAAAAAAAAAAAAAAB".parse::<Uuid>().is_err(), "bits past the end");
        assert!("AAAA".parse::<Uuid>().is_err());
    }
}
