//! What a controller holds while it is in office: watches and channels; all of it ends with the office.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::watches::{self, Reports};
use crate::controller::channel::{Channel, ChannelEnds};
use crate::controller::machine::{ClusterEvent, Command, LiveBroker};
use crate::types::{BrokerEpoch, BrokerId, ControllerEpoch};
use crate::zk::Handle;

/// The watches and channels of one term.
pub(super) struct Office {
    session: Handle,
    reports: Reports,
    me: BrokerId,
    listener: String,
    socket_timeout: Duration,
    channels: BTreeMap<BrokerId, Channel>,
    watches: Vec<AbortHandle>,
    topics: BTreeMap<Arc<str>, AbortHandle>,
}

impl Drop for Office {
    fn drop(&mut self) {
        self.watches.iter().chain(self.topics.values()).for_each(AbortHandle::abort);
    }
}

impl Office {
    pub(super) fn new(
        session: Handle,
        epoch: ControllerEpoch,
        events: mpsc::Sender<(ControllerEpoch, ClusterEvent)>,
        me: BrokerId,
        listener: String,
        socket_timeout: Duration,
    ) -> Self {
        Self {
            session,
            reports: Reports { events, epoch },
            me,
            listener,
            socket_timeout,
            channels: BTreeMap::new(),
            watches: Vec::new(),
            topics: BTreeMap::new(),
        }
    }

    /// Returns the epoch of this term.
    pub(super) fn epoch(&self) -> ControllerEpoch {
        self.reports.epoch
    }

    /// Watches everything but single topics.
    pub(super) fn watch(&mut self) {
        let (session, reports) = (&self.session, &self.reports);
        let tasks = [
            tokio::spawn(watches::brokers(session.clone(), reports.clone())),
            tokio::spawn(watches::topics(session.clone(), reports.clone())),
            tokio::spawn(watches::deletions(session.clone(), reports.clone())),
            tokio::spawn(watches::wishes(session.clone(), reports.clone())),
            tokio::spawn(watches::notifications(session.clone(), reports.clone())),
        ];
        self.watches.extend(tasks.iter().map(tokio::task::JoinHandle::abort_handle));
    }

    /// Watches these topics' nodes.
    pub(super) fn watch_topics(&mut self, names: Vec<Arc<str>>) {
        self.topics.retain(|_, watch| !watch.is_finished());
        for name in names {
            let watch = watches::one_topic(self.session.clone(), Arc::clone(&name), self.reports.clone());
            if let Some(before) = self.topics.insert(name, tokio::spawn(watch).abort_handle()) {
                before.abort();
            }
        }
    }

    pub(super) fn connect(&mut self, broker: BrokerId, live: &LiveBroker) {
        let Some(endpoint) = live.registration.endpoint(&self.listener) else {
            tracing::warn!(%broker, listener = self.listener, "the broker has no such listener and hears nothing");
            return;
        };
        let ends = ChannelEnds {
            controller: self.me,
            epoch: self.reports.epoch,
            broker,
            address: endpoint.address(),
            socket_timeout: self.socket_timeout,
        };
        self.channels.insert(broker, Channel::open(ends, self.reports.events.clone()));
    }

    pub(super) fn disconnect(&mut self, broker: BrokerId) {
        self.channels.remove(&broker);
    }

    pub(super) fn send(&self, broker: BrokerId, epoch: BrokerEpoch, command: Command) {
        if let Some(channel) = self.channels.get(&broker) {
            channel.send(epoch, command);
        }
    }
}
