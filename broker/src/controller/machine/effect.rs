//! What the controller does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::event::RequestId;
use super::types::LiveBroker;
use crate::types::{BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, PartitionEpoch, TopicPartition};
use crate::zk::layout::partition_state::{LeaderRecoveryState, PartitionState};
use crate::zk::layout::topic::{Assignment, TopicNode};
use ottla_protocol::message::ErrorCode;

/// Names a write until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteId(pub u64);

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Read `/controller` and watch it: [`super::Event::ControllerRead`] now and at every change.
    ReadController,
    /// Try to become controller: [`super::Event::Campaigned`].
    Campaign,
    /// Read the cluster and watch it: [`super::Event::Loaded`], then [`super::Event::Cluster`] at every change.
    Load(ControllerEpoch),
    /// This broker is the controller from here on.
    Elected(ControllerEpoch),
    /// Stop watching, close every channel: this broker is not the controller any more.
    Resign,
    /// Delete `/controller`, if the epoch's node still has this version.
    Abdicate(i32),
    /// Read and watch these topics.
    WatchTopics(Vec<Arc<str>>),
    /// Do these changes, each on its own, each only while the epoch's node has this version.
    Write {
        /// Names the write.
        id: WriteId,
        /// The version of `/controller_epoch` that each change checks.
        epoch_version: i32,
        /// The changes.
        changes: Vec<Write>,
    },
    /// Open the channel to a broker.
    Connect(BrokerId, Box<LiveBroker>),
    /// Close the channel to a broker, dropping what waits in it.
    Disconnect(BrokerId),
    /// Send a command to a broker, after everything that was sent before.
    Send(BrokerId, BrokerEpoch, Command),
    /// Answer a request.
    Reply(RequestId, Reply),
}

/// One change in ZooKeeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Write a state node that has this version.
    State(TopicPartition, PartitionState, PartitionEpoch),
    /// Create a state node with its parents.
    NewState(TopicPartition, PartitionState),
    /// Write a topic's node.
    Topic(Arc<str>, TopicNode),
    /// Delete a topic's nodes: its own with everything below, its configuration, its mark.
    DeleteTopic(Arc<str>),
    /// Write a node.
    Set(String, Vec<u8>),
    /// Create a node, or write it when it exists.
    Put(String, Vec<u8>),
    /// Delete a node, if it is there.
    Delete(String),
}

/// What a broker is told. The partitions are shared between the brokers that are told the same.
#[derive(Clone, PartialEq)]
pub enum Command {
    /// Lead or follow.
    LeaderAndIsr {
        /// The partitions.
        partitions: Vec<PartitionUpdate>,
        /// Where their leaders are.
        leaders: BTreeMap<BrokerId, (String, i32)>,
    },
    /// Know.
    UpdateMetadata {
        /// The partitions that changed.
        partitions: Arc<[PartitionUpdate]>,
        /// All brokers.
        brokers: Arc<BTreeMap<BrokerId, LiveBroker>>,
    },
    /// Stop replicas.
    StopReplica {
        /// Which.
        partitions: Vec<StopReplica>,
    },
}

/// What a broker is told about a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionUpdate {
    /// Which partition.
    pub partition: TopicPartition,
    /// Its topic's id.
    pub topic_id: Option<Uuid>,
    /// Who wrote its state.
    pub controller_epoch: ControllerEpoch,
    /// Its leader.
    pub leader: BrokerId,
    /// In which epoch.
    pub leader_epoch: LeaderEpoch,
    /// Who is in sync.
    pub isr: Vec<BrokerId>,
    /// The state node's version.
    pub partition_epoch: PartitionEpoch,
    /// All replicas.
    pub replicas: Vec<BrokerId>,
    /// Those being added.
    pub adding: Vec<BrokerId>,
    /// Those being removed.
    pub removing: Vec<BrokerId>,
    /// Those that are not alive.
    pub offline: Vec<BrokerId>,
    /// Whether the replica is new on the broker.
    pub is_new: bool,
    /// Whether the leader has to recover.
    pub recovery: LeaderRecoveryState,
}

/// A replica to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopReplica {
    /// Which partition.
    pub partition: TopicPartition,
    /// The epoch that the broker must not be beyond; -2 always wins, -1 is unknown.
    pub leader_epoch: LeaderEpoch,
    /// Whether to delete the log.
    pub delete: bool,
}

/// The leader that brokers are told while a topic is deleted.
pub const LEADER_DURING_DELETE: BrokerId = BrokerId(-2);
/// The epoch that stops a replica of a deleted topic whatever epoch it is in.
pub const EPOCH_DURING_DELETE: LeaderEpoch = LeaderEpoch(-2);

/// Why something is refused, and in words.
pub type Refused = (ErrorCode, String);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The request as a whole is refused.
    Refused(ErrorCode),
    /// To AlterPartition.
    AlterPartition(Vec<AlteredTopic>),
    /// To ControlledShutdown: the partitions that the broker still leads.
    ControlledShutdown(Vec<TopicPartition>),
    /// To ElectLeaders: the leader elected.
    ElectLeaders(Vec<(TopicPartition, Result<BrokerId, ErrorCode>)>),
    /// To AlterPartitionReassignments.
    Reassign(Vec<(TopicPartition, Result<(), ErrorCode>)>),
    /// To ListPartitionReassignments.
    Reassignments(Vec<(TopicPartition, Assignment)>),
    /// To CreatePartitions.
    CreatePartitions(Vec<(Arc<str>, Result<(), Refused>)>),
}

/// The answer about one topic of an AlterPartition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlteredTopic {
    /// The topic's id as it was asked.
    pub id: Option<Uuid>,
    /// The topic's name as it was asked.
    pub name: Option<Arc<str>>,
    /// The answers by partition.
    pub partitions: Vec<(i32, Result<super::types::LeaderAndIsr, ErrorCode>)>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeaderAndIsr { partitions, .. } => {
                write!(f, "LeaderAndIsr({} partitions)", partitions.len())
            }
            Self::UpdateMetadata { partitions, brokers } => {
                write!(f, "UpdateMetadata({} partitions, {} brokers)", partitions.len(), brokers.len())
            }
            Self::StopReplica { partitions } => write!(f, "StopReplica({} partitions)", partitions.len()),
        }
    }
}
