//! What a node means.

use ottla_broker::types::{BrokerEpoch, BrokerId, Millis, PartitionEpoch, TopicPartition};
use ottla_broker::zk::layout;

use crate::model::{
    BrokerUpdate, ClusterUpdate, PartitionState, PartitionUpdate, Registration, TopicUpdate, Update,
};

/// A node that the console shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    ClusterId,
    Controller,
    ControllerEpoch,
    Broker(BrokerId),
    Topic(String),
    TopicConfig(String),
    TopicDeletion(String),
    Partition(TopicPartition),
}

/// The nodes that are watched with all that lies below them.
pub(super) const ROOTS: &[&str] =
    &["/cluster", "/controller", "/controller_epoch", "/brokers", "/config/topics", "/admin/delete_topics"];

/// A node's data and the facts of its stat that matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) data: Vec<u8>,
    pub(super) version: i32,
    pub(super) created: i64,
    pub(super) created_at_ms: i64,
}

impl Place {
    /// Returns what the node at a path is, if it is shown.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix('/')?.split('/');
        let place = match (parts.next()?, parts.next(), parts.next()) {
            ("cluster", Some("id"), None) => Self::ClusterId,
            ("controller", None, None) => Self::Controller,
            ("controller_epoch", None, None) => Self::ControllerEpoch,
            ("brokers", Some("ids"), Some(id)) => Self::Broker(BrokerId(id.parse().ok()?)),
            ("brokers", Some("topics"), Some(topic)) => match (parts.next(), parts.next(), parts.next()) {
                (None, ..) => Self::Topic(topic.to_owned()),
                (Some("partitions"), Some(number), Some("state")) => {
                    Self::Partition(TopicPartition::new(topic, number.parse().ok()?))
                }
                _ => return None,
            },
            ("config", Some("topics"), Some(topic)) => Self::TopicConfig(topic.to_owned()),
            ("admin", Some("delete_topics"), Some(topic)) => Self::TopicDeletion(topic.to_owned()),
            _ => return None,
        };
        parts.next().is_none().then_some(place)
    }

    /// Returns the path.
    pub(super) fn path(&self) -> String {
        match self {
            Self::ClusterId => "/cluster/id".to_owned(),
            Self::Controller => "/controller".to_owned(),
            Self::ControllerEpoch => "/controller_epoch".to_owned(),
            Self::Broker(id) => format!("/brokers/ids/{id}"),
            Self::Topic(topic) => format!("/brokers/topics/{topic}"),
            Self::TopicConfig(topic) => format!("/config/topics/{topic}"),
            Self::TopicDeletion(topic) => format!("/admin/delete_topics/{topic}"),
            Self::Partition(partition) => layout::partition_state::path(partition),
        }
    }

    /// Returns what becomes known when the node is found like this, or is not there.
    ///
    /// # Errors
    /// When the data cannot be read; in words, with the path.
    pub(super) fn update(&self, found: Option<&Found>) -> Result<Option<Update>, String> {
        match found {
            None => Ok(self.absent()),
            Some(found) => self.present(found).map_err(|error| error.to_string()),
        }
    }

    fn absent(&self) -> Option<Update> {
        match self {
            Self::ClusterId | Self::ControllerEpoch | Self::TopicConfig(_) | Self::TopicDeletion(_) => None,
            Self::Controller => Some(Update::Cluster(ClusterUpdate::Controller(None))),
            Self::Broker(id) => Some(Update::Broker { broker: *id, update: BrokerUpdate::Unregistered }),
            Self::Topic(topic) => Some(Update::Topic { topic: topic.clone(), update: TopicUpdate::Deleted }),
            Self::Partition(partition) => {
                Some(Update::Partition { partition: partition.clone(), update: PartitionUpdate::Stateless })
            }
        }
    }

    fn present(&self, found: &Found) -> Result<Option<Update>, layout::LayoutError> {
        let update = match self {
            Self::ClusterId => {
                Update::Cluster(ClusterUpdate::ClusterId(layout::cluster_id::decode(&found.data)?))
            }
            Self::Controller => {
                Update::Cluster(ClusterUpdate::Controller(Some(layout::controller::decode(&found.data)?)))
            }
            Self::ControllerEpoch => Update::Cluster(ClusterUpdate::ControllerEpoch(
                layout::controller::decode_epoch(&found.data)?,
            )),
            Self::Broker(id) => return registration(*id, found),
            Self::Topic(topic) => assignment(topic, &found.data)?,
            Self::TopicConfig(topic) => {
                let entity = layout::config::Entity::Topic(topic.clone());
                let values = layout::config::decode(&entity, &found.data)?;
                Update::Topic { topic: topic.clone(), update: TopicUpdate::Configured(values) }
            }
            Self::TopicDeletion(topic) => {
                Update::Topic { topic: topic.clone(), update: TopicUpdate::DeletionRequested }
            }
            Self::Partition(partition) => {
                let node = layout::partition_state::PartitionState::decode(&self.path(), &found.data)?;
                let state = PartitionState {
                    leader: node.leader,
                    leader_epoch: node.leader_epoch,
                    controller_epoch: node.controller_epoch,
                    isr: node.isr,
                    partition_epoch: PartitionEpoch(found.version),
                };
                Update::Partition { partition: partition.clone(), update: PartitionUpdate::State(state) }
            }
        };
        Ok(Some(update))
    }
}

