//! Proposals to change in-sync replicas, on their way to the controller.
//!
//! A partition has at most one proposal under way, and there is one request at a time: whatever was proposed meanwhile
//! goes out with the next. When the controller cannot be reached or is none any more, everything is sent again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use ottla_protocol::message::alter_partition::{
    BrokerState, PartitionData, PartitionDataResponse, TopicData,
};
use ottla_protocol::message::{AlterPartitionRequest, AlterPartitionResponse, ErrorCode};
use tokio::sync::Notify;
use uuid::Uuid;

use super::inter_broker::{self, Error};
use super::machine::{Event, IsrAnswer, IsrProposal, LeaderRecovery};
use super::manager::{ReplicaManager, Wake, lock};
use crate::client::Connection;
use crate::types::{
    BrokerId, LeaderEpoch, PartitionEpoch, TopicPartition, topic_id_of_wire, topic_id_to_wire,
};

/// The rest before everything is sent again.
const RETRY_AFTER: Duration = Duration::from_millis(50);
/// With topic ids from version 2 on; names before.
const VERSION_WITH_IDS: i16 = 3;
const VERSION_WITH_NAMES: i16 = 1;
/// So many partitions at most in one request; the rest goes with the next.
const PARTITIONS_MAX: usize = 10_000;

/// The proposals that have not been answered, at most one for each partition.
#[derive(Debug, Default)]
pub(super) struct IsrProposals {
    waiting: Mutex<BTreeMap<TopicPartition, Waiting>>,
    added: Notify,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    topic_id: Option<Uuid>,
    proposal: IsrProposal,
}

impl IsrProposals {
    /// Adds a proposal; it replaces an older one of the same partition.
    pub(super) fn add(&self, id: &TopicPartition, topic_id: Option<Uuid>, proposal: IsrProposal) {
        lock(&self.waiting).insert(id.clone(), Waiting { topic_id, proposal });
        self.added.notify_one();
    }

    /// Returns how many wait.
    pub(super) fn len(&self) -> usize {
        lock(&self.waiting).len()
    }

    /// What the next request says. Topics with an id go together, since the version of the request decides how topics
    /// are named.
    fn batch(&self) -> Vec<(TopicPartition, Waiting)> {
        let waiting = lock(&self.waiting);
        let has_ids = waiting.values().any(|waiting| waiting.topic_id.is_some());
        let alike = waiting.iter().filter(|(_, waiting)| waiting.topic_id.is_some() == has_ids);
        alike.take(PARTITIONS_MAX).map(|(id, waiting)| (id.clone(), waiting.clone())).collect()
    }

    /// Takes an answered proposal out, unless a newer one has taken its place.
    fn settle(&self, id: &TopicPartition, answered: &Waiting) {
        let mut waiting = lock(&self.waiting);
        if waiting.get(id) == Some(answered) {
            waiting.remove(id);
        }
    }
}

