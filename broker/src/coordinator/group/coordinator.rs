//! The coordinator as the rest of the broker sees it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use super::clock::Clock;
use super::coordinator_metrics::{CoordinatorMetrics, STATE_GAUGES};
use super::deadlines::Deadlines;
use super::gather::Gather;
use super::loader::Loads;
use super::machine::{
    self, Config, Event, GroupRequest, ListReply, ListRequest, ProducerId, Request, Standing,
};
use super::partition::{Complete, Input, Partition, lock};
use super::partitioner::partition_for;
use super::storage::GroupStorage;
use crate::metrics::Metrics;
use crate::types::LeaderEpoch;

/// The group coordinator of this broker.
pub struct GroupCoordinator {
    surroundings: Arc<Surroundings>,
    partitions: RwLock<BTreeMap<i32, Arc<Partition>>>,
    is_active: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What all partitions share.
pub(super) struct Surroundings {
    pub(super) config: Config,
    pub(super) storage: Arc<dyn GroupStorage>,
    pub(super) clock: Clock,
    pub(super) deadlines: Deadlines,
    pub(super) loads: Loads,
    pub(super) metrics: CoordinatorMetrics,
}

impl GroupCoordinator {
    /// Starts a coordinator that coordinates nothing yet, with a thread for time and one for loading.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        config: Config,
        storage: Arc<dyn GroupStorage>,
        metrics: &Metrics,
    ) -> std::io::Result<Arc<Self>> {
        let clock = Clock::start();
        let surroundings = Arc::new(Surroundings {
            config,
            storage,
            clock,
            deadlines: Deadlines::new(clock),
            loads: Loads::default(),
            metrics: CoordinatorMetrics::new(metrics),
        });
        let coordinator = Arc::new(Self {
            surroundings,
            partitions: RwLock::default(),
            is_active: AtomicBool::new(true),
            threads: Mutex::default(),
        });
        coordinator.start_threads()?;
        coordinator.register_gauges(metrics);
        Ok(coordinator)
    }

    /// Asks a group; `complete` is called once with the answer, on any thread, perhaps before this returns.
    pub fn call<R: GroupRequest>(&self, request: R, complete: impl FnOnce(R::Reply) + Send + 'static) {
        let request = request.into_request();
        let complete: Complete = Box::new(move |reply| {
            // A shard answers a request in kind; a reply of another kind would be dropped, which closes the connection.
            let reply = R::reply(reply);
            debug_assert!(reply.is_some(), "the answer is of the request's kind");
            if let Some(reply) = reply {
                complete(reply);
            }
        });
        self.submit(request, complete);
    }

    /// Lists the groups of all partitions that this broker leads. While one is being loaded, the error says so.
    pub fn list(&self, request: &ListRequest, complete: impl FnOnce(ListReply) + Send + 'static) {
        if !self.is_active.load(Ordering::Acquire) {
            complete(ListReply { error: machine::ErrorCode::CoordinatorNotAvailable, groups: Vec::new() });
            return;
        }
        let partitions = self.all_partitions();
        let gather = Gather::new(partitions.len(), |lists| complete(merge(lists)));
        for (index, partition) in partitions.iter().enumerate() {
            let gather = Arc::clone(&gather);
            let complete: Complete = Box::new(move |reply| {
                if let Some(reply) = ListRequest::reply(reply) {
                    gather.answer(index, reply);
                }
            });
            partition.submit(Input::Request { request: Request::List(request.clone()), complete });
        }
    }

    /// Returns the partition of `__consumer_offsets` that a group belongs to.
    #[must_use]
    pub fn partition_for(&self, group_id: &str) -> i32 {
        partition_for(group_id, self.surroundings.storage.partition_count())
    }

    /// This broker leads a partition: its groups are loaded, and coordinated from then on.
    pub fn become_leader(&self, partition: i32, epoch: LeaderEpoch) {
        if self.is_active.load(Ordering::Acquire) {
            self.ensure(partition).submit(Input::BecomeLeader(epoch));
        }
    }

    /// This broker does not lead a partition any more: its groups are forgotten, and whoever waits is sent away. An
    /// epoch older than that of the leadership is ignored.
    pub fn resign(&self, partition: i32, epoch: Option<LeaderEpoch>) {
        if let Some(partition) = self.get(partition) {
            partition.submit(Input::Resign(epoch));
        }
    }

    /// The marker that ends a producer's transaction in a partition is in sync.
    pub fn end_transaction(&self, partition: i32, producer_id: ProducerId, committed: bool) {
        if let Some(partition) = self.get(partition) {
            partition.submit(Input::Event(Event::TransactionEnded { producer_id, committed }));
        }
    }

