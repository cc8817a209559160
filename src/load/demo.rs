//! The demo as a whole: started, steered and stopped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use krafka::Kafka;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::plan::{DemoGroup, GROUPS};
use super::{member, producer, topics};

/// More members than partitions teach nothing.
const MEMBERS_MAX: usize = 16;
/// The fastest that the demo writes, records a second.
const RATE_MAX: u32 = 100_000;
/// Orders not yet taken.
const ORDERS_MAX: usize = 64;
/// How often the status is brought up to date.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// How a demo starts.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// Where the cluster is.
    pub bootstrap: String,
    /// Records a second, over all topics.
    pub rate: u32,
    /// Members of each group.
    pub members: u16,
}

/// What a running demo can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Write so many records a second.
    Rate(u32),
    /// One member more in this group.
    AddMember(String),
    /// One member less in this group.
    RemoveMember(String),
}

/// What a demo has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DemoStatus {
    /// Whether the topics are there and records are being written.
    pub is_running: bool,
    /// Records a second asked for.
    pub rate: u32,
    /// Records acknowledged.
    pub produced: u64,
    /// Records given up.
    pub failed: u64,
    /// Each group.
    pub groups: Vec<GroupStatus>,
    /// The last thing that went wrong, in words.
    pub trouble: Option<String>,
}

/// What a group of the demo does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// Its name.
    pub name: String,
    /// How many members it has here.
    pub members: usize,
    /// Records its members have read.
    pub consumed: u64,
}

/// A running demo; dropped, it stops without waiting.
#[derive(Debug)]
pub struct Demo {
    orders: mpsc::Sender<Order>,
    status: watch::Receiver<DemoStatus>,
    stop: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

/// What all tasks of a demo write to.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) produced: AtomicU64,
    pub(super) failed: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl Shared {
    /// Keeps what went wrong last.
    pub(super) fn trouble(&self, what: String) {
        tracing::debug!("demo: {what}");
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

impl Demo {
    /// Starts a demo on the current runtime; trouble shows in its status.
    pub fn start(options: DemoOptions) -> Self {
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let (status_sender, status) =
            watch::channel(DemoStatus { rate: options.rate, ..DemoStatus::default() });
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(Box::pin(run(options, taken, status_sender, stopped)));
        Self { orders, status, stop: Some(stop), task }
    }

    /// Tells it something; `false` when it is not listening, or too busy to take another order.
    pub fn order(&self, order: Order) -> bool {
        self.orders.try_send(order).is_ok()
    }

    /// Returns what it has done so far.
    pub fn status(&self) -> watch::Receiver<DemoStatus> {
        self.status.clone()
    }

    /// Stops it: members leave their groups and what was written is flushed.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Err(error) = (&mut self.task).await {
            tracing::warn!("the demo ended badly: {error}");
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if self.stop.is_some() {
            self.task.abort();
        }
    }
}

struct Group {
    plan: DemoGroup,
    consumed: Arc<AtomicU64>,
    members: Vec<oneshot::Sender<()>>,
}

struct Running {
    bootstrap: String,
    shared: Arc<Shared>,
    groups: BTreeMap<&'static str, Group>,
    tasks: JoinSet<()>,
    rate: watch::Sender<u32>,
}

async fn run(
    options: DemoOptions,
    mut orders: mpsc::Receiver<Order>,
    status: watch::Sender<DemoStatus>,
    mut stop: oneshot::Receiver<()>,
) {
    let shared = Arc::new(Shared::default());
    let prepared = tokio::select! {
        kafka = prepare(&options.bootstrap, &shared, &status) => kafka,
        _ = &mut stop => return,
    };
    let mut running = Running::start(prepared, shared, &options);
    let mut ticks = tokio::time::interval(STATUS_INTERVAL);
    loop {
        tokio::select! {
            _ = &mut stop => break,
            order = orders.recv() => match order {
                Some(order) => running.obey(&order),
                None => break,
            },
            _ = ticks.tick() => {}
        }
        status.send_replace(running.status());
    }
    running.finish().await;
}

/// Connects and makes the topics, however long the cluster takes to be ready.
async fn prepare(bootstrap: &str, shared: &Shared, status: &watch::Sender<DemoStatus>) -> Kafka {
    loop {
        let attempt = async {
            let kafka = Kafka::builder(bootstrap).client_id("ottla-demo").connect().await?;
            topics::ensure(&kafka).await?;
            Ok::<_, krafka::error::KrafkaError>(kafka)
        };
        match Box::pin(attempt).await {
            Ok(kafka) => return kafka,
            Err(error) => {
                shared.trouble(format!("prepare the topics: {error}"));
                status.send_modify(|status| status.trouble = Some(format!("prepare the topics: {error}")));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

impl Running {
    fn start(kafka: Kafka, shared: Arc<Shared>, options: &DemoOptions) -> Self {
        let (rate, rate_seen) = watch::channel(options.rate.min(RATE_MAX));
        let mut tasks = JoinSet::new();
        tasks.spawn(Box::pin(producer::run(kafka, rate_seen, Arc::clone(&shared))));
        let group = |plan: &DemoGroup| Group { plan: *plan, consumed: Arc::default(), members: Vec::new() };
        let groups = GROUPS.iter().map(|plan| (plan.name, group(plan))).collect();
        let bootstrap = options.bootstrap.clone();
        let mut running = Self { bootstrap, shared, groups, tasks, rate };
        for plan in GROUPS {
            for _ in 0..options.members {
                running.obey(&Order::AddMember(plan.name.to_owned()));
            }
        }
        running
    }

    fn obey(&mut self, order: &Order) {
        match order {
            Order::Rate(rate) => {
                self.rate.send_replace((*rate).min(RATE_MAX));
            }
            Order::AddMember(name) => {
                let Some(group) = self.groups.get_mut(name.as_str()) else { return };
                if group.members.len() >= MEMBERS_MAX {
                    return self.shared.trouble(format!("{name} has {MEMBERS_MAX} members already"));
                }
                let (leave, told) = oneshot::channel();
                group.members.push(leave);
                let consumed = Arc::clone(&group.consumed);
                let task =
                    member::run(self.bootstrap.clone(), group.plan, consumed, told, Arc::clone(&self.shared));
                self.tasks.spawn(Box::pin(task));
            }
            Order::RemoveMember(name) => {
                let leave = self.groups.get_mut(name.as_str()).and_then(|group| group.members.pop());
                if let Some(leave) = leave {
                    leave.send(()).ok();
                }
            }
        }
    }

    fn status(&self) -> DemoStatus {
        let group = |group: &Group| GroupStatus {
            name: group.plan.name.to_owned(),
            members: group.members.len(),
            consumed: group.consumed.load(Ordering::Relaxed),
        };
        DemoStatus {
            is_running: true,
            rate: *self.rate.borrow(),
            produced: self.shared.produced.load(Ordering::Relaxed),
            failed: self.shared.failed.load(Ordering::Relaxed),
            groups: self.groups.values().map(group).collect(),
            trouble: self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Lets everybody leave in an orderly way.
    async fn finish(self) {
        let Self { groups, mut tasks, rate, .. } = self;
        drop(rate);
        for group in groups.into_values() {
            for leave in group.members {
                leave.send(()).ok();
            }
        }
        while tasks.join_next().await.is_some() {}
    }
}