/// Sends proposals until the manager is gone.
pub(super) async fn run(manager: Weak<ReplicaManager>, proposals: Arc<IsrProposals>) {
    let mut connection: Option<(BrokerId, Connection)> = None;
    loop {
        if proposals.len() == 0 {
            proposals.added.notified().await;
        }
        let Some(manager) = manager.upgrade() else { return };
        let batch = proposals.batch();
        if batch.is_empty() {
            continue;
        }
        if let Err(error) = send(&manager, &proposals, &mut connection, batch).await {
            tracing::debug!(%error, "cannot propose in-sync replicas; trying again");
            connection = None;
            drop(manager);
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }
}

/// Sends one batch. An error means that some of it was not answered, so that it is sent again.
async fn send(
    manager: &Arc<ReplicaManager>,
    proposals: &IsrProposals,
    connection: &mut Option<(BrokerId, Connection)>,
    batch: Vec<(TopicPartition, Waiting)>,
) -> Result<(), Error> {
    let controller = manager.metadata.load().controller.ok_or(Error::NoController)?;
    let connection = match connection {
        Some((connected, connection)) if *connected == controller => connection,
        other => {
            let name = format!("broker-{}-alter-partition", manager.options.broker_id);
            let made = inter_broker::connect(manager, controller, name).await?;
            &mut other.insert((controller, made)).1
        }
    };
    let uses_ids = batch.iter().any(|(_, waiting)| waiting.topic_id.is_some());
    let version = if uses_ids { VERSION_WITH_IDS } else { VERSION_WITH_NAMES };
    let response = connection.call(&request(manager, &batch), version).await?;
    let error = ErrorCode::from_code(response.error_code);
    if error != ErrorCode::None {
        return Err(Error::Refused(error));
    }
    let answers = answers(&response);
    let mut is_complete = true;
    for (id, waiting) in batch {
        let Some(answer) = answers.get(&key_of(&id, waiting.topic_id)) else {
            is_complete = false;
            continue;
        };
        proposals.settle(&id, &waiting);
        manager.isr_answered(&id, waiting.proposal, answer.clone());
    }
    if is_complete { Ok(()) } else { Err(Error::Incomplete) }
}

/// A partition as a response names it: by topic id, or by name in older versions.
type Key = (Option<Uuid>, String, i32);
type Answer = Result<IsrAnswer, ErrorCode>;

fn key_of(id: &TopicPartition, topic_id: Option<Uuid>) -> Key {
    let name = if topic_id.is_some() { String::new() } else { id.topic.to_string() };
    (topic_id, name, id.partition)
}

fn request(manager: &ReplicaManager, batch: &[(TopicPartition, Waiting)]) -> AlterPartitionRequest {
    let mut topics: Vec<TopicData> = Vec::new();
    for (id, waiting) in batch {
        let partition = partition_data(id, &waiting.proposal, waiting.topic_id.is_some());
        match topics.last_mut().filter(|topic| topic.topic_name == *id.topic) {
            Some(topic) => topic.partitions.push(partition),
            None => topics.push(TopicData {
                topic_name: id.topic.to_string(),
                topic_id: topic_id_to_wire(waiting.topic_id),
                partitions: vec![partition],
                ..TopicData::default()
            }),
        }
    }
    AlterPartitionRequest {
        broker_id: manager.options.broker_id.0,
        broker_epoch: (manager.dependencies.broker_epoch)().0,
        topics,
        ..AlterPartitionRequest::default()
    }
}

fn partition_data(id: &TopicPartition, proposal: &IsrProposal, with_epochs: bool) -> PartitionData {
    let isr = || proposal.isr.iter().map(|broker| broker.0);
    let (new_isr, new_isr_with_epochs) = if with_epochs {
        // In ZooKeeper mode a leader does not know its followers' epochs: -1.
        let states = isr().map(|broker_id| BrokerState { broker_id, ..BrokerState::default() });
        (Vec::new(), states.collect())
    } else {
        (isr().collect(), Vec::new())
    };
    PartitionData {
        partition_index: id.partition,
        leader_epoch: proposal.leader_epoch.0,
        new_isr,
        new_isr_with_epochs,
        // Any change says that the leader has recovered.
        leader_recovery_state: 0,
        partition_epoch: proposal.partition_epoch.0,
        ..PartitionData::default()
    }
}

fn answers(response: &AlterPartitionResponse) -> BTreeMap<Key, Answer> {
    let mut answers = BTreeMap::new();
    for topic in &response.topics {
        let topic_id = topic_id_of_wire(topic.topic_id);
        for partition in &topic.partitions {
            let key = (topic_id, topic.topic_name.clone(), partition.partition_index);
            answers.insert(key, answer(partition));
        }
    }
    answers
}

fn answer(partition: &PartitionDataResponse) -> Answer {
    match ErrorCode::from_code(partition.error_code) {
        ErrorCode::None => Ok(IsrAnswer {
            leader_epoch: LeaderEpoch(partition.leader_epoch),
            partition_epoch: PartitionEpoch(partition.partition_epoch),
            isr: partition.isr.iter().copied().map(BrokerId).collect(),
            recovery: if partition.leader_recovery_state == 1 {
                LeaderRecovery::Recovering
            } else {
                LeaderRecovery::Recovered
            },
        }),
        error => Err(error),
    }
}

impl ReplicaManager {
    /// Tells a partition what the controller answered to its proposal.
    fn isr_answered(self: &Arc<Self>, id: &TopicPartition, proposal: IsrProposal, answer: Answer) {
        let Some(partition) = self.get(id) else { return };
        match &answer {
            Ok(state) => {
                tracing::info!(partition = %id, isr = ?brief(&state.isr), "in-sync replicas changed")
            }
            Err(error) => {
                self.metrics.failed_isr_updates.increment();
                tracing::warn!(partition = %id, proposed = ?brief(&proposal.isr), error = error.name(),
                    "the controller refused other in-sync replicas");
            }
        }
        let mut wake = Wake::default();
        {
            let _role = partition.keep_role();
            self.step(&partition, Event::IsrAnswered { proposal, answer }, &mut wake);
        }
        self.wake(wake);
    }
}

fn brief(isr: &BTreeSet<BrokerId>) -> Vec<i32> {
    isr.iter().map(|broker| broker.0).collect()
}
