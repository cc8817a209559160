//! Which names a topic may have.

/// The longest name: the partition's number and a suffix must fit a file name with it.
const LENGTH_MAX: usize = 249;

/// Checks a topic's name (Kafka: `Topic.validate`).
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_topic_name(name: &str) -> Result<(), &'static str> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match name {
        "" => Err("a topic's name may not be empty"),
        "." | ".." => Err("a topic may not be called '.' or '..'"),
        _ if name.len() > LENGTH_MAX => Err("a topic's name has at most 249 characters"),
        _ if !name.bytes().all(is_legal) => Err("a topic's name has only a-z, A-Z, 0-9, '.', '_' and '-'"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_held_to_their_rules() {
        for name in ["a", "orders.v1_x-y", "__consumer_offsets", "...", &"x".repeat(249)] {
            assert_eq!(check_topic_name(name), Ok(()), "{name}");
        }
        for name in ["", ".", "..", "a b", "ä", "a/b", "a\0", &"x".repeat(250)] {
            assert!(check_topic_name(name).is_err(), "{name:?}");
        }
    }
}
