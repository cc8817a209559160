//! `/config/<type>/<name>`: overridden configuration of topics, brokers, clients, users and addresses.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::BrokerId;

/// The parent of all configuration.
pub const ROOT: &str = "/config";
/// The name that stands for all entities of a type.
pub const DEFAULT: &str = "<default>";

/// The values by key; every value is a string.
pub type Values = BTreeMap<String, String>;

/// Whose configuration it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    /// A topic.
    Topic(String),
    /// A broker, or all brokers.
    Broker(Option<BrokerId>),
    /// A client id, or all clients.
    Client(Option<String>),
    /// A user, or all users.
    User(Option<String>),
    /// A client id of a user; either may stand for all.
    UserClient(Option<String>, Option<String>),
    /// A client's address, or all addresses.
    Ip(Option<String>),
}

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    config: Values,
}

impl Entity {
    /// Returns the node's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{ROOT}/{self}")
    }

    /// Reads the path below `/config`, `topics/orders`, as change notifications carry it.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            ["topics", topic] if !topic.is_empty() => Some(Self::Topic((*topic).to_owned())),
            ["brokers", DEFAULT] => Some(Self::Broker(None)),
            ["brokers", id] => id.parse().ok().map(|id| Self::Broker(Some(BrokerId(id)))),
            ["clients", client] => Some(Self::Client(restore(client)?)),
            ["users", user] => Some(Self::User(restore(user)?)),
            ["users", user, "clients", client] => Some(Self::UserClient(restore(user)?, restore(client)?)),
            ["ips", ip] => Some(Self::Ip(if *ip == DEFAULT { None } else { Some((*ip).to_owned()) })),
            _ => None,
        }
    }

    /// Says whether a node without values is kept; quota entities are deleted instead.
    #[must_use]
    pub fn keeps_empty_node(&self) -> bool {
        matches!(self, Self::Topic(_) | Self::Broker(_))
    }
}

impl fmt::Display for Entity {
    /// Writes the path below `/config`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &Option<String>| name.as_deref().map_or_else(|| DEFAULT.to_owned(), sanitize);
        match self {
            Self::Topic(topic) => write!(f, "topics/{topic}"),
            Self::Broker(None) => write!(f, "brokers/{DEFAULT}"),
            Self::Broker(Some(id)) => write!(f, "brokers/{id}"),
            Self::Client(client) => write!(f, "clients/{}", name(client)),
            Self::User(user) => write!(f, "users/{}", name(user)),
            Self::UserClient(user, client) => write!(f, "users/{}/clients/{}", name(user), name(client)),
            Self::Ip(ip) => write!(f, "ips/{}", ip.as_deref().unwrap_or(DEFAULT)),
        }
    }
}

/// Returns the node's data.
#[must_use]
pub fn encode(values: &Values) -> Vec<u8> {
    render(&Node { version: 1, config: values.clone() })
}

/// Reads the node of `entity`; an empty node has no values.
///
/// # Errors
/// When the data is not the node's JSON.
pub fn decode(entity: &Entity, data: &[u8]) -> Result<Values, LayoutError> {
    if data.is_empty() {
        return Ok(Values::new());
    }
    parse::<Node>(&entity.path(), data).map(|node| node.config)
}

/// Writes `name` so that it can be a node's: URL-encoded, then `*` as `%2A` and `+` as `%20` (Kafka's `Sanitizer`).
#[must_use]
pub fn sanitize(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Reads what [`sanitize`] wrote; nothing when it is not that.
#[must_use]
pub fn desanitize(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Reads a name that may stand for all entities.
fn restore(name: &str) -> Option<Option<String>> {
    if name == DEFAULT { Some(None) } else { desanitize(name).map(Some) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn golden() {
        let values = Values::from([
            ("cleanup.policy".to_owned(), "delete".to_owned()),
            ("retention.ms".to_owned(), "86400000".to_owned()),
        ]);
        let data = br#"{"version":1,"config":{"cleanup.policy":"delete","retention.ms":"86400000"}}"#;
        assert_eq!(encode(&values), data);
        assert_eq!(decode(&Entity::Topic("t".to_owned()), data).unwrap(), values);
        assert_eq!(decode(&Entity::Topic("t".to_owned()), b"").unwrap(), Values::new());
        assert!(decode(&Entity::Topic("t".to_owned()), b"[]").is_err());
    }

    #[test]
    fn paths() {
        let name = |text: &str| Some(text.to_owned());
        let cases = [
            (Entity::Topic("orders".to_owned()), "topics/orders"),
            (Entity::Broker(Some(BrokerId(3))), "brokers/3"),
            (Entity::Broker(None), "brokers/<default>"),
            (Entity::Client(name("app 1")), "clients/app%201"),
            (Entity::User(name("User:*")), "users/User%3A%2A"),
            (Entity::UserClient(name("alice"), None), "users/alice/clients/<default>"),
            (Entity::Ip(name("10.0.0.1")), "ips/10.0.0.1"),
        ];
        for (entity, path) in cases {
            assert_eq!(entity.to_string(), path);
            assert_eq!(entity.path(), format!("/config/{path}"));
            assert_eq!(Entity::parse(path), Some(entity));
        }
        for path in ["", "topics", "topics/", "brokers/x", "users/%zz", "users/a/groups/b", "other/x"] {
            assert_eq!(Entity::parse(path), None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn sanitized_names_come_back(name: String) {
            prop_assert_eq!(desanitize(&sanitize(&name)), Some(name));
        }
    }
}
