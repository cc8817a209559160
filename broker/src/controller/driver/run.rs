//! The loop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::office::Office;
use super::{campaign, load, watches, write};
use crate::controller::handle::{Answer, Asked, ControllerOptions, Counts, Register, Standing};
use crate::controller::machine::context::Context;
use crate::controller::machine::{
    ClusterEvent, ControllerMachine, Effect, Event, PartitionStatus, RequestId,
};
use crate::types::{BrokerId, ControllerEpoch, Millis};
use crate::zk::session::SessionEvent;
use crate::zk::{Error, Handle, Zk};

/// How many reports of watches, writes and channels may wait; whoever has one more waits with it.
const REPORTS_MAX: usize = 1000;
/// With so much work waiting, no more is taken from outside.
const BACKLOG_MAX: usize = 1000;
/// How old what the controller counts may be: counting walks over all partitions.
const COUNT_AFTER: Duration = Duration::from_millis(250);
/// The rest between two attempts to register in a new session.
const REGISTER_PAUSE: Duration = Duration::from_millis(500);

/// What the driver is made of.
pub(in crate::controller) struct DriverParts {
    pub(in crate::controller) options: ControllerOptions,
    pub(in crate::controller) zk: Zk,
    pub(in crate::controller) register: Register,
    pub(in crate::controller) requests: mpsc::Receiver<Asked>,
    pub(in crate::controller) standing: Arc<ArcSwap<Standing>>,
    pub(in crate::controller) stopping: watch::Receiver<bool>,
}

struct Driver {
    options: ControllerOptions,
    machine: ControllerMachine,
    zk: Zk,
    register: Register,
    standing: Arc<ArcSwap<Standing>>,
    /// The session that everything happens in; replaced when it expired.
    session: Handle,
    /// Reports about elections, and the other ends for their senders.
    events: mpsc::Sender<Event>,
    cluster_events: mpsc::Sender<(ControllerEpoch, ClusterEvent)>,
    answers: BTreeMap<RequestId, Answer>,
    next_request: u64,
    office: Option<Office>,
    /// The watch on `/controller`, the registration and the campaign of the current session.
    session_tasks: Vec<AbortHandle>,
    started: Instant,
    effects: Vec<Effect>,
    /// When what the controller counts is counted again; none while nothing changed.
    count_due: Option<Instant>,
}

/// Runs the controller of one broker until it is told to stop.
pub(in crate::controller) async fn run(parts: DriverParts) {
    let DriverParts { options, zk, register, mut requests, standing, mut stopping } = parts;
    let mut sessions = zk.subscribe();
    let (events, mut happened) = mpsc::channel(REPORTS_MAX);
    let (cluster_events, mut cluster) = mpsc::channel(REPORTS_MAX);
    let mut driver = Driver {
        machine: ControllerMachine::new(options.settings.clone()),
        options,
        session: zk.session(),
        zk,
        register,
        standing,
        events,
        cluster_events,
        answers: BTreeMap::new(),
        next_request: 0,
        office: None,
        session_tasks: Vec::new(),
        started: Instant::now(),
        effects: Vec::new(),
        count_due: None,
    };
    driver.step(Event::SessionReady);
    loop {
        let deadline = driver.next_tick();
        let takes_more = driver.machine.backlog() < BACKLOG_MAX;
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => break,
            event = sessions.next() => {
                if event == SessionEvent::Closed {
                    break;
                }
                driver.session_changed(event);
            }
            Some(event) = happened.recv() => driver.step(event),
            Some((epoch, event)) = cluster.recv() => driver.step(Event::Cluster(epoch, event)),
            Some(asked) = requests.recv(), if takes_more => driver.asked(asked),
            () = tokio::time::sleep_until(deadline.into()) => driver.step(Event::Tick),
            () = sleep_until(driver.count_due) => driver.publish_counts(),
        }
    }
    driver.stop().await;
}

