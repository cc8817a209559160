//! What the controller knows of the cluster: read at failover, kept up to date by its own writes and by watches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::types::{LeaderAndIsr, LiveBroker, PartitionStatus, ReplicaStatus};
use crate::types::{BrokerId, ControllerEpoch, TopicPartition};
use crate::zk::layout::topic::Assignment;

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Which brokers hold it.
    pub assignment: Assignment,
    /// Where it stands.
    pub status: PartitionStatus,
    /// Its leader and in-sync replicas; none before the state node exists.
    pub leadership: Option<LeaderAndIsr>,
    /// Where each replica stands.
    pub replicas: BTreeMap<BrokerId, ReplicaStatus>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topic {
    /// Its id; none for a topic of a cluster older than 2.8.
    pub id: Option<Uuid>,
    /// Its own `unclean.leader.election.enable`.
    pub unclean_election: Option<bool>,
    /// Its partitions by number.
    pub partitions: BTreeMap<i32, Partition>,
}

/// How far the deletion of a topic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deletion {
    /// Whether replicas were told to delete.
    pub started: bool,
    /// Whether it waits for a broker to return or a reassignment to end.
    pub waits: bool,
}

/// Everything the controller decides by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The epoch that this controller was elected with.
    pub epoch: ControllerEpoch,
    /// The data version of `/controller_epoch` that every write checks.
    pub epoch_version: i32,
    /// The registered brokers.
    pub brokers: BTreeMap<BrokerId, LiveBroker>,
    /// Those of them that asked to shut down.
    pub shutting_down: BTreeSet<BrokerId>,
    /// The replicas whose log directory failed.
    pub offline_dirs: BTreeMap<BrokerId, BTreeSet<TopicPartition>>,
    /// The topics.
    pub topics: BTreeMap<Arc<str>, Topic>,
    /// The topics' names by id.
    pub names: BTreeMap<Uuid, Arc<str>>,
    /// The topics that are to go.
    pub deletions: BTreeMap<Arc<str>, Deletion>,
    /// The partitions whose reassignment was asked for by the ZooKeeper node.
    pub node_reassignments: BTreeMap<TopicPartition, Vec<BrokerId>>,
}

impl Partition {
    /// Returns a partition that does not exist anywhere yet.
    #[must_use]
    pub fn new(assignment: Assignment) -> Self {
        let replicas = assignment.replicas.iter().map(|replica| (*replica, ReplicaStatus::New)).collect();
        Self { assignment, status: PartitionStatus::New, leadership: None, replicas }
    }

    /// Moves the partition to `next` if it may go there.
    pub fn become_status(&mut self, next: PartitionStatus) -> bool {
        let may = self.status.may_become(next);
        if may {
            self.status = next;
        }
        may
    }

    /// Moves the replica on `broker` to `next` if it may go there.
    pub fn set_replica(&mut self, broker: BrokerId, next: ReplicaStatus) -> bool {
        match self.replicas.get_mut(&broker) {
            Some(status) if status.may_become(next) => {
                *status = next;
                true
            }
            _ => false,
        }
    }

    /// Says whether `broker` leads.
    #[must_use]
    pub fn is_led_by(&self, broker: BrokerId) -> bool {
        self.leadership.as_ref().is_some_and(|leadership| leadership.leader == broker)
    }

    /// Says whether `broker` is in sync.
    #[must_use]
    pub fn is_in_sync(&self, broker: BrokerId) -> bool {
        self.leadership.as_ref().is_some_and(|leadership| leadership.isr.contains(&broker))
    }
}

impl Context {
    /// Returns the empty cluster of a controller elected with this epoch.
    #[must_use]
    pub fn new(epoch: ControllerEpoch, epoch_version: i32) -> Self {
        Self {
            epoch,
            epoch_version,
            brokers: BTreeMap::new(),
            shutting_down: BTreeSet::new(),
            offline_dirs: BTreeMap::new(),
            topics: BTreeMap::new(),
            names: BTreeMap::new(),
            deletions: BTreeMap::new(),
            node_reassignments: BTreeMap::new(),
        }
    }

