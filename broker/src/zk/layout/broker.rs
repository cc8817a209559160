//! `/brokers/ids/N`: a broker that lives, and where it can be reached.
//!
//! The node is ephemeral. Its creation transaction (czxid) is the broker's epoch.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{check_version, parse, render};
use crate::config::SecurityProtocol;
use crate::types::{BrokerId, Millis};

/// The parent of all registrations.
pub const ROOT: &str = "/brokers/ids";
/// The node whose data version numbers brokers that ask for a generated id.
pub const SEQUENCE_PATH: &str = "/brokers/seqid";

/// One advertised listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The listener's name, upper case by convention.
    pub listener: String,
    /// The host to connect to, without brackets.
    pub host: String,
    /// The port to connect to.
    pub port: i32,
    /// How the listener speaks.
    pub protocol: SecurityProtocol,
}

/// The versions of a feature that a broker supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionRange {
    /// The lowest.
    pub min_version: i16,
    /// The highest.
    pub max_version: i16,
}

/// What the node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The advertised listeners, in the order of the configuration.
    pub endpoints: Vec<Endpoint>,
    /// The rack, when one is configured.
    pub rack: Option<String>,
    /// The JMX port, -1 when off.
    pub jmx_port: i32,
    /// When the broker registered; for people only.
    pub timestamp: Millis,
    /// The features that the broker supports; empty in ordinary ZooKeeper mode.
    pub features: BTreeMap<String, VersionRange>,
}

/// Field order is the order of the written JSON.
#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    #[serde(default)]
    host: Option<String>,
    #[serde(default = "no_port")]
    port: i32,
    #[serde(default)]
    endpoints: Vec<String>,
    #[serde(default)]
    listener_security_protocol_map: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<String>,
    #[serde(default = "no_port")]
    jmx_port: i32,
    #[serde(default)]
    timestamp: Timestamp,
    #[serde(default)]
    features: Option<BTreeMap<String, VersionRange>>,
}

/// A string by rule; some writers used a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Timestamp {
    Text(String),
    Number(i64),
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::Number(-1)
    }
}

fn no_port() -> i32 {
    -1
}

/// Returns the path of `broker`'s registration.
#[must_use]
pub fn path(broker: BrokerId) -> String {
    format!("{ROOT}/{broker}")
}

impl fmt::Display for Endpoint {
    /// Writes `LISTENER://host:port`, an IPv6 host in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "{}://[{}]:{}", self.listener, self.host, self.port)
        } else {
            write!(f, "{}://{}:{}", self.listener, self.host, self.port)
        }
    }
}

impl Endpoint {
    /// Returns `host:port`, an IPv6 host in brackets.
    #[must_use]
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Reads `LISTENER://host:port`; `protocols` says how each listener speaks, and a listener it does not know speaks
    /// the protocol of its own name.
    fn parse(text: &str, protocols: &BTreeMap<String, String>) -> Option<Self> {
        let (listener, address) = text.split_once("://")?;
        let (host, port) = address.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let protocol = SecurityProtocol::from_name(protocols.get(listener).map_or(listener, String::as_str))?;
        Some(Self {
            listener: listener.to_owned(),
            host: host.to_owned(),
            port: port.parse().ok()?,
            protocol,
        })
    }
}

