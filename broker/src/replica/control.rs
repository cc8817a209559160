//! The controller's commands: which partitions this broker leads, follows, and no longer holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionState, LeaderAndIsrTopicState};
use ottla_protocol::message::{ErrorCode, LeaderAndIsrRequest, StopReplicaRequest};
use uuid::Uuid;

use super::error_code;
use super::hosted::{HostedPartition, view_of};
use super::machine::{
    Assignment, Effect, Event, LeaderRecovery, Partition, PartitionCommand, ReplicaSettings,
};
use super::manager::{ReplicaManager, Wake, lock};
use crate::config::TopicConfig;
use crate::log::{self, LogConfig, PartitionLog};
use crate::types::{
    BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, Millis, PartitionEpoch, TopicPartition,
    topic_id_of_wire,
};

/// How a command was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The answer for the whole request.
    pub error: ErrorCode,
    /// The answer for each partition, with its topic's id; empty when the whole request was refused.
    pub partitions: Vec<PartitionOutcome>,
}

/// How a command was answered for one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionOutcome {
    /// The partition.
    pub id: TopicPartition,
    /// Its topic's id as the request had it.
    pub topic_id: Option<Uuid>,
    /// The answer.
    pub error: ErrorCode,
}

/// The settings of the topics of one request, asked for once each.
#[derive(Debug, Default)]
struct Settings(BTreeMap<Arc<str>, (TopicConfig, LogConfig)>);

impl ReplicaManager {
    /// Applies a LeaderAndIsr request: each partition becomes led or followed here as it says.
    pub fn apply_leader_and_isr(&self, request: &LeaderAndIsrRequest) -> CommandOutcome {
        let mut fence = lock(&self.fence);
        let own = (self.dependencies.broker_epoch)();
        let (addressed, controller) =
            (BrokerEpoch(request.broker_epoch), ControllerEpoch(request.controller_epoch));
        if let Err(error) = fence.admit(own, addressed, controller) {
            return CommandOutcome { error, partitions: Vec::new() };
        }
        let mut wake = Wake::default();
        let mut partitions = Vec::new();
        let mut settings = Settings::default();
        for (topic, topic_id, state) in states(request) {
            let id = TopicPartition::new(topic, state.partition_index);
            let command = command(topic_id, state);
            let made = self.get_or_create(&id, &command, state.is_new, &mut settings);
            let answered = made.and_then(|partition| self.command(&partition, command, &mut wake));
            let error = answered.unwrap_or_else(|error| error);
            partitions.push(PartitionOutcome { id, topic_id, error });
        }
        // Held until here: one command after the other, in the order of the controller's channel.
        drop(fence);
        self.wake(wake);
        CommandOutcome { error: ErrorCode::None, partitions }
    }

    fn command(
        &self,
        partition: &Arc<HostedPartition>,
        command: PartitionCommand,
        wake: &mut Wake,
    ) -> Result<ErrorCode, ErrorCode> {
        let topic_id = command.topic_id;
        let leader_is_known = self.metadata.load().is_live(command.leader);
        let _role = partition.change_role();
        let mut effects = Vec::new();
        partition.step(self.now(), Event::LeaderAndIsr { command, leader_is_known }, &mut effects);
        let mut answer = ErrorCode::None;
        for effect in effects {
            match effect {
                Effect::Answer(error) => answer = error,
                effect => self.perform(partition, effect, wake),
            }
        }
        if let (ErrorCode::None, Some(topic_id)) = (answer, topic_id)
            && let Err(error) = partition.log().assign_topic_id(topic_id)
        {
            self.note_log_error(partition, &error);
            return Err(error_code::of_read(&error));
        }
        Ok(answer)
    }

    /// Returns the partition, with its log: the one it had before this broker started, or a new one.
    fn get_or_create(
        &self,
        id: &TopicPartition,
        command: &PartitionCommand,
        is_new: bool,
        settings: &mut Settings,
    ) -> Result<Arc<HostedPartition>, ErrorCode> {
        if !command.assignment.contains(self.options.broker_id) {
            return Err(ErrorCode::UnknownTopicOrPartition);
        }
        if let Some(partition) = self.get(id) {
            return if partition.is_gone() { Err(ErrorCode::KafkaStorageError) } else { Ok(partition) };
        }
        let (config, log_config) = settings
            .0
            .entry(Arc::clone(&id.topic))
            .or_insert_with(|| self.dependencies.log_config(&id.topic));
        let log = self.open_log(id, command.topic_id, log_config, is_new).map_err(|error| {
            tracing::error!(partition = %id, %error, "cannot open the log");
            ErrorCode::KafkaStorageError
        })?;
        let settings = ReplicaSettings {
            lag_time_max: self.options.lag_time_max,
            min_insync_replicas: usize::try_from(config.min_insync_replicas).unwrap_or(1),
            fetch_backoff: Millis(
                i64::try_from(self.options.fetcher.backoff.as_millis()).unwrap_or(i64::MAX),
            ),
        };
        // The log begins with the high watermark that was checkpointed before this start.
        let high_watermark = log.high_watermark();
        let machine =
            Partition::new(self.options.broker_id, settings, log.topic_id(), view_of(&log), high_watermark);
        log.update_high_watermark(machine.high_watermark());
        let partition = Arc::new(HostedPartition::new(id.clone(), log, machine));
        self.insert(&partition);
        Ok(partition)
    }

