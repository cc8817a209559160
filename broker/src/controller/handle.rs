//! What the rest of the broker sees of the controller.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use ottla_protocol::message::ErrorCode;
use tokio::runtime::Handle as Runtime;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;

use super::driver::{self, DriverParts};
use super::machine::{Reply, Request, Settings};
use crate::config::BrokerConfig;
use crate::types::{BrokerId, ControllerEpoch};
use crate::zk::{Error, Zk};

/// How many requests may wait for the controller's task.
const REQUESTS_MAX: usize = 1000;

/// Registers this broker in the current session: what a controller needs in every session after the first, before it may
/// be elected again.
pub type Register = Arc<dyn Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// Takes the answer to a request.
pub(super) type Answer = Box<dyn FnOnce(Reply) + Send>;

/// What comes from the rest of the broker.
pub(super) enum Asked {
    /// A request, and who waits for its answer.
    Request(Request, Answer),
    /// A topic's own rule about unclean elections may have changed.
    TopicUnclean(Arc<str>, Option<bool>),
}

/// Where the controller stands, for everybody to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::controller) struct Standing {
    /// The epoch, while this broker is in office.
    pub(super) epoch: Option<ControllerEpoch>,
    /// The controller that `/controller` named last.
    pub(super) controller: Option<BrokerId>,
    /// What the controller counts, while in office.
    pub(super) counts: Counts,
}

/// What a controller counts, under Kafka's metric names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// `GlobalTopicCount`.
    pub topics: usize,
    /// `GlobalPartitionCount`.
    pub partitions: usize,
    /// `OfflinePartitionsCount`.
    pub offline_partitions: usize,
    /// `PreferredReplicaImbalanceCount`.
    pub not_led_by_preferred: usize,
    /// `TopicsToDeleteCount`.
    pub topics_to_delete: usize,
}

/// How the controller behaves.
#[derive(Debug, Clone)]
pub struct ControllerOptions {
    /// What its rules need.
    pub settings: Settings,
    /// `controller.socket.timeout.ms`.
    pub socket_timeout: Duration,
}

/// The controller of one broker: in office, or waiting for its turn. Cheap to clone.
#[derive(Clone)]
pub struct Controller {
    shared: Arc<Shared>,
}

struct Shared {
    asked: mpsc::Sender<Asked>,
    standing: Arc<ArcSwap<Standing>>,
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("standing", &self.shared.standing.load()).finish()
    }
}

impl ControllerOptions {
    /// Takes what concerns the controller from a broker's configuration.
    #[must_use]
    pub fn of_config(me: BrokerId, inter_broker_listener: &str, config: &BrokerConfig) -> Self {
        Self {
            settings: Settings {
                me,
                inter_broker_listener: inter_broker_listener.to_owned(),
                delete_topics: config.delete_topic_enable,
                unclean_election: config.unclean_leader_election_enable,
                auto_balance: config.auto_leader_rebalance_enable,
                balance_interval_ms: config.leader_imbalance_check_interval_seconds.saturating_mul(1000),
                imbalance_percentage: config.leader_imbalance_per_broker_percentage,
            },
            socket_timeout: Duration::from_millis(
                u64::try_from(config.controller_socket_timeout_ms).unwrap_or(30_000),
            ),
        }
    }
}

impl Controller {
    /// Starts the controller's task on `runtime`. The broker must be registered in the current session; in later
    /// sessions the controller resigns first and then registers it with `register`.
    #[must_use]
    pub fn start(options: ControllerOptions, zk: Zk, register: Register, runtime: &Runtime) -> Self {
        let (asked, requests) = mpsc::channel(REQUESTS_MAX);
        let standing = Arc::new(ArcSwap::default());
        let (stop, stopping) = watch::channel(false);
        let parts =
            DriverParts { options, zk, register, requests, standing: Arc::clone(&standing), stopping };
        let task = runtime.spawn(driver::run(parts));
        Self { shared: Arc::new(Shared { asked, standing, stop, task: Mutex::new(Some(task)) }) }
    }

    /// Says whether this broker is the controller.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.epoch().is_some()
    }

    /// Returns the controller's epoch, while this broker is it.
    #[must_use]
    pub fn epoch(&self) -> Option<ControllerEpoch> {
        self.shared.standing.load().epoch
    }

    /// Returns the broker that `/controller` named last.
    #[must_use]
    pub fn controller(&self) -> Option<BrokerId> {
        self.shared.standing.load().controller
    }

    /// Returns what the controller counts; zeros while this broker is not in office.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.standing.load().counts
    }

    /// Asks the controller; `answer` is called exactly once, on another thread, and must not wait. A broker that is not
    /// in office answers NOT_CONTROLLER.
    pub fn ask(&self, request: Request, answer: impl FnOnce(Reply) + Send + 'static) {
        if !self.is_active() {
            answer(Reply::Refused(ErrorCode::NotController));
            return;
        }
        if let Err(full) = self.shared.asked.try_send(Asked::Request(request, Box::new(answer))) {
            // The senders of such requests try again by themselves.
            tracing::warn!("the controller has too many requests waiting");
            if let Asked::Request(_, answer) = full.into_inner() {
                answer(Reply::Refused(ErrorCode::NotController));
            }
        }
    }

    /// Tells the controller that a topic's settings changed: `unclean` is what now holds for it.
    pub fn topic_changed(&self, topic: &str, unclean: bool) {
        if self.is_active() {
            let changed = Asked::TopicUnclean(topic.into(), Some(unclean));
            if self.shared.asked.try_send(changed).is_err() {
                tracing::warn!(topic, "the controller is too busy to hear of the topic's settings");
            }
        }
    }

    /// Leaves office, if in it, and stops the task. Called before the session is closed.
    pub async fn shutdown(&self) {
        self.shared.stop.send_replace(true);
        if let Some(task) = self.shared.task.lock().await.take() {
            // A panic in the task was reported where it happened.
            let _ended = task.await;
        }
    }
}
