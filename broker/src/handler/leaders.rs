//! Who leads instead: what newer clients are told with NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH (KIP-951).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::metadata::{ClusterSnapshot, EndpointMetadata};
use crate::types::{BrokerId, LeaderEpoch, TopicPartition};

/// The current leaders of partitions that a client asked the wrong broker about.
#[derive(Debug)]
pub(super) struct CurrentLeaders {
    snapshot: Arc<ClusterSnapshot>,
    listener: Arc<str>,
    named: BTreeMap<BrokerId, (EndpointMetadata, Option<String>)>,
}

impl CurrentLeaders {
    pub(super) fn new(snapshot: Arc<ClusterSnapshot>, listener: Arc<str>) -> Self {
        Self { snapshot, listener, named: BTreeMap::new() }
    }

    /// Returns the leader of a partition and its epoch, and remembers where the leader can be reached.
    pub(super) fn of(&mut self, id: &TopicPartition) -> Option<(BrokerId, LeaderEpoch)> {
        let partition = self.snapshot.partition(id)?;
        let broker = self.snapshot.broker(partition.leader)?;
        let endpoint = broker.endpoint(&self.listener)?;
        self.named.entry(broker.id).or_insert_with(|| (endpoint.clone(), broker.rack.clone()));
        Some((partition.leader, partition.leader_epoch))
    }

    /// Returns the leaders that were named, with where they can be reached.
    pub(super) fn endpoints(self) -> impl Iterator<Item = (BrokerId, EndpointMetadata, Option<String>)> {
        self.named.into_iter().map(|(id, (endpoint, rack))| (id, endpoint, rack))
    }
}
