//! Sources: when each was heard last, and since when and why it is silent.

use std::collections::BTreeMap;
use std::fmt;

use ottla_broker::types::{BrokerId, Millis};
use serde::{Deserialize, Serialize};

/// Which source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    /// ZooKeeper's nodes.
    Zookeeper,
    /// A broker asked in Kafka's protocol.
    Kafka(BrokerId),
    /// A broker's metrics page.
    Metrics(BrokerId),
    /// Consumer groups, asked in Kafka's protocol.
    Groups,
    /// Segment files on this machine.
    Segments,
    /// Processes on this machine.
    Processes,
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zookeeper => f.write_str("ZooKeeper"),
            Self::Kafka(broker) => write!(f, "requests to broker {broker}"),
            Self::Metrics(broker) => write!(f, "metrics of broker {broker}"),
            Self::Groups => f.write_str("groups"),
            Self::Segments => f.write_str("segment files"),
            Self::Processes => f.write_str("processes"),
        }
    }
}

/// How a source is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceUpdate {
    /// Which one.
    pub source: SourceName,
    /// How it is.
    pub health: SourceHealth,
}

/// Whether a source delivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "health")]
pub enum SourceHealth {
    /// It delivered just now.
    Fresh,
    /// It cannot be read.
    Stale {
        /// Why, in words.
        why: String,
    },
    /// It is not read any more, and nobody should miss it.
    Closed,
}

/// What is known of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// When it delivered last.
    pub last_seen: Option<Millis>,
    /// Since when it has been silent, and why.
    pub stale: Option<(Millis, String)>,
}

/// Takes in how a source is; returns whether that is news.
pub(super) fn apply(sources: &mut BTreeMap<SourceName, Source>, now: Millis, update: SourceUpdate) -> bool {
    let SourceUpdate { source: name, health } = update;
    match health {
        SourceHealth::Closed => sources.remove(&name).is_some(),
        SourceHealth::Fresh => {
            let source = sources.entry(name).or_default();
            source.last_seen = Some(now);
            source.stale.take().is_some()
        }
        SourceHealth::Stale { why } => {
            let source = sources.entry(name).or_default();
            match &mut source.stale {
                Some((_, reason)) => {
                    *reason = why;
                    false
                }
                None => {
                    source.stale = Some((now, why));
                    true
                }
            }
        }
    }
}
