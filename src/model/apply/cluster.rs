//! The controller and the connection to ZooKeeper.

use ottla_broker::types::{BrokerId, ControllerEpoch, Millis};

use crate::model::cluster::{ClusterUpdate, ZookeeperConnection};
use crate::model::state::Model;
use crate::model::timeline::{EventKind, Severity};

impl Model {
    pub(super) fn apply_cluster(&mut self, now: Millis, update: ClusterUpdate) {
        match update {
            ClusterUpdate::Profile(profile) => self.cluster.profile = profile,
            ClusterUpdate::ClusterId(id) => self.cluster.cluster_id = Some(id),
            ClusterUpdate::Controller(controller) => self.apply_controller(now, controller),
            ClusterUpdate::ControllerEpoch(epoch) => self.apply_controller_epoch(epoch),
            ClusterUpdate::Zookeeper(connection) => self.apply_zookeeper(now, connection),
        }
    }

    fn apply_controller(&mut self, now: Millis, controller: Option<BrokerId>) {
        let cluster = &mut self.cluster;
        if cluster.controller == controller {
            return;
        }
        let before = std::mem::replace(&mut cluster.controller, controller);
        match controller {
            None => {
                cluster.controllerless_since = Some(now);
                cluster.controller_before = before;
                let text = match before {
                    Some(id) => format!("controller {id} is gone; the brokers elect another"),
                    None => "there is no controller".to_owned(),
                };
                self.timeline.add(now, Severity::Warning, EventKind::Controller, text);
            }
            Some(id) => {
                let before = before.or(cluster.controller_before.take());
                let took = cluster.controllerless_since.take().map(|since| now.since(since));
                let text = match before {
                    Some(before) if before != id => format!("broker {id} is the controller, after {before}"),
                    _ => format!("broker {id} is the controller"),
                };
                let severity = if before.is_some() { Severity::Good } else { Severity::Info };
                self.timeline.add_timed(now, severity, EventKind::Controller, text, took);
            }
        }
    }

    fn apply_controller_epoch(&mut self, epoch: ControllerEpoch) {
        // The node is read and watched by different requests; the number itself only grows.
        self.cluster.controller_epoch = self.cluster.controller_epoch.max(Some(epoch));
    }

    fn apply_zookeeper(&mut self, now: Millis, connection: ZookeeperConnection) {
        if self.cluster.zookeeper == connection {
            return;
        }
        let before = std::mem::replace(&mut self.cluster.zookeeper, connection);
        let since = self.cluster.zookeeper_since.replace(now);
        let was_lost =
            matches!(before, ZookeeperConnection::Disconnected { .. } | ZookeeperConnection::Expired);
        match &self.cluster.zookeeper {
            ZookeeperConnection::Connected { session_id } => {
                let took = since.filter(|_| was_lost).map(|since| now.since(since));
                let severity = if was_lost { Severity::Good } else { Severity::Info };
                let text = format!("connected to ZooKeeper, session 0x{session_id:x}");
                self.timeline.add_timed(now, severity, EventKind::Zookeeper, text, took);
            }
            ZookeeperConnection::Disconnected { why } if !was_lost => {
                let text = format!("connection to ZooKeeper lost: {why}");
                self.timeline.add(now, Severity::Critical, EventKind::Zookeeper, text);
            }
            ZookeeperConnection::Expired => {
                let text = "session with ZooKeeper expired; a new one is made";
                self.timeline.add(now, Severity::Warning, EventKind::Zookeeper, text);
            }
            ZookeeperConnection::Connecting { why: Some(why) }
                if !matches!(before, ZookeeperConnection::Connecting { why: Some(_) }) =>
            {
                let text = format!("ZooKeeper cannot be reached: {why}");
                self.timeline.add(now, Severity::Warning, EventKind::Zookeeper, text);
            }
            ZookeeperConnection::Unknown
            | ZookeeperConnection::Connecting { .. }
            | ZookeeperConnection::Disconnected { .. } => {}
        }
    }
}