impl Driver {
    fn now(&self) -> Millis {
        Millis(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    fn next_tick(&self) -> Instant {
        let far = Duration::from_secs(3600);
        let due = self.machine.next_deadline().map_or(far, |due| {
            Duration::from_millis(u64::try_from(due.since(self.now()).0).unwrap_or_default())
        });
        Instant::now() + due.min(far)
    }

    fn session_changed(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Connected | SessionEvent::Disconnected | SessionEvent::Closed => {}
            SessionEvent::Expired => {
                self.end_session_tasks();
                self.step(Event::SessionExpired);
            }
            SessionEvent::NewSession => {
                self.end_session_tasks();
                self.session = self.zk.session();
                let task = register_again(Arc::clone(&self.register), self.events.clone());
                self.spawn(task);
            }
        }
    }

    fn asked(&mut self, asked: Asked) {
        match asked {
            Asked::Request(request, answer) => {
                self.next_request += 1;
                let id = RequestId(self.next_request);
                self.answers.insert(id, answer);
                self.step(Event::Request(id, request));
            }
            Asked::TopicUnclean(topic, unclean) => {
                if let Some(epoch) = self.machine.active_epoch() {
                    self.step(Event::Cluster(epoch, ClusterEvent::TopicUnclean(topic, unclean)));
                }
            }
        }
    }

    fn step(&mut self, event: Event) {
        let mut effects = std::mem::take(&mut self.effects);
        self.machine.step(self.now(), event, &mut effects);
        for effect in effects.drain(..) {
            self.perform(effect);
        }
        self.effects = effects;
        self.publish();
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::ReadController => {
                let task = watches::controller_node(self.session.clone(), self.events.clone());
                self.end_session_tasks();
                self.spawn(task);
            }
            Effect::Campaign => {
                let (session, events) = (self.session.clone(), self.events.clone());
                let me = self.options.settings.me;
                self.spawn(async move {
                    let ended = campaign::campaign(&session, me, wall_clock()).await;
                    // Without a listener there is no driver any more.
                    let _heard = events.send(Event::Campaigned(ended)).await;
                });
            }
            Effect::Load(epoch) => {
                tracing::info!(%epoch, "elected controller; reading the cluster");
                let (session, events) = (self.session.clone(), self.events.clone());
                self.spawn(async move {
                    let event = match load::load(&session).await {
                        Ok(snapshot) => Event::Loaded(Box::new(snapshot)),
                        Err(error) => {
                            tracing::warn!(%error, "the cluster cannot be read");
                            Event::LoadFailed
                        }
                    };
                    let _heard = events.send(event).await;
                });
            }
            Effect::Elected(epoch) => self.take_office(epoch),
            Effect::Resign => {
                if self.office.take().is_some() {
                    tracing::info!("not the controller any more");
                }
            }
            Effect::Abdicate(epoch_version) => {
                let session = self.session.clone();
                drop(tokio::spawn(async move { campaign::abdicate(&session, epoch_version).await }));
            }
            Effect::Write { id, epoch_version, changes } => {
                let (session, reports) = (self.session.clone(), self.cluster_events.clone());
                // The epoch that reports carry; effects of a step may come before the machine calls itself active.
                let epoch = self.office.as_ref().map(Office::epoch);
                if let Some(epoch) = epoch {
                    drop(tokio::spawn(async move {
                        let outcomes = write::write(&session, epoch_version, changes).await;
                        let _heard = reports.send((epoch, ClusterEvent::Written(id, outcomes))).await;
                    }));
                }
            }
            Effect::Reply(request, reply) => {
                if let Some(answer) = self.answers.remove(&request) {
                    answer(reply);
                }
            }
            Effect::WatchTopics(_) | Effect::Connect(..) | Effect::Disconnect(_) | Effect::Send(..) => {
                self.perform_in_office(effect);
            }
        }
    }

    fn perform_in_office(&mut self, effect: Effect) {
        let Some(office) = &mut self.office else { return };
        match effect {
            Effect::WatchTopics(names) => office.watch_topics(names),
            Effect::Connect(broker, live) => office.connect(broker, &live),
            Effect::Disconnect(broker) => office.disconnect(broker),
            Effect::Send(broker, epoch, command) => office.send(broker, epoch, command),
            _ => {}
        }
    }

    fn take_office(&mut self, epoch: ControllerEpoch) {
        let mut office = Office::new(
            self.session.clone(),
            epoch,
            self.cluster_events.clone(),
            self.options.settings.me,
            self.options.settings.inter_broker_listener.clone(),
            self.options.socket_timeout,
        );
        office.watch();
        self.office = Some(office);
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.session_tasks.retain(|task| !task.is_finished());
        self.session_tasks.push(tokio::spawn(task).abort_handle());
    }

    fn end_session_tasks(&mut self) {
        self.session_tasks.drain(..).for_each(|task| task.abort());
    }

    /// Shows where the controller stands, and that its counts are old.
    fn publish(&mut self) {
        let (epoch, controller) = (self.machine.active_epoch(), self.machine.controller());
        let shown = self.standing.load();
        if (shown.epoch, shown.controller) != (epoch, controller) {
            let counts = if epoch.is_some() { shown.counts } else { Counts::default() };
            self.standing.store(Arc::new(Standing { epoch, controller, counts }));
        }
        if epoch.is_some() && self.count_due.is_none() {
            self.count_due = Some(Instant::now() + COUNT_AFTER);
        }
    }

    fn publish_counts(&mut self) {
        self.count_due = None;
        let counts = self.machine.context().map(count).unwrap_or_default();
        let shown = self.standing.load();
        if shown.counts != counts {
            self.standing.store(Arc::new(Standing { counts, ..Standing::clone(&shown) }));
        }
    }

    /// Refuses whoever waits, and gives the office up so that the next controller need not wait for the session's end.
    async fn stop(mut self) {
        let epoch_version = self.machine.context().map(|context| context.epoch_version);
        self.end_session_tasks();
        self.step(Event::SessionExpired);
        if let Some(epoch_version) = epoch_version {
            let abdicated = campaign::abdicate(&self.session, epoch_version);
            // The session's end does the same.
            let _done = tokio::time::timeout(Duration::from_secs(1), abdicated).await;
        }
    }
}

/// Registers the broker in the new session, however long it takes.
async fn register_again(register: Register, events: mpsc::Sender<Event>) {
    loop {
        match register().await {
            Ok(()) => {
                let _heard = events.send(Event::SessionReady).await;
                return;
            }
            // The next session brings the next attempt.
            Err(Error::SessionExpired | Error::Closed) => return,
            Err(error) => {
                tracing::error!(%error, "the broker cannot register in its new session; trying again");
                tokio::time::sleep(REGISTER_PAUSE).await;
            }
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

fn wall_clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn count(context: &Context) -> Counts {
    let mut counts = Counts {
        topics: context.topics.len(),
        topics_to_delete: context.deletions.len(),
        ..Counts::default()
    };
    for (name, partition) in context.partitions() {
        counts.partitions += 1;
        if context.is_deleting(&name.topic) {
            continue;
        }
        let led = partition.status == PartitionStatus::Online;
        counts.offline_partitions += usize::from(!led);
        let preferred = partition.assignment.preferred().unwrap_or(BrokerId::NONE);
        counts.not_led_by_preferred += usize::from(!partition.is_led_by(preferred));
    }
    counts
}
