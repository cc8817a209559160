//! Brokers: what ZooKeeper says of them together with what is known of their processes.

use ottla_broker::types::{BrokerEpoch, BrokerId, Millis};
use serde::{Deserialize, Serialize};

use super::process::{Process, ProcessState};

/// What can become known of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerUpdate {
    /// It is in `/brokers/ids`.
    Registered(Registration),
    /// It is no longer in `/brokers/ids`.
    Unregistered,
    /// What software it is, as it says.
    Software(String),
    /// It is not to be listed any more.
    Forgotten,
}

/// A broker's node in `/brokers/ids`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Where clients reach it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Its rack.
    #[serde(default)]
    pub rack: Option<String>,
    /// The transaction that created the node.
    pub epoch: BrokerEpoch,
    /// When the node was made, as the broker wrote it.
    pub registered_at: Millis,
}

/// A broker's state in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerState {
    /// It serves.
    Up,
    /// It was started and is not registered yet.
    Starting,
    /// It was told to end.
    Stopping,
    /// Its clock stands.
    Frozen,
    /// Its process runs but ZooKeeper has forgotten it.
    Unregistered,
    /// It is gone.
    Down,
}

impl BrokerState {
    /// Returns the word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Starting => "starting",
            Self::Stopping => "stopping",
            Self::Frozen => "frozen",
            Self::Unregistered => "unregistered",
            Self::Down => "down",
        }
    }

    /// Returns whether it can serve as a leader right now.
    pub fn serves(self) -> bool {
        matches!(self, Self::Up | Self::Stopping)
    }
}

/// What is known of a broker.
#[derive(Debug, Clone, PartialEq)]
pub struct Broker {
    /// Its id.
    pub id: BrokerId,
    /// Its node in `/brokers/ids`, or the last one it had.
    pub registration: Option<Registration>,
    /// Whether the node is there.
    pub registered: bool,
    /// What software it is.
    pub software: Option<String>,
    /// Its process, when this console runs it; `None` when the broker is only attached to.
    pub process: Option<Process>,
    /// Its state in one word.
    pub state: BrokerState,
    /// Since when it is in that state.
    pub since: Millis,
    /// When it stopped serving, while it does not.
    pub lost_at: Option<Millis>,
}

impl Broker {
    pub(super) fn new(id: BrokerId, now: Millis) -> Self {
        Self {
            id,
            registration: None,
            registered: false,
            software: None,
            process: None,
            state: BrokerState::Down,
            since: now,
            lost_at: None,
        }
    }

    /// Returns whether this console runs its process.
    pub fn is_owned(&self) -> bool {
        self.process.is_some()
    }

    /// Returns where it listens, as far as that is known.
    pub fn address(&self) -> Option<(&str, u16)> {
        if let Some(registration) = &self.registration {
            return Some((&registration.host, registration.port));
        }
        let process = self.process.as_ref()?;
        Some((process.host.as_str(), process.port?))
    }

    /// Returns its process id, when this console runs it.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref()?.state.as_ref()?.pid()
    }

    /// Works out the state from registration and process, and returns the former state if it changed.
    pub(super) fn settle(&mut self, now: Millis) -> Option<BrokerState> {
        let state = self.derived_state();
        if state == self.state {
            return None;
        }
        let before = std::mem::replace(&mut self.state, state);
        self.since = now;
        if state.serves() {
            self.lost_at = None;
        } else if before.serves() {
            self.lost_at = Some(now);
        }
        Some(before)
    }

    fn derived_state(&self) -> BrokerState {
        let process_state = self.process.as_ref().and_then(|process| process.state.as_ref());
        match process_state {
            None if self.registered => BrokerState::Up,
            None if self.process.is_some() => BrokerState::Starting,
            None => BrokerState::Down,
            Some(ProcessState::Queued | ProcessState::Starting { .. }) => BrokerState::Starting,
            Some(ProcessState::Running { .. }) if self.registered => BrokerState::Up,
            // Before its first registration it is still on its way; afterwards its session was lost.
            Some(ProcessState::Running { .. })
                if self.state.serves() || self.state == BrokerState::Unregistered =>
            {
                BrokerState::Unregistered
            }
            Some(ProcessState::Running { .. }) => BrokerState::Starting,
            Some(ProcessState::Frozen { .. }) => BrokerState::Frozen,
            Some(ProcessState::Stopping { .. }) => BrokerState::Stopping,
            Some(
                ProcessState::Absent
                | ProcessState::Stopped
                | ProcessState::Died { .. }
                | ProcessState::Failed { .. },
            ) => BrokerState::Down,
        }
    }
}