    /// Returns the partition.
    #[must_use]
    pub fn partition(&self, partition: &TopicPartition) -> Option<&Partition> {
        self.topics.get(&partition.topic)?.partitions.get(&partition.partition)
    }

    /// Returns the partition for changing.
    pub fn partition_mut(&mut self, partition: &TopicPartition) -> Option<&mut Partition> {
        self.topics.get_mut(&partition.topic)?.partitions.get_mut(&partition.partition)
    }

    /// Returns all partitions in order.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicPartition, &Partition)> {
        self.topics.iter().flat_map(|(name, topic)| {
            topic
                .partitions
                .iter()
                .map(|(number, partition)| (TopicPartition::new(Arc::clone(name), *number), partition))
        })
    }

    /// Returns the topic's partitions in order.
    pub fn partitions_of(&self, topic: &Arc<str>) -> Vec<TopicPartition> {
        let numbers = self.topics.get(topic).map(|topic| topic.partitions.keys());
        numbers.into_iter().flatten().map(|number| TopicPartition::new(Arc::clone(topic), *number)).collect()
    }

    /// Returns the partitions for which `test` holds, leaving out topics that are to be deleted.
    pub fn select(&self, test: impl Fn(&TopicPartition, &Partition) -> bool) -> Vec<TopicPartition> {
        self.partitions()
            .filter(|(name, partition)| !self.is_deleting(&name.topic) && test(name, partition))
            .map(|(name, _)| name)
            .collect()
    }

    /// Says whether the topic is to be deleted.
    #[must_use]
    pub fn is_deleting(&self, topic: &str) -> bool {
        self.deletions.contains_key(topic)
    }

    /// Says whether the replica can be used: its broker is registered and not shutting down, its directory works.
    #[must_use]
    pub fn is_online(&self, broker: BrokerId, partition: &TopicPartition) -> bool {
        self.brokers.contains_key(&broker)
            && !self.shutting_down.contains(&broker)
            && !self.is_dir_offline(broker, partition)
    }

    /// Like [`Context::is_online`], but a broker that is shutting down still counts.
    #[must_use]
    pub fn is_reachable(&self, broker: BrokerId, partition: &TopicPartition) -> bool {
        self.brokers.contains_key(&broker) && !self.is_dir_offline(broker, partition)
    }

    fn is_dir_offline(&self, broker: BrokerId, partition: &TopicPartition) -> bool {
        self.offline_dirs.get(&broker).is_some_and(|partitions| partitions.contains(partition))
    }

    /// Returns whether an unclean election is allowed for the topic.
    #[must_use]
    pub fn allows_unclean(&self, topic: &str, default: bool) -> bool {
        self.topics.get(topic).and_then(|topic| topic.unclean_election).unwrap_or(default)
    }

    /// Adds a topic, its partitions new; does nothing when it is known.
    pub fn add_topic(
        &mut self,
        name: &Arc<str>,
        id: Option<Uuid>,
        assignments: &BTreeMap<i32, Assignment>,
    ) -> bool {
        if self.topics.contains_key(name) {
            return false;
        }
        let partitions =
            assignments.iter().map(|(number, it)| (*number, Partition::new(it.clone()))).collect();
        self.topics.insert(Arc::clone(name), Topic { id, unclean_election: None, partitions });
        if let Some(id) = id {
            self.names.insert(id, Arc::clone(name));
        }
        true
    }

    /// Forgets a topic.
    pub fn remove_topic(&mut self, name: &str) {
        if let Some(id) = self.topics.remove(name).and_then(|topic| topic.id) {
            self.names.remove(&id);
        }
        self.deletions.remove(name);
        self.node_reassignments.retain(|partition, _| partition.topic.as_ref() != name);
        for partitions in self.offline_dirs.values_mut() {
            partitions.retain(|partition| partition.topic.as_ref() != name);
        }
    }
}
