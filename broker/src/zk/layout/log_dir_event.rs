//! `/log_dir_event_notification/log_dir_event_N`: a broker lost a log directory.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::BrokerId;

/// The parent of all notifications.
pub const ROOT: &str = "/log_dir_event_notification";
/// How a notification's name starts.
pub const PREFIX: &str = "log_dir_event_";
/// The path to create sequential nodes with.
pub const SEQUENCE_PATH: &str = "/log_dir_event_notification/log_dir_event_";
/// The only event there is: a directory failed.
const FAILURE: i32 = 1;

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    broker: BrokerId,
    event: i32,
}

/// Returns the path of the notification `name`.
#[must_use]
pub fn path(name: &str) -> String {
    format!("{ROOT}/{name}")
}

/// Returns the data of a notification that `broker` lost a directory.
#[must_use]
pub fn encode(broker: BrokerId) -> Vec<u8> {
    render(&Node { version: 1, broker, event: FAILURE })
}

/// Returns the broker that lost a directory.
///
/// # Errors
/// When the data is not the node's JSON.
pub fn decode(name: &str, data: &[u8]) -> Result<BrokerId, LayoutError> {
    parse::<Node>(&path(name), data).map(|node| node.broker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":1,"broker":2,"event":1}"#;
        assert_eq!(encode(BrokerId(2)), data);
        assert_eq!(decode("log_dir_event_0000000007", data).unwrap(), BrokerId(2));
        assert!(decode("x", b"").is_err());
    }
}
