//! What may be a topic's name.

use thiserror::Error;

/// The longest name, in characters: a partition's directory adds its number and must stay a file name.
pub const MAX_LENGTH: usize = 249;

/// The topic of the consumer groups' offsets.
pub const CONSUMER_OFFSETS: &str = "__consumer_offsets";
/// The topic of the transactions' states.
pub const TRANSACTION_STATE: &str = "__transaction_state";

/// Why a name cannot be a topic's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopicNameError {
    /// The name has no characters.
    #[error("a topic name cannot be empty")]
    Empty,
    /// The name is `.` or `..`, which are directories.
    #[error("a topic cannot be named \".\" or \"..\"")]
    Dots,
    /// The name is too long.
    #[error("a topic name has at most {MAX_LENGTH} characters, not {0}")]
    TooLong(usize),
    /// The name has a character that is not allowed.
    #[error("a topic name has only letters, digits, '.', '_' and '-', not {0:?}")]
    Character(char),
}

/// Checks `name` by Kafka's rule: 1 to 249 characters of `[a-zA-Z0-9._-]`, not `.` or `..`.
///
/// # Errors
/// When the name breaks the rule.
pub fn check(name: &str) -> Result<(), TopicNameError> {
    if name.is_empty() {
        return Err(TopicNameError::Empty);
    }
    if name == "." || name == ".." {
        return Err(TopicNameError::Dots);
    }
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    if let Some(character) = name.chars().find(|character| !allowed(*character)) {
        return Err(TopicNameError::Character(character));
    }
    if name.len() > MAX_LENGTH {
        return Err(TopicNameError::TooLong(name.len()));
    }
    Ok(())
}

/// Says whether two different names would share a metric's name, where `.` is written as `_`.
#[must_use]
pub fn collides(name: &str, other: &str) -> bool {
    let fold = |byte: u8| if byte == b'.' { b'_' } else { byte };
    name != other && name.len() == other.len() && name.bytes().map(fold).eq(other.bytes().map(fold))
}

/// Says whether the topic belongs to Kafka itself.
#[must_use]
pub fn is_internal(name: &str) -> bool {
    name == CONSUMER_OFFSETS || name == TRANSACTION_STATE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let longest = "a".repeat(MAX_LENGTH);
        let too_long = "a".repeat(MAX_LENGTH + 1);
        let cases = [
            ("orders", Ok(())),
            ("Orders-1.eu_west", Ok(())),
            (longest.as_str(), Ok(())),
            ("...", Ok(())),
            ("", Err(TopicNameError::Empty)),
            (".", Err(TopicNameError::Dots)),
            ("..", Err(TopicNameError::Dots)),
            ("a/b", Err(TopicNameError::Character('/'))),
            ("ä", Err(TopicNameError::Character('ä'))),
            ("a\0", Err(TopicNameError::Character('\0'))),
            (too_long.as_str(), Err(TopicNameError::TooLong(250))),
        ];
        for (name, expected) in cases {
            assert_eq!(check(name), expected, "{name:?}");
        }
    }

    #[test]
    fn dots_and_underscores_collide() {
        assert!(collides("a.b", "a_b"));
        assert!(collides("a_b.c", "a.b_c"));
        assert!(!collides("a.b", "a.b"));
        assert!(!collides("a.b", "a-b"));
        assert!(!collides("a.b", "a_bc"));
    }
}
