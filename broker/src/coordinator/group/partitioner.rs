//! Which partition of `__consumer_offsets` a group belongs to.

/// Returns the partition of a group, of `partition_count` ones: Java's hash of the id, made positive, modulo the count
/// (Kafka: `GroupMetadataManager.partitionFor`). Every client and broker must agree on it.
#[must_use]
pub fn partition_for(group_id: &str, partition_count: i32) -> i32 {
    let hash = java_string_hash(group_id);
    // Kafka's `Utils.abs`: the one value without a positive counterpart counts as 0.
    let positive = hash.checked_abs().unwrap_or(0);
    positive % partition_count.max(1)
}

/// `java.lang.String.hashCode`: over UTF-16 units, wrapping at 32 bits.
fn java_string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        let rows = [
            ("", 0),
            ("a", 97),
            ("console-consumer-1", 35_782_224),
            // Its hash is the least 32-bit number.
            ("polygenelubricants", i32::MIN),
            ("größe", 98_762_257),
            // Outside the basic plane: two UTF-16 units.
            ("\u{1f600}", 1_772_899),
        ];
        for (text, expected) in rows {
            assert_eq!(java_string_hash(text), expected, "{text}");
        }
        assert_eq!(partition_for("polygenelubricants", 50), 0);
        assert_eq!(partition_for("a", 50), 47);
        assert_eq!(partition_for("a", 0), 0);
    }
}
