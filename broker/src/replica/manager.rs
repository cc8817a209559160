//! All partitions of this broker, and the one place where what their machines want is done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use ottla_protocol::message::ErrorCode;

use super::alter_partition::{self, IsrProposals};
use super::append::DelayedProduce;
use super::delete_records::DelayedDelete;
use super::fence::ControllerFence;
use super::fetch::DelayedFetch;
use super::fetcher::Fetchers;
use super::hosted::HostedPartition;
use super::listener::LeadershipListener;
use super::machine::{Effect, Event, IsrProposal, RoleChange};
use super::metrics::{self, ReplicaMetrics};
use super::options::{ReplicaDependencies, ReplicaOptions};
use crate::log::{self, LogManager};
use crate::metadata::MetadataCache;
use crate::purgatory::{Purgatory, PurgatoryOptions};
use crate::types::{Millis, TopicPartition};

/// More operations than connections can wait at one time are a sign of trouble, not of load.
const OPERATIONS_MAX: usize = 1_000_000;

/// The partitions of this broker.
#[derive(Debug)]
pub struct ReplicaManager {
    pub(super) options: ReplicaOptions,
    pub(super) logs: Arc<LogManager>,
    pub(super) metadata: Arc<MetadataCache>,
    pub(super) dependencies: ReplicaDependencies,
    started: Instant,
    partitions: RwLock<HashMap<TopicPartition, Arc<HostedPartition>>>,
    pub(super) fence: Mutex<ControllerFence>,
    pub(super) produce_purgatory: Purgatory<TopicPartition, DelayedProduce>,
    pub(super) fetch_purgatory: Purgatory<TopicPartition, DelayedFetch>,
    pub(super) delete_purgatory: Purgatory<TopicPartition, DelayedDelete>,
    pub(super) fetchers: Fetchers,
    pub(super) proposals: Arc<IsrProposals>,
    pub(super) metrics: ReplicaMetrics,
    listeners: OnceLock<Vec<Arc<dyn LeadershipListener>>>,
}

/// Partitions whose waiters have to look again, gathered while locks are held and told afterwards.
#[derive(Debug, Default)]
pub(super) struct Wake {
    partitions: Vec<(TopicPartition, Changed)>,
    roles: Vec<(TopicPartition, RoleChange)>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Changed {
    fetches: bool,
    produces: bool,
    deletions: bool,
}

impl Wake {
    /// The log end offset moved: followers wait for that.
    pub(super) fn appended(&mut self, id: &TopicPartition) {
        self.note(id, Changed { fetches: true, ..Changed::default() });
    }

    fn note(&mut self, id: &TopicPartition, changed: Changed) {
        let known = self.partitions.iter_mut().rev().find(|(known, _)| known == id);
        match known {
            Some((_, known)) => {
                known.fetches |= changed.fetches;
                known.produces |= changed.produces;
                known.deletions |= changed.deletions;
            }
            None => self.partitions.push((id.clone(), changed)),
        }
    }
}

impl ReplicaManager {
    /// Returns a manager of no partitions yet: the controller's first command brings them.
    ///
    /// # Errors
    /// When a reaper thread cannot be started.
    pub fn new(
        options: ReplicaOptions,
        logs: Arc<LogManager>,
        metadata: Arc<MetadataCache>,
        dependencies: ReplicaDependencies,
    ) -> std::io::Result<Arc<Self>> {
        let purge = &options.purge_intervals;
        let purgatory =
            |name, purge_interval| PurgatoryOptions { name, operations_max: OPERATIONS_MAX, purge_interval };
        let produce_purgatory = Purgatory::start(purgatory("produce", purge.produce))?;
        let fetch_purgatory = Purgatory::start(purgatory("fetch", purge.fetch))?;
        let delete_purgatory = Purgatory::start(purgatory("delete", purge.delete))?;
        let manager = Arc::new_cyclic(|weak| Self {
            produce_purgatory,
            fetch_purgatory,
            delete_purgatory,
            fetchers: Fetchers::new(weak.clone(), options.fetcher.per_leader),
            proposals: Arc::new(IsrProposals::default()),
            metrics: ReplicaMetrics::new(&dependencies.metrics),
            started: Instant::now(),
            partitions: RwLock::new(HashMap::new()),
            fence: Mutex::new(ControllerFence::default()),
            listeners: OnceLock::new(),
            options,
            logs,
            metadata,
            dependencies,
        });
        metrics::register(&manager);
        let sender = alter_partition::run(Arc::downgrade(&manager), Arc::clone(&manager.proposals));
        // It ends with the manager.
        drop(manager.dependencies.background.spawn(sender));
        Ok(manager)
    }

