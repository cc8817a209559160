//! `/config/changes/config_change_N`: "this entity's configuration changed, read it again".

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::config::Entity;
use super::error::{check_version, parse, render};
use crate::types::Millis;

/// The parent of all notifications.
pub const ROOT: &str = "/config/changes";
/// How a notification's name starts.
pub const PREFIX: &str = "config_change_";
/// The path to create sequential nodes with.
pub const SEQUENCE_PATH: &str = "/config/changes/config_change_";
/// How long a notification stays before any listener may delete it.
pub const EXPIRY: Millis = Millis(15 * 60 * 1000);

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity_name: Option<String>,
}

/// Returns the data of a notification about `entity`, version 2.
#[must_use]
pub fn encode(entity: &Entity) -> Vec<u8> {
    render(&Node { version: 2, entity_path: Some(entity.to_string()), entity_type: None, entity_name: None })
}

/// Returns the entity that the notification `name` is about, versions 1 and 2.
///
/// # Errors
/// When the data is not the node's JSON, has another version, or names no entity.
pub fn decode(name: &str, data: &[u8]) -> Result<Entity, LayoutError> {
    let path = format!("{ROOT}/{name}");
    let node: Node = parse(&path, data)?;
    check_version(&path, node.version, 1..=2)?;
    let entity = match (node.version, node.entity_path, node.entity_type, node.entity_name) {
        (2, Some(entity), _, _) => Entity::parse(&entity),
        (1, _, Some(kind), Some(name)) if kind == "topics" || kind == "clients" => {
            Entity::parse(&format!("{kind}/{name}"))
        }
        _ => None,
    };
    entity.ok_or_else(|| LayoutError::invalid(path, "it names no entity"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let entity = Entity::UserClient(Some("alice".to_owned()), Some("app1".to_owned()));
        let data = br#"{"version":2,"entity_path":"users/alice/clients/app1"}"#;
        assert_eq!(encode(&entity), data);
        assert_eq!(decode("config_change_0000000001", data).unwrap(), entity);
    }

    #[test]
    fn reads_version_1() {
        let data = br#"{"version":1,"entity_type":"topics","entity_name":"t"}"#;
        assert_eq!(decode("x", data).unwrap(), Entity::Topic("t".to_owned()));
    }

    #[test]
    fn refuses_the_rest() {
        for data in [
            br#"{"version":3,"entity_path":"topics/t"}"#.as_slice(),
            br#"{"version":2}"#,
            br#"{"version":1,"entity_type":"users","entity_name":"u"}"#,
            br#""t""#,
        ] {
            assert!(decode("x", data).is_err(), "{}", String::from_utf8_lossy(data));
        }
    }
}
