//! `/isr_change_notification/isr_change_N`: a leader of an older version changed its in-sync replicas itself.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::TopicPartition;

/// The parent of all notifications.
pub const ROOT: &str = "/isr_change_notification";
/// How a notification's name starts.
pub const PREFIX: &str = "isr_change_";

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    partitions: Vec<TopicPartition>,
}

/// Returns the path of the notification `name`.
#[must_use]
pub fn path(name: &str) -> String {
    format!("{ROOT}/{name}")
}

/// Returns the data of a notification about `partitions`.
#[must_use]
pub fn encode(partitions: &[TopicPartition]) -> Vec<u8> {
    render(&Node { version: 1, partitions: partitions.to_vec() })
}

/// Returns the partitions that the notification `name` is about.
///
/// # Errors
/// When the data is not the node's JSON.
pub fn decode(name: &str, data: &[u8]) -> Result<Vec<TopicPartition>, LayoutError> {
    parse::<Node>(&path(name), data).map(|node| node.partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":1,"partitions":[{"topic":"t","partition":0}]}"#;
        assert_eq!(encode(&[TopicPartition::new("t", 0)]), data);
        assert_eq!(decode("isr_change_0000000042", data).unwrap(), [TopicPartition::new("t", 0)]);
        assert!(decode("x", b"{}").unwrap_err().to_string().contains("/isr_change_notification/x"));
    }
}