    /// Names those who depend on who leads which partition. Once, before the first command of a controller.
    pub fn set_listeners(&self, listeners: Vec<Arc<dyn LeadershipListener>>) {
        let already = self.listeners.set(listeners).is_err();
        debug_assert!(!already, "the listeners are named once");
    }

    /// Returns a partition that this broker holds.
    #[must_use]
    pub fn get(&self, id: &TopicPartition) -> Option<Arc<HostedPartition>> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Returns what it was set up with.
    #[must_use]
    pub fn options(&self) -> &ReplicaOptions {
        &self.options
    }

    /// Returns every partition that this broker holds, in order of their names.
    #[must_use]
    pub fn partitions(&self) -> Vec<Arc<HostedPartition>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = partitions.values().cloned().collect();
        all.sort_by(|one, other| one.id().cmp(other.id()));
        all
    }

    /// Returns a partition that can be served.
    ///
    /// # Errors
    /// KAFKA_STORAGE_ERROR when its disk has failed; NOT_LEADER_OR_FOLLOWER when the cluster has the partition but not
    /// here, so that the client looks for the leader; UNKNOWN_TOPIC_OR_PARTITION otherwise.
    pub(super) fn hosted(&self, id: &TopicPartition) -> Result<Arc<HostedPartition>, ErrorCode> {
        match self.get(id) {
            Some(partition) if partition.is_gone() => Err(ErrorCode::KafkaStorageError),
            Some(partition) => Ok(partition),
            None if self.metadata.load().partition(id).is_some() => Err(ErrorCode::NotLeaderOrFollower),
            None => Err(ErrorCode::UnknownTopicOrPartition),
        }
    }

    pub(super) fn insert(&self, partition: &Arc<HostedPartition>) {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        partitions.insert(partition.id().clone(), Arc::clone(partition));
    }

