//! Following the notifications.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::nodes::{read, read_topics};
use crate::config::{BrokerConfig, DynamicScope, LiveConfig, TopicConfig};
use crate::types::BrokerId;
use crate::zk::Zk;
use crate::zk::layout::config::{Entity, Values};
use crate::zk::layout::{config_change, sequence_number};
use crate::zk::session::{Error, Handle, SessionEvent, WatchEnd};

/// Those who act on a change. Called on the background runtime; must not wait long.
pub trait ConfigListener: Send + Sync + fmt::Debug {
    /// The broker's own settings changed.
    fn broker_changed(&self, config: &BrokerConfig);
    /// The settings of a topic changed.
    fn topic_changed(&self, topic: &str, config: &TopicConfig);
}

/// Settings that change while this broker runs.
#[derive(Debug)]
pub struct DynamicConfig {
    broker: BrokerId,
    live: Arc<LiveConfig>,
}

impl DynamicConfig {
    /// Returns what changes `live`, the configuration of `broker`.
    #[must_use]
    pub fn new(broker: BrokerId, live: Arc<LiveConfig>) -> Self {
        Self { broker, live }
    }

    /// Reads what was changed for this broker and for all brokers.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn load_broker(&self, session: &Handle) -> Result<(), Error> {
        let scopes = [(DynamicScope::Cluster, None), (DynamicScope::Broker, Some(self.broker))];
        for (scope, id) in scopes {
            let values = self.read_or_none(session, &Entity::Broker(id)).await?;
            for error in self.live.apply(scope, values) {
                tracing::warn!(%error, "ignoring a dynamic setting");
            }
        }
        Ok(())
    }

    /// Reads what holds for a topic now.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn topic_config(&self, session: &Handle, topic: &str) -> Result<TopicConfig, Error> {
        let values = self.read_or_none(session, &Entity::Topic(topic.to_owned())).await?;
        Ok(TopicConfig::lenient(&self.live.current(), &values))
    }

    /// Returns what holds for a topic without settings of its own.
    #[must_use]
    pub fn default_topic_config(&self) -> TopicConfig {
        TopicConfig::of_broker(&self.live.current())
    }

    /// Reads what holds for each topic that has settings of its own.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn topic_configs(&self, session: &Handle) -> Result<BTreeMap<String, TopicConfig>, Error> {
        let broker = self.live.current();
        let topics = read_topics(session).await?;
        Ok(topics
            .into_iter()
            .map(|(topic, values)| (topic, TopicConfig::lenient(&broker, &values)))
            .collect())
    }

    /// Tells `listener` of every change until the session with ZooKeeper is closed.
    pub async fn follow(self: Arc<Self>, zk: Zk, listener: Arc<dyn ConfigListener>) {
        let mut events = zk.subscribe();
        let mut session = zk.session();
        loop {
            if let Err(error) = self.follow_session(&session, listener.as_ref()).await {
                tracing::debug!(%error, "following settings pauses until there is a session");
            }
            // In a new session everything is read again: what was missed in between left no trace for it.
            loop {
                match events.next().await {
                    SessionEvent::NewSession => break,
                    SessionEvent::Closed => return,
                    SessionEvent::Connected | SessionEvent::Disconnected | SessionEvent::Expired => {}
                }
            }
            session = zk.session();
        }
    }

    async fn follow_session(&self, session: &Handle, listener: &dyn ConfigListener) -> Result<(), Error> {
        let (names, mut watched) = session.children_watched(config_change::ROOT).await?;
        let mut last = newest(&names);
        self.reload_all(session, listener).await?;
        sweep(session, &names).await?;
        loop {
            if watched.changed().await == WatchEnd::SessionOver {
                return Ok(());
            }
            let (names, next) = session.children_watched(config_change::ROOT).await?;
            watched = next;
            for name in since(&names, last) {
                self.process(session, listener, &name).await?;
            }
            last = last.max(newest(&names));
            sweep(session, &names).await?;
        }
    }

    async fn reload_all(&self, session: &Handle, listener: &dyn ConfigListener) -> Result<(), Error> {
        self.load_broker(session).await?;
        listener.broker_changed(&self.live.current());
        for (topic, config) in self.topic_configs(session).await? {
            listener.topic_changed(&topic, &config);
        }
        Ok(())
    }

    async fn process(
        &self,
        session: &Handle,
        listener: &dyn ConfigListener,
        name: &str,
    ) -> Result<(), Error> {
        let path = format!("{}/{name}", config_change::ROOT);
        let Some((data, _)) = session.get(&path).await? else { return Ok(()) };
        match config_change::decode(name, &data) {
            Ok(Entity::Topic(topic)) => {
                listener.topic_changed(&topic, &self.topic_config(session, &topic).await?);
            }
            Ok(Entity::Broker(id)) if id.is_none_or(|id| id == self.broker) => {
                self.load_broker(session).await?;
                listener.broker_changed(&self.live.current());
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "ignoring a notification"),
        }
        Ok(())
    }

    /// What other programs wrote must not stop a broker: a node that makes no sense counts as none.
    async fn read_or_none(&self, session: &Handle, entity: &Entity) -> Result<Values, Error> {
        match read(session, entity).await {
            Err(Error::Layout(error)) => {
                tracing::warn!(%entity, %error, "ignoring settings that make no sense");
                Ok(Values::new())
            }
            other => other,
        }
    }
}

/// Deletes notifications that every broker has had the time to see. The oldest come first, so the first that is young
/// ends it.
async fn sweep(session: &Handle, names: &[String]) -> Result<(), Error> {
    for name in since(names, -1) {
        let path = format!("{}/{name}", config_change::ROOT);
        let Some(stat) = session.stat(&path).await? else { continue };
        if now_ms().saturating_sub(stat.ctime) <= config_change::EXPIRY.0 {
            return Ok(());
        }
        match session.delete(&path, None).await {
            // Another broker was faster.
            Ok(()) | Err(Error::NoNode { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn newest(names: &[String]) -> i64 {
    names.iter().filter_map(|name| sequence_number(name, config_change::PREFIX)).max().unwrap_or(-1)
}

/// The notifications after number `last`, in order.
fn since(names: &[String], last: i64) -> Vec<String> {
    let numbered =
        names.iter().filter_map(|name| Some((sequence_number(name, config_change::PREFIX)?, name)));
    let later: BTreeMap<i64, &String> = numbered.filter(|(number, _)| *number > last).collect();
    later.into_values().cloned().collect()
}

fn now_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_taken_in_order_and_once() {
        let names: Vec<String> =
            ["config_change_0000000012", "config_change_0000000003", "other", "config_change_0000000011"]
                .map(str::to_owned)
                .into();
        assert_eq!(newest(&names), 12);
        assert_eq!(since(&names, 3), ["config_change_0000000011", "config_change_0000000012"]);
        assert!(since(&names, 12).is_empty());
        assert_eq!(newest(&[]), -1);
    }
}
