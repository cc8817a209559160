//! Brokers and processes, and what their coming and going means for the partitions they lead.

use ottla_broker::types::{BrokerId, Millis};

use crate::model::broker::{Broker, BrokerState, BrokerUpdate};
use crate::model::process::{Process, ProcessKind, ProcessState, ProcessUpdate};
use crate::model::state::Model;
use crate::model::timeline::{EventKind, Severity};

impl Model {
    pub(super) fn apply_process(&mut self, now: Millis, kind: ProcessKind, update: ProcessUpdate) {
        match kind {
            ProcessKind::Console => {
                self.console.get_or_insert_with(|| Process::new(now)).apply(now, update);
            }
            ProcessKind::Zookeeper => {
                let process = self.zookeeper.get_or_insert_with(|| Process::new(now));
                let told = process
                    .apply(now, update)
                    .and_then(|before| tell("ZooKeeper", &before, process.state.as_ref()?));
                if let Some((severity, text, took)) = told {
                    self.timeline.add_timed(now, severity, EventKind::Zookeeper, text, took);
                }
            }
            ProcessKind::Broker(id) => self.apply_broker_process(now, id, update),
        }
    }

    fn apply_broker_process(&mut self, now: Millis, id: BrokerId, update: ProcessUpdate) {
        if update == ProcessUpdate::Forgotten {
            if let Some(broker) = self.brokers.get_mut(&id) {
                broker.process = None;
            }
            self.settle_broker(now, id);
            return;
        }
        let broker = self.brokers.entry(id).or_insert_with(|| Broker::new(id, now));
        let process = broker.process.get_or_insert_with(|| Process::new(now));
        let told = process
            .apply(now, update)
            .and_then(|before| tell(&format!("broker {id}"), &before, process.state.as_ref()?));
        if let Some((severity, text, took)) = told {
            self.timeline.add_timed(now, severity, EventKind::Broker, text, took);
        }
        self.settle_broker(now, id);
    }

    pub(super) fn apply_broker(&mut self, now: Millis, id: BrokerId, update: BrokerUpdate) {
        if update == BrokerUpdate::Forgotten {
            self.brokers.remove(&id);
            self.networks.remove(&id);
            self.count_brokers();
            return;
        }
        let listed = self.listed.brokers;
        let broker = self.brokers.entry(id).or_insert_with(|| Broker::new(id, now));
        match update {
            BrokerUpdate::Registered(registration) => {
                let again = broker.registration.as_ref().is_some_and(|old| old.epoch != registration.epoch);
                if listed && (!broker.registered || again) {
                    let text =
                        format!("broker {id} registered at {}:{}", registration.host, registration.port);
                    let took = broker.lost_at.map(|lost| now.since(lost));
                    self.timeline.add_timed(now, Severity::Good, EventKind::Broker, text, took);
                }
                broker.registration = Some(registration);
                broker.registered = true;
            }
            BrokerUpdate::Unregistered => {
                if std::mem::replace(&mut broker.registered, false) {
                    let (severity, text) = tell_unregistered(broker);
                    self.timeline.add(now, severity, EventKind::Broker, text);
                }
            }
            BrokerUpdate::Software(software) => broker.software = Some(software),
            BrokerUpdate::Forgotten => {}
        }
        self.settle_broker(now, id);
    }

    pub(super) fn apply_brokers_listed(&mut self, now: Millis, ids: &[BrokerId]) {
        let gone: Vec<_> = self
            .brokers
            .values()
            .filter(|broker| broker.registered && !ids.contains(&broker.id))
            .map(|broker| broker.id)
            .collect();
        for id in gone {
            self.apply_broker(now, id, BrokerUpdate::Unregistered);
        }
        self.listed.brokers = true;
    }

    /// Works out a broker's state anew, and what a change means for the partitions it holds.
    fn settle_broker(&mut self, now: Millis, id: BrokerId) {
        let Some(broker) = self.brokers.get_mut(&id) else { return };
        let changed = broker.settle(now);
        let serves = broker.state.serves();
        self.count_brokers();
        if changed.is_some_and(|before| before.serves() != serves) {
            self.leader_changed_health(now, id, serves);
        }
    }

    fn count_brokers(&mut self) {
        self.summary.brokers = self.brokers.len();
        self.summary.brokers_up =
            self.brokers.values().filter(|broker| matches!(broker.state, BrokerState::Up)).count();
    }
}

/// Puts a new state of a process in words; `None` when the next state says more.
fn tell(
    who: &str,
    before: &ProcessState,
    state: &ProcessState,
) -> Option<(Severity, String, Option<Millis>)> {
    let (severity, text, took) = match state {
        ProcessState::Running { pid, .. } if matches!(before, ProcessState::Frozen { .. }) => {
            (Severity::Good, format!("{who} goes on (SIGCONT), pid {pid}"), None)
        }
        ProcessState::Absent | ProcessState::Queued => return None,
        ProcessState::Starting { pid: None } => (Severity::Info, format!("{who} is starting"), None),
        ProcessState::Starting { pid: Some(_) } => return None,
        ProcessState::Running { pid, took: Some(took) } => {
            (Severity::Good, format!("{who} runs, pid {pid}"), Some(*took))
        }
        ProcessState::Running { pid, took: None } => {
            (Severity::Info, format!("{who} found, pid {pid}"), None)
        }
        ProcessState::Frozen { pid } => {
            (Severity::Warning, format!("{who} is frozen (SIGSTOP), pid {pid}"), None)
        }
        ProcessState::Stopping { .. } => (Severity::Info, format!("{who} is stopping"), None),
        ProcessState::Stopped => (Severity::Info, format!("{who} has stopped"), None),
        ProcessState::Died { ending } => (Severity::Critical, format!("{who} died: {ending}"), None),
        ProcessState::Failed { why } => (Severity::Critical, format!("{who} cannot start: {why}"), None),
    };
    Some((severity, text, took))
}

fn tell_unregistered(broker: &Broker) -> (Severity, String) {
    let id = broker.id;
    match broker.state {
        BrokerState::Stopping => (Severity::Info, format!("broker {id} signed off")),
        BrokerState::Frozen => {
            (Severity::Warning, format!("broker {id}: its session with ZooKeeper has expired while frozen"))
        }
        BrokerState::Down => (Severity::Info, format!("broker {id}: its registration is gone")),
        BrokerState::Up | BrokerState::Starting | BrokerState::Unregistered if broker.is_owned() => {
            (Severity::Critical, format!("broker {id} runs but has lost its registration"))
        }
        BrokerState::Up | BrokerState::Starting | BrokerState::Unregistered => {
            (Severity::Critical, format!("broker {id} is gone from ZooKeeper"))
        }
    }
}
