//! Everything that a source or an effect can say.

use ottla_broker::types::{BrokerId, Offset, TopicPartition};
use serde::{Deserialize, Serialize};

use super::action::ActionUpdate;
use super::broker::BrokerUpdate;
use super::cluster::ClusterUpdate;
use super::group::GroupUpdate;
use super::load::LoadState;
use super::network::NetworkSample;
use super::partition::PartitionUpdate;
use super::process::{ProcessKind, ProcessUpdate};
use super::source::SourceUpdate;
use super::timeline::Severity;
use super::topic::TopicUpdate;

/// One thing that became known. What a source says twice changes nothing the second time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// About the cluster as a whole: its name, its controller, the connection to ZooKeeper.
    Cluster(ClusterUpdate),
    /// About a process of a local cluster.
    Process {
        /// Which one.
        process: ProcessKind,
        /// What became known.
        update: ProcessUpdate,
    },
    /// About a broker's registration.
    Broker {
        /// Which one.
        broker: BrokerId,
        /// What became known.
        update: BrokerUpdate,
    },
    /// These brokers are registered and no others; sent after each (re)connection to ZooKeeper.
    BrokersListed(Vec<BrokerId>),
    /// About a topic.
    Topic {
        /// Which one.
        topic: String,
        /// What became known.
        update: TopicUpdate,
    },
    /// These topics exist and no others; sent after each (re)connection.
    TopicsListed(Vec<String>),
    /// About a partition's leader and in-sync replicas.
    Partition {
        /// Which one.
        partition: TopicPartition,
        /// What became known.
        update: PartitionUpdate,
    },
    /// How far the logs of one broker reach, as many as were read at once.
    Offsets {
        /// Whose logs they are.
        broker: BrokerId,
        /// One entry per replica.
        replicas: Vec<ReplicaOffsets>,
    },
    /// About a consumer group.
    Group {
        /// Which one.
        group: String,
        /// What became known.
        update: GroupUpdate,
    },
    /// These groups exist and no others.
    GroupsListed(Vec<String>),
    /// The queues, threads and requests of one broker.
    Network {
        /// Whose.
        broker: BrokerId,
        /// One reading of its metrics.
        sample: NetworkSample,
    },
    /// What the demo load does.
    Load(LoadState),
    /// How a source is.
    Source(SourceUpdate),
    /// What became of something the operator asked for.
    Action(ActionUpdate),
    /// Something worth a line in the timeline that is none of the above, in words.
    Notice {
        /// How grave it is.
        severity: Severity,
        /// The line.
        text: String,
    },
}

/// How far one replica's log reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaOffsets {
    /// The partition.
    #[serde(flatten)]
    pub partition: TopicPartition,
    /// The first offset it still has; `None` when the source cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_start_offset: Option<Offset>,
    /// The offset of the next record; `None` when the source cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_end_offset: Option<Offset>,
    /// The first offset that is not committed, as this replica knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_watermark: Option<Offset>,
    /// The bytes of its segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}
