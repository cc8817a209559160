//! What happens to the controller.

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::effect::WriteId;
use super::types::{LeaderAndIsr, LiveBroker};
use crate::types::{BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, PartitionEpoch, TopicPartition};
use crate::zk::layout::partition_state::LeaderRecoveryState;
use crate::zk::layout::topic::TopicNode;

/// Names a request until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// One thing that happened. Everything about ZooKeeper is what was read, never what a watch said.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The broker is registered in a session: from now on it may be elected.
    SessionReady,
    /// The session is gone; whatever this controller was, it is not any more.
    SessionExpired,
    /// Whom `/controller` names.
    ControllerRead(Option<BrokerId>),
    /// How the attempt to become controller ended.
    Campaigned(Campaign),
    /// What ZooKeeper holds, after a won election.
    Loaded(Box<Snapshot>),
    /// A part of it could not be read.
    LoadFailed,
    /// Something that only the controller with this epoch cares for.
    Cluster(ControllerEpoch, ClusterEvent),
    /// Somebody asks for something.
    Request(RequestId, Request),
    /// A deadline passed.
    Tick,
}

/// How an attempt to become controller ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Campaign {
    /// Both nodes were written.
    Won {
        /// The new epoch.
        epoch: ControllerEpoch,
        /// The version of its node.
        epoch_version: i32,
    },
    /// The write was refused; what the nodes say now. It may have been written by a lost attempt of ours.
    Refused {
        /// Whom `/controller` names.
        controller: Option<BrokerId>,
        /// The epoch that was tried.
        tried: ControllerEpoch,
        /// The epoch that is stored.
        epoch: ControllerEpoch,
        /// The version of its node.
        epoch_version: i32,
    },
    /// ZooKeeper could not be asked.
    Failed,
}

/// What ZooKeeper holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// The registered brokers.
    pub brokers: BTreeMap<BrokerId, LiveBroker>,
    /// The topics.
    pub topics: BTreeMap<Arc<str>, TopicRead>,
    /// The state nodes that exist.
    pub states: BTreeMap<TopicPartition, LeaderAndIsr>,
    /// The topics marked for deletion.
    pub deletions: Vec<Arc<str>>,
    /// The wished reassignments of the old tool's node.
    pub reassignments: BTreeMap<TopicPartition, Vec<BrokerId>>,
    /// The wished elections of the old tool's node.
    pub preferred_elections: Vec<TopicPartition>,
}

/// What is known of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicRead {
    /// The topic's node.
    pub node: TopicNode,
    /// Its own `unclean.leader.election.enable`.
    pub unclean_election: Option<bool>,
    /// An id for the topic, should it have none.
    pub fresh_id: Option<Uuid>,
}

/// What happens to the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum ClusterEvent {
    /// All registered brokers.
    Brokers(BTreeMap<BrokerId, LiveBroker>),
    /// The names of all topics.
    Topics(Vec<Arc<str>>),
    /// One topic's node; nothing when it is gone.
    Topic(Arc<str>, Option<TopicRead>),
    /// A topic's own `unclean.leader.election.enable` changed.
    TopicUnclean(Arc<str>, Option<bool>),
    /// All topics marked for deletion.
    Deletions(Vec<Arc<str>>),
    /// The old tool's wish for preferred leaders.
    PreferredElectionNode(Vec<TopicPartition>),
    /// The old tool's wish for reassignments; nothing when the node cannot be read.
    ReassignmentNode(Option<BTreeMap<TopicPartition, Vec<BrokerId>>>),
    /// These brokers lost a log directory; the notifications to delete.
    LogDirsFailed(Vec<BrokerId>, Vec<String>),
    /// Leaders of an older version changed these state nodes; the notifications to delete.
    StatesChanged(BTreeMap<TopicPartition, LeaderAndIsr>, Vec<String>),
    /// A write was answered: one outcome for each of its changes.
    Written(WriteId, Vec<Outcome>),
    /// A broker answered LeaderAndIsr: the error code by partition.
    LeaderAndIsrAnswered(BrokerId, Vec<(TopicPartition, i16)>),
    /// A broker answered StopReplica: the error code by partition that it was told to delete.
    StopReplicaAnswered(BrokerId, Vec<(TopicPartition, i16)>),
    /// The commands waiting for a broker were too many and were dropped; it must hear everything again.
    ChannelOverflowed(BrokerId),
}

/// How one change of a write ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; the node's version now.
    Done(i32),
    /// The node has another version, or exists already: what the state node says, if it is one.
    Conflict(Option<LeaderAndIsr>),
    /// Another controller was elected, or the session is over.
    Fenced,
    /// ZooKeeper refused it for another reason.
    Failed,
}

/// What can be asked of the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A leader wants to change its in-sync replicas.
    AlterPartition(AlterPartition),
    /// A broker wants to stop.
    ControlledShutdown {
        /// Which.
        broker: BrokerId,
        /// In which registration.
        epoch: BrokerEpoch,
    },
    /// Leaders are to be elected.
    ElectLeaders {
        /// How.
        kind: ElectionKind,
        /// Where; everywhere when none.
        partitions: Option<Vec<TopicPartition>>,
    },
    /// Replicas are to move; no target cancels.
    Reassign(Vec<(TopicPartition, Option<Vec<BrokerId>>)>),
    /// The running reassignments of these partitions, or all.
    ListReassignments(Option<Vec<TopicPartition>>),
    /// A topic is to have more partitions.
    CreatePartitions {
        /// What is asked for, by topic.
        topics: Vec<NewPartitions>,
        /// Whether to check only.
        validate_only: bool,
    },
}

/// More partitions for a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPartitions {
    /// The topic.
    pub topic: Arc<str>,
    /// How many it is to have.
    pub count: i32,
    /// Where the new ones go, when the caller says.
    pub assignments: Option<Vec<Vec<BrokerId>>>,
    /// A random number that places the others.
    pub seed: u64,
}

/// Which leader an election wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElectionKind {
    /// The first replica of the assignment.
    Preferred,
    /// Any living replica, at the price of records.
    Unclean,
}

/// A leader's wish about its in-sync replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPartition {
    /// The leader.
    pub broker: BrokerId,
    /// Its registration.
    pub broker_epoch: BrokerEpoch,
    /// The request's version; it decides some error codes.
    pub version: i16,
    /// By topic.
    pub topics: Vec<AlterTopic>,
}

/// The partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterTopic {
    /// The topic's id, from version 2 on.
    pub id: Option<Uuid>,
    /// The topic's name, before version 2.
    pub name: Option<Arc<str>>,
    /// The wishes.
    pub partitions: Vec<AlterWish>,
}

/// One partition's wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterWish {
    /// The partition's number.
    pub partition: i32,
    /// The epoch that the leader leads in.
    pub leader_epoch: LeaderEpoch,
    /// The wished in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Whether the leader recovered.
    pub recovery: LeaderRecoveryState,
    /// The state that the wish is based on.
    pub partition_epoch: PartitionEpoch,
}
