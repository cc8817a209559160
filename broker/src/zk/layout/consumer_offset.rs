//! `/consumers/<group>/offsets/<topic>/<partition>`: the next offset that a group of the first consumers will read.

use crate::types::{Offset, TopicPartition};

/// Returns the path of the node that keeps a group's offset in a partition; `None` for a group id that is no name of a
/// node.
#[must_use]
pub fn path(group: &str, partition: &TopicPartition) -> Option<String> {
    let is_name = !group.is_empty()
        && group != "."
        && group != ".."
        && !group.chars().any(|letter| letter == '/' || letter.is_control());
    is_name.then(|| format!("/consumers/{group}/offsets/{}/{}", partition.topic, partition.partition))
}

/// Returns the data of the node: the offset in decimal digits.
#[must_use]
pub fn encode(offset: Offset) -> Vec<u8> {
    offset.0.to_string().into_bytes()
}

/// Reads the offset; `None` if the data is none.
#[must_use]
pub fn decode(data: &[u8]) -> Option<Offset> {
    std::str::from_utf8(data).ok()?.parse().ok().map(Offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_digits_under_the_group() {
        let partition = TopicPartition::new("orders", 3);
        assert_eq!(path("g", &partition).as_deref(), Some("/consumers/g/offsets/orders/3"));
        for group in ["", ".", "..", "a/b", "a\0", "a\n"] {
            assert_eq!(path(group, &partition), None, "{group:?}");
        }
        assert_eq!(encode(Offset(42)), b"42");
        assert_eq!(decode(b"42"), Some(Offset(42)));
        assert_eq!(decode(b"4x"), None);
        assert_eq!(decode(b"\xff"), None);
    }
}
