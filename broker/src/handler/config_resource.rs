//! What DescribeConfigs, AlterConfigs and IncrementalAlterConfigs are about: topics and brokers, by type and name.

use ottla_protocol::message::ErrorCode;

use super::api::Api;
use crate::types::BrokerId;
use crate::zk::layout::config::Entity;
use crate::zk::layout::topic_name;

/// Kafka's `ConfigResource.Type`.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;

/// Something that has settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resource {
    /// A topic that exists.
    Topic(String),
    /// This broker.
    Broker,
    /// All brokers.
    Cluster,
}

/// Why a resource cannot be asked or changed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) error: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(error: ErrorCode, message: impl Into<String>) -> Self {
        Self { error, message: message.into() }
    }
}

impl Resource {
    /// Finds the resource of that type and name.
    pub(super) fn find(api: &Api, kind: i8, name: &str) -> Result<Self, Refusal> {
        match kind {
            TOPIC => {
                let known = api.metadata.load().topic(name).is_some();
                match topic_name::check(name) {
                    Err(error) => Err(Refusal::new(ErrorCode::InvalidTopicException, error.to_string())),
                    Ok(()) if !known => Err(Refusal::new(
                        ErrorCode::UnknownTopicOrPartition,
                        format!("there is no topic {name}"),
                    )),
                    Ok(()) => Ok(Self::Topic(name.to_owned())),
                }
            }
            BROKER if name.is_empty() => Ok(Self::Cluster),
            BROKER if name.parse() == Ok(api.broker_id.0) => Ok(Self::Broker),
            BROKER => Err(Refusal::new(
                ErrorCode::InvalidRequest,
                format!("this is broker {}; ask broker {name} itself", api.broker_id),
            )),
            other => Err(Refusal::new(
                ErrorCode::InvalidRequest,
                format!("resources of type {other} have no settings here"),
            )),
        }
    }

    /// Returns whose node holds the settings.
    pub(super) fn entity(&self, broker: BrokerId) -> Entity {
        match self {
            Self::Topic(name) => Entity::Topic(name.clone()),
            Self::Broker => Entity::Broker(Some(broker)),
            Self::Cluster => Entity::Broker(None),
        }
    }
}
