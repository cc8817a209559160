//! What consumers tell the leader: the beginning of their subscription, which names the topics.

use std::collections::BTreeSet;

use super::group::Group;

/// The protocol type of consumer groups.
pub(super) const CONSUMER: &str = "consumer";

/// Returns the topics that the members of a consumer group subscribe to under the chosen protocol; `None` for other
/// groups, and when a member's metadata cannot be read (then every topic may be in use).
pub(super) fn topics_of(group: &Group) -> Option<BTreeSet<String>> {
    if !group.is_consumer_group() {
        return None;
    }
    if group.members.is_empty() {
        return Some(BTreeSet::new());
    }
    let protocol = group.protocol.as_deref()?;
    let mut topics = BTreeSet::new();
    for member in group.members.iter() {
        read_topics(&member.metadata(protocol), &mut topics)?;
    }
    Some(topics)
}

/// Reads version and topics of a subscription; what follows differs by version and is of no interest here
/// (Kafka: `ConsumerProtocolSubscription.json`).
fn read_topics(subscription: &[u8], topics: &mut BTreeSet<String>) -> Option<()> {
    let (version, rest) = subscription.split_first_chunk::<2>()?;
    if i16::from_be_bytes(*version) < 0 {
        return None;
    }
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let count = usize::try_from(i32::from_be_bytes(*count)).ok()?;
    for _ in 0..count {
        let (length, after) = rest.split_first_chunk::<2>()?;
        let length = usize::try_from(i16::from_be_bytes(*length)).ok()?;
        let (topic, after) = after.split_at_checked(length)?;
        topics.insert(str::from_utf8(topic).ok()?.to_owned());
        rest = after;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<Vec<String>> {
        let mut topics = BTreeSet::new();
        read_topics(bytes, &mut topics)?;
        Some(topics.into_iter().collect())
    }

    #[test]
    fn topics_are_read_from_any_version_and_broken_bytes_are_refused() {
        let two = b"\x00\x03\x00\x00\x00\x02\x00\x01b\x00\x02aa\xff\xff\xff\xff";
        assert_eq!(read(two), Some(vec!["aa".to_owned(), "b".to_owned()]));
        assert_eq!(read(b"\x00\x00\x00\x00\x00\x00"), Some(vec![]));
        let broken: [&[u8]; 7] = [
            b"",
            b"\x00",
            b"\xff\xff\x00\x00\x00\x00",
            b"\x00\x00\x7f\xff\xff\xff",
            b"\x00\x00\xff\xff\xff\xff",
            b"\x00\x00\x00\x00\x00\x01\x00\x05ab",
            b"\x00\x00\x00\x00\x00\x01\x00\x01\xff",
        ];
        for bytes in broken {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