    pub(super) fn remove(&self, id: &TopicPartition) -> Option<Arc<HostedPartition>> {
        self.partitions.write().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Returns the machines' time: it counts from the start of the manager and never goes back.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    /// Tells a partition's machine something and does what it wants, but for waking those who wait: that is left to
    /// the caller, who may hold locks.
    pub(super) fn step(&self, partition: &Arc<HostedPartition>, event: Event, wake: &mut Wake) {
        let mut effects = Vec::new();
        partition.step(self.now(), event, &mut effects);
        for effect in effects {
            self.perform(partition, effect, wake);
        }
    }

    /// Does one thing that a machine wants. What only its caller can do (answer, append what was fetched, ask the
    /// leader) is not done here.
    pub(super) fn perform(&self, partition: &Arc<HostedPartition>, effect: Effect, wake: &mut Wake) {
        let id = partition.id();
        match effect {
            Effect::HighWatermark(_) => {
                wake.note(id, Changed { fetches: true, produces: true, deletions: false });
            }
            Effect::LowWatermark(_) => wake.note(id, Changed { deletions: true, ..Changed::default() }),
            Effect::Recheck => wake.note(id, Changed { fetches: true, produces: true, deletions: true }),
            Effect::ProposeIsr(proposal) => self.propose(partition, proposal),
            Effect::AssignEpochStart { epoch, start } => {
                let result = partition.log().assign_epoch_start(epoch, start);
                self.note_result(partition, result);
            }
            Effect::TruncateTo { offset, loses_committed_below } => {
                if let Some(high_watermark) = loses_committed_below {
                    tracing::error!(partition = %id, %offset, %high_watermark,
                        "truncating below the high watermark: committed records are lost, as an unclean leader lacks them");
                    self.metrics.committed_records_lost.increment();
                }
                let result = partition.log().truncate_to(offset).map(drop);
                self.note_result(partition, result);
                self.step(partition, truncated(partition), wake);
            }
            Effect::TruncateFullyAndStartAt(offset) => {
                let result = partition.log().truncate_fully_and_start_at(offset);
                self.note_result(partition, result);
                self.step(partition, truncated(partition), wake);
            }
            Effect::AdvanceLogStart(offset) => {
                let result = partition.log().follow_log_start(offset);
                self.note_result(partition, result);
            }
            Effect::StopFetching => self.fetchers.remove(id),
            Effect::StartFetching { leader, leader_epoch } => self.fetchers.add(id, leader, leader_epoch),
            Effect::RoleChanged(change) => wake.roles.push((id.clone(), change)),
            Effect::ReplicationHalted => {
                tracing::warn!(partition = %id, "replication halted until the controller's next command");
                self.metrics.halted_partitions.increment();
                self.fetchers.remove(id);
            }
            Effect::Answer(_) | Effect::AppendRecords | Effect::QueryLeaderOffsets { .. } => {}
        }
    }

    fn propose(&self, partition: &HostedPartition, proposal: IsrProposal) {
        let (topic_id, isr_len) = partition.ask(|machine| (machine.topic_id(), machine.view().isr.len()));
        let shrinks = proposal.isr.len() < isr_len;
        let counter = if shrinks { &self.metrics.isr_shrinks } else { &self.metrics.isr_expands };
        counter.increment();
        self.proposals.add(partition.id(), topic_id, proposal);
    }

    /// Tells those who depend on who leads, and lets those look again who wait for one of these partitions. Must be
    /// called without any lock of a partition.
    pub(super) fn wake(&self, wake: Wake) {
        for (id, change) in wake.roles {
            self.tell_role(&id, change);
        }
        for (id, changed) in wake.partitions {
            if changed.produces {
                self.produce_purgatory.check(&id);
            }
            if changed.fetches {
                self.fetch_purgatory.check(&id);
            }
            if changed.deletions {
                self.delete_purgatory.check(&id);
            }
        }
    }

    /// Ends every wait and stops fetching. The log manager writes the high watermarks down when it shuts down.
    pub fn shutdown(&self) {
        self.fetchers.shutdown();
        self.produce_purgatory.shutdown();
        self.fetch_purgatory.shutdown();
        self.delete_purgatory.shutdown();
    }

    pub(super) fn note_result(&self, partition: &HostedPartition, result: Result<(), log::Error>) {
        if let Err(error) = result {
            self.note_log_error(partition, &error);
        }
    }

    /// Says once what the disk did, and stops serving what it cannot serve.
    pub(super) fn note_log_error(&self, partition: &HostedPartition, error: &log::Error) {
        match error.severity() {
            log::Severity::Request => {}
            log::Severity::DiskFull => {
                tracing::error!(partition = %partition.id(), %error, "no room to append; serving reads only");
            }
            log::Severity::Partition | log::Severity::Directory => {
                tracing::error!(partition = %partition.id(), %error, "log failed");
            }
        }
        if error.severity() == log::Severity::Directory {
            partition.mark_gone();
        }
    }

    fn tell_role(&self, id: &TopicPartition, change: RoleChange) {
        for listener in self.listeners.get().into_iter().flatten() {
            match change {
                RoleChange::Leader(epoch) => listener.became_leader(id, epoch),
                RoleChange::Follower(epoch) => listener.became_follower(id, epoch),
                RoleChange::Stopped => listener.stopped(id),
            }
        }
    }
}

/// A panic elsewhere leaves these locks' data whole: each holder changes one thing.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn truncated(partition: &HostedPartition) -> Event {
    let view = partition.log_view();
    Event::Truncated { log_start: view.start, log_end: view.end, latest_epoch: view.latest_epoch }
}