impl Registration {
    /// Returns the endpoint of the listener with this name.
    #[must_use]
    pub fn endpoint(&self, listener: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.listener == listener)
    }

    /// Returns the node's data, version 5.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let plaintext = self.endpoints.iter().find(|it| it.protocol == SecurityProtocol::Plaintext);
        render(&Node {
            version: 5,
            host: plaintext.map(|endpoint| endpoint.host.clone()),
            port: plaintext.map_or(-1, |endpoint| endpoint.port),
            endpoints: self.endpoints.iter().map(ToString::to_string).collect(),
            listener_security_protocol_map: self
                .endpoints
                .iter()
                .map(|it| (it.listener.clone(), it.protocol.name().to_owned()))
                .collect(),
            rack: self.rack.clone(),
            jmx_port: self.jmx_port,
            timestamp: Timestamp::Text(self.timestamp.0.to_string()),
            features: Some(self.features.clone()),
        })
    }

    /// Reads the data of `broker`'s node, versions 1 to 5.
    ///
    /// # Errors
    /// When the data is not the node's JSON, its version is below 1, or an endpoint makes no sense.
    pub fn decode(broker: BrokerId, data: &[u8]) -> Result<Self, LayoutError> {
        let path = path(broker);
        let node: Node = parse(&path, data)?;
        check_version(&path, node.version, 1..=i32::MAX)?;
        let endpoints = if node.version == 1 {
            let host = node.host.ok_or_else(|| LayoutError::invalid(&path, "no host"))?;
            let protocol = SecurityProtocol::Plaintext;
            vec![Endpoint { listener: protocol.name().to_owned(), host, port: node.port, protocol }]
        } else {
            let parse = |text: &String| {
                Endpoint::parse(text, &node.listener_security_protocol_map)
                    .ok_or_else(|| LayoutError::invalid(&path, format!("{text:?} is not an endpoint")))
            };
            node.endpoints.iter().map(parse).collect::<Result<_, _>>()?
        };
        let timestamp = match node.timestamp {
            Timestamp::Text(text) => text.parse().unwrap_or(-1),
            Timestamp::Number(number) => number,
        };
        Ok(Self {
            endpoints,
            rack: node.rack,
            jmx_port: node.jmx_port,
            timestamp: Millis(timestamp),
            features: node.features.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(listener: &str, host: &str, port: i32, protocol: SecurityProtocol) -> Endpoint {
        Endpoint { listener: listener.to_owned(), host: host.to_owned(), port, protocol }
    }

    fn registration() -> Registration {
        Registration {
            endpoints: vec![
                endpoint("PLAINTEXT", "k1.example", 9092, SecurityProtocol::Plaintext),
                endpoint("REPL", "10.0.0.1", 9094, SecurityProtocol::Ssl),
            ],
            rack: Some("a".to_owned()),
            jmx_port: -1,
            timestamp: Millis(1_712_345_678_901),
            features: BTreeMap::new(),
        }
    }

    const VERSION_5: &str = concat!(
        r#"{"version":5,"host":"k1.example","port":9092,"endpoints":["PLAINTEXT://k1.example:9092","#,
        r#""REPL://10.0.0.1:9094"],"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT","REPL":"SSL"},"#,
        r#""rack":"a","jmx_port":-1,"timestamp":"1712345678901","features":{}}"#
    );

    #[test]
    fn golden_version_5() {
        assert_eq!(String::from_utf8(registration().encode()).unwrap(), VERSION_5);
        assert_eq!(Registration::decode(BrokerId(1), VERSION_5.as_bytes()).unwrap(), registration());
    }

    #[test]
    fn without_a_plaintext_listener_host_is_null() {
        let mut registration = registration();
        registration.endpoints.remove(0);
        let text = String::from_utf8(registration.encode()).unwrap();
        assert!(text.starts_with(r#"{"version":5,"host":null,"port":-1,"#), "{text}");
    }

    #[test]
    fn without_a_rack_the_field_is_absent() {
        let text = String::from_utf8(Registration { rack: None, ..registration() }.encode()).unwrap();
        assert!(!text.contains("rack"), "{text}");
    }

    #[test]
    fn old_versions() {
        let plaintext = endpoint("PLAINTEXT", "h", 9092, SecurityProtocol::Plaintext);
        let cases = [
            r#"{"jmx_port":-1,"timestamp":"1","host":"h","version":1,"port":9092}"#,
            r#"{"jmx_port":-1,"timestamp":"1","endpoints":["PLAINTEXT://h:9092"],"host":"h","version":2,"port":9092}"#,
            r#"{"version":3,"host":"h","port":9092,"jmx_port":-1,"timestamp":1,"endpoints":["PLAINTEXT://h:9092"]}"#,
        ];
        for data in cases {
            let read = Registration::decode(BrokerId(1), data.as_bytes()).unwrap();
            assert_eq!(read.endpoints, std::slice::from_ref(&plaintext), "{data}");
            assert_eq!(read.timestamp, Millis(1), "{data}");
            assert!(read.features.is_empty());
        }
    }

    #[test]
    fn an_ipv6_host_is_written_in_brackets() {
        let six = endpoint("PLAINTEXT", "::1", 9092, SecurityProtocol::Plaintext);
        assert_eq!(six.to_string(), "PLAINTEXT://[::1]:9092");
        assert_eq!(Endpoint::parse("PLAINTEXT://[::1]:9092", &BTreeMap::new()), Some(six));
    }

    #[test]
    fn nonsense_is_refused() {
        for data in [
            r#"{"version":0,"host":"h","port":1}"#,
            r#"{"version":5,"endpoints":["nothing"]}"#,
            r#"{"version":5,"endpoints":["REPL://h:1"]}"#,
            r#"{"version":1,"port":1}"#,
            "",
        ] {
            assert!(Registration::decode(BrokerId(7), data.as_bytes()).is_err(), "{data}");
        }
    }
}
