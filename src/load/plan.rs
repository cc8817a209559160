//! What the demo writes and who reads it, and the records themselves.

/// A topic of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoTopic {
    /// Its name.
    pub name: &'static str,
    /// How many partitions it is created with.
    pub partitions: i32,
    /// How many different keys its records have.
    pub keys: u64,
    /// How much of the load it gets, in parts of all shares.
    pub share: u32,
}

/// A consumer group of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoGroup {
    /// Its name.
    pub name: &'static str,
    /// What it reads.
    pub topics: &'static [&'static str],
}

/// The topics.
pub const TOPICS: &[DemoTopic] = &[
    DemoTopic { name: "orders", partitions: 6, keys: 500, share: 5 },
    DemoTopic { name: "payments", partitions: 3, keys: 500, share: 3 },
    DemoTopic { name: "clicks", partitions: 12, keys: 10_000, share: 12 },
];

/// The groups: one follows the money, one everything.
pub const GROUPS: &[DemoGroup] = &[
    DemoGroup { name: "billing", topics: &["orders", "payments"] },
    DemoGroup { name: "analytics", topics: &["orders", "payments", "clicks"] },
];

/// A record to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) topic: &'static str,
    pub(super) key: String,
    pub(super) value: String,
}

/// Makes record after record; the same seed makes the same ones.
#[derive(Debug, Clone)]
pub(super) struct Script {
    state: u64,
    number: u64,
}

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, number: 0 }
    }

    /// Returns the next record.
    pub(super) fn draft(&mut self) -> Draft {
        self.number += 1;
        let topic = self.pick_topic();
        let key = self.next() % topic.keys;
        let amount = self.next() % 10_000;
        let value = match topic.name {
            "orders" => {
                format!("{{\"order\":{},\"customer\":{key},\"items\":{}}}", self.number, amount % 9 + 1)
            }
            "payments" => {
                format!("{{\"payment\":{},\"customer\":{key},\"cents\":{amount}}}", self.number)
            }
            _ => format!("{{\"visitor\":{key},\"page\":\"/item/{amount}\",\"n\":{}}}", self.number),
        };
        Draft { topic: topic.name, key: format!("{}-{key}", topic.name), value }
    }

    fn pick_topic(&mut self) -> DemoTopic {
        let shares: u32 = TOPICS.iter().map(|topic| topic.share).sum();
        let mut at = self.next() % u64::from(shares);
        for topic in TOPICS {
            if at < u64::from(topic.share) {
                return *topic;
            }
            at -= u64::from(topic.share);
        }
        unreachable!("what is below the sum of the shares lies in one of them")
    }

    /// SplitMix64: all that is wanted here is an even spread that can be repeated.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn topics_get_their_share_and_keys_stay_in_their_range() {
        let mut script = Script::new(7);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..20_000 {
            let draft = script.draft();
            *counts.entry(draft.topic).or_default() += 1;
            serde_json::from_str::<serde_json::Value>(&draft.value).unwrap();
            assert!(draft.key.starts_with(draft.topic));
        }
        for topic in TOPICS {
            let expected = topic.share * 1_000;
            let count = counts[topic.name];
            assert!(count.abs_diff(expected) < expected / 5, "{}: {count} of about {expected}", topic.name);
        }
    }

    #[test]
    fn every_group_reads_topics_that_exist() {
        for group in GROUPS {
            for name in group.topics {
                assert!(TOPICS.iter().any(|topic| topic.name == *name), "{name}");
            }
        }
    }
}