/// A node that was just created has no data yet: the broker fills it in the same transaction's next step.
fn registration(id: BrokerId, found: &Found) -> Result<Option<Update>, layout::LayoutError> {
    if found.data.is_empty() {
        return Ok(None);
    }
    let node = layout::broker::Registration::decode(id, &found.data)?;
    let Some(endpoint) = node.endpoints.first() else { return Ok(None) };
    let Ok(port) = u16::try_from(endpoint.port) else { return Ok(None) };
    let registration = Registration {
        host: endpoint.host.clone(),
        port,
        rack: node.rack,
        epoch: BrokerEpoch(found.created),
        registered_at: Millis(found.created_at_ms),
    };
    Ok(Some(Update::Broker { broker: id, update: BrokerUpdate::Registered(registration) }))
}

fn assignment(topic: &str, data: &[u8]) -> Result<Update, layout::LayoutError> {
    let node = layout::topic::TopicNode::decode(topic, data)?;
    let topic_id = node.id.map(layout::encode_uuid);
    let partitions = node.partitions.into_iter().map(|(number, entry)| (number, entry.replicas)).collect();
    Ok(Update::Topic { topic: topic.to_owned(), update: TopicUpdate::Assigned { topic_id, partitions } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_its_path_agree() {
        let places = [
            Place::ClusterId,
            Place::Controller,
            Place::ControllerEpoch,
            Place::Broker(BrokerId(3)),
            Place::Topic("a.b".into()),
            Place::TopicConfig("a".into()),
            Place::TopicDeletion("a".into()),
            Place::Partition(TopicPartition::new("a", 7)),
        ];
        for place in places {
            assert_eq!(Place::of_path(&place.path()), Some(place));
        }
        for path in [
            "/",
            "/brokers",
            "/brokers/ids/x",
            "/brokers/topics/a/partitions/0",
            "/brokers/topics/a/partitions/0/state/x",
        ] {
            assert_eq!(Place::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn a_state_node_becomes_an_update_and_damage_is_named() {
        let place = Place::Partition(TopicPartition::new("orders", 3));
        let data = br#"{"controller_epoch":17,"leader":2,"version":1,"leader_epoch":7,"isr":[2,3]}"#.to_vec();
        let found = Found { data, version: 9, created: 0, created_at_ms: 0 };
        let update = place.update(Some(&found)).unwrap().unwrap();
        let Update::Partition { update: PartitionUpdate::State(state), .. } = update else {
            panic!("{update:?}")
        };
        assert_eq!((state.leader, state.partition_epoch), (BrokerId(2), PartitionEpoch(9)));
        let damaged = Found { data: b"{".to_vec(), ..found };
        assert!(place.update(Some(&damaged)).unwrap_err().contains("orders"));
    }
}