    /// Topics are gone: their offsets are forgotten.
    pub fn topics_deleted(&self, topics: &[Arc<str>]) {
        for partition in self.all_partitions() {
            partition.submit(Input::Event(Event::TopicsDeleted { topics: topics.to_vec() }));
        }
    }

    /// Sends everybody away, refuses what comes later and ends the threads.
    pub fn shutdown(&self) {
        self.is_active.store(false, Ordering::Release);
        self.surroundings.loads.stop();
        self.surroundings.deadlines.stop();
        for partition in self.all_partitions() {
            partition.submit(Input::Resign(None));
        }
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
                tracing::error!("a thread of the group coordinator ended by a panic");
            }
        }
    }

    fn submit(&self, request: Request, complete: Complete) {
        let standing = if !self.is_active.load(Ordering::Acquire) {
            Standing::NotStarted
        } else if let Some(partition) = self.partition_of(&request) {
            partition.submit(Input::Request { request, complete });
            return;
        } else {
            Standing::NotCoordinator
        };
        let refusal = machine::refusal(&request, standing);
        debug_assert!(refusal.is_some(), "whoever cannot serve refuses");
        let error = machine::ErrorCode::NotCoordinator;
        complete(refusal.unwrap_or_else(|| machine::refuse(&request, error)));
    }

    fn partition_of(&self, request: &Request) -> Option<Arc<Partition>> {
        self.get(self.partition_for(request.group()?.as_str()))
    }

    fn get(&self, number: i32) -> Option<Arc<Partition>> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    fn ensure(&self, number: i32) -> Arc<Partition> {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        let new = || Partition::new(number, Arc::clone(&self.surroundings));
        Arc::clone(partitions.entry(number).or_insert_with(new))
    }

    fn all_partitions(&self) -> Vec<Arc<Partition>> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn start_threads(self: &Arc<Self>) -> std::io::Result<()> {
        let (surroundings, this) = (Arc::clone(&self.surroundings), Arc::downgrade(self));
        let timer = std::thread::Builder::new().name("group-timer".to_owned()).spawn(move || {
            surroundings.deadlines.run(|number| {
                if let Some(partition) = this.upgrade().and_then(|this| this.get(number)) {
                    partition.submit(Input::Event(Event::Tick));
                }
            });
        })?;
        lock(&self.threads).push(timer);
        let surroundings = Arc::clone(&self.surroundings);
        let loader = std::thread::Builder::new()
            .name("group-loader".to_owned())
            .spawn(move || surroundings.loads.run(&surroundings));
        match loader {
            Ok(loader) => lock(&self.threads).push(loader),
            Err(error) => {
                self.shutdown();
                return Err(error);
            }
        }
        Ok(())
    }

    fn register_gauges(self: &Arc<Self>, metrics: &Metrics) {
        let this = Arc::downgrade(self);
        metrics.collector(move |samples| {
            let Some(this) = this.upgrade() else { return };
            let states = STATE_GAUGES.map(|(state, _)| state);
            let mut totals = [0_usize; STATE_GAUGES.len()];
            for partition in this.all_partitions() {
                let counts = partition.count_groups(states);
                totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            }
            let all: usize = totals.iter().sum();
            let name = "kafka_coordinator_group_groupmetadatamanager_numgroups";
            samples.gauge(name, "Groups that this broker coordinates.", &[], as_gauge(all));
            for ((state, name), total) in STATE_GAUGES.into_iter().zip(totals) {
                samples.gauge(name, state_help(state), &[], as_gauge(total));
            }
        });
    }
}

impl Drop for GroupCoordinator {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl std::fmt::Debug for GroupCoordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupCoordinator").field("partitions", &self.all_partitions()).finish_non_exhaustive()
    }
}

/// Makes one list of many. Partitions that this broker does not lead have nothing to add.
fn merge(lists: Vec<ListReply>) -> ListReply {
    let mut merged = ListReply { error: machine::ErrorCode::None, groups: Vec::new() };
    for list in lists {
        match list.error {
            machine::ErrorCode::None => merged.groups.extend(list.groups),
            machine::ErrorCode::NotCoordinator => {}
            error => merged.error = error,
        }
    }
    merged.groups.sort_by(|one, other| one.group.cmp(&other.group));
    merged
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 groups")]
fn as_gauge(count: usize) -> f64 {
    count as f64
}

fn state_help(state: machine::State) -> &'static str {
    match state {
        machine::State::Empty => "Groups without members.",
        machine::State::PreparingRebalance => "Groups that wait for members to join.",
        machine::State::CompletingRebalance => "Groups that wait for the leader's assignment.",
        machine::State::Stable => "Groups in which every member has an assignment.",
        machine::State::Dead => "Groups that are being removed.",
    }
}