    /// Opens or makes a log. One that is left from another topic of the same name, deleted while this broker was away,
    /// is set aside: its records are not this topic's.
    fn open_log(
        &self,
        id: &TopicPartition,
        topic_id: Option<Uuid>,
        config: &LogConfig,
        is_new: bool,
    ) -> Result<Arc<PartitionLog>, log::Error> {
        match self.logs.get_or_create(id, topic_id, config.clone(), is_new) {
            Err(log::Error::TopicIdMismatch { found, expected, .. }) => {
                tracing::warn!(partition = %id, %found, %expected, "setting aside the log of an earlier topic");
                self.logs.set_aside(id)?;
                self.logs.get_or_create(id, topic_id, config.clone(), true)
            }
            opened => opened,
        }
    }

    /// Applies a StopReplica request: the partitions are no longer fetched here, and their logs are deleted if it says so.
    pub fn stop_replicas(&self, request: &StopReplicaRequest) -> CommandOutcome {
        let mut fence = lock(&self.fence);
        let own = (self.dependencies.broker_epoch)();
        let (addressed, controller) =
            (BrokerEpoch(request.broker_epoch), ControllerEpoch(request.controller_epoch));
        if let Err(error) = fence.admit(own, addressed, controller) {
            return CommandOutcome { error, partitions: Vec::new() };
        }
        let mut wake = Wake::default();
        let mut partitions = Vec::new();
        for (id, leader_epoch, deletes) in stops(request) {
            let error = self.stop(&id, leader_epoch, deletes, &mut wake);
            partitions.push(PartitionOutcome { id, topic_id: None, error });
        }
        drop(fence);
        self.wake(wake);
        CommandOutcome { error: ErrorCode::None, partitions }
    }

    fn stop(
        &self,
        id: &TopicPartition,
        leader_epoch: LeaderEpoch,
        deletes: bool,
        wake: &mut Wake,
    ) -> ErrorCode {
        if let Some(partition) = self.get(id) {
            let _role = partition.change_role();
            let mut answer = ErrorCode::None;
            let mut effects = Vec::new();
            partition.step(self.now(), Event::Stop { leader_epoch }, &mut effects);
            for effect in effects {
                match effect {
                    Effect::Answer(error) => answer = error,
                    effect => self.perform(&partition, effect, wake),
                }
            }
            if answer != ErrorCode::None {
                return answer;
            }
            if deletes {
                partition.mark_gone();
                self.remove(id);
            }
        }
        if !deletes {
            return ErrorCode::None;
        }
        // Also when this broker did not know of the partition: its log may be left from an earlier life.
        match self.logs.delete(id) {
            Ok(()) => ErrorCode::None,
            Err(error) => {
                tracing::error!(partition = %id, %error, "cannot delete the log");
                ErrorCode::KafkaStorageError
            }
        }
    }
}

/// Every partition of a request: versions 0 and 1 had one flat list.
fn states(
    request: &LeaderAndIsrRequest,
) -> impl Iterator<Item = (&str, Option<Uuid>, &LeaderAndIsrPartitionState)> {
    let grouped = request.topic_states.iter().flat_map(|topic: &LeaderAndIsrTopicState| {
        let topic_id = topic_id_of_wire(topic.topic_id);
        topic.partition_states.iter().map(move |state| (&*topic.topic_name, topic_id, state))
    });
    let ungrouped = request.ungrouped_partition_states.iter().map(|state| (&*state.topic_name, None, state));
    grouped.chain(ungrouped)
}

fn command(topic_id: Option<Uuid>, state: &LeaderAndIsrPartitionState) -> PartitionCommand {
    let brokers = |ids: &[i32]| ids.iter().copied().map(BrokerId).collect::<Vec<_>>();
    PartitionCommand {
        topic_id,
        controller_epoch: ControllerEpoch(state.controller_epoch),
        leader: BrokerId(state.leader),
        leader_epoch: LeaderEpoch(state.leader_epoch),
        isr: state.isr.iter().copied().map(BrokerId).collect(),
        partition_epoch: PartitionEpoch(state.partition_epoch),
        assignment: Assignment {
            replicas: brokers(&state.replicas),
            adding: brokers(&state.adding_replicas),
            removing: brokers(&state.removing_replicas),
        },
        recovery: if state.leader_recovery_state == 1 {
            LeaderRecovery::Recovering
        } else {
            LeaderRecovery::Recovered
        },
    }
}

/// Every partition of a request with its epoch and whether its log goes: versions 0 to 2 had one flag for all.
fn stops(request: &StopReplicaRequest) -> Vec<(TopicPartition, LeaderEpoch, bool)> {
    let mut all = Vec::new();
    for topic in &request.topic_states {
        for state in &topic.partition_states {
            let id = TopicPartition::new(&*topic.topic_name, state.partition_index);
            all.push((id, LeaderEpoch(state.leader_epoch), state.delete_partition));
        }
    }
    let deletes = request.delete_partitions;
    let unknown = LeaderEpoch::UNKNOWN;
    for topic in &request.topics {
        let numbers = topic.partition_indexes.iter();
        all.extend(numbers.map(|number| (TopicPartition::new(&*topic.name, *number), unknown, deletes)));
    }
    for partition in &request.ungrouped_partitions {
        let id = TopicPartition::new(&*partition.topic_name, partition.partition_index);
        all.push((id, unknown, deletes));
    }
    all
}
