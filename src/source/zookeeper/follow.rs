//! Follows the nodes: watches first, reads everything, then reads again what each event names.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use zookeeper_client::{
    AddWatchMode, Client, Error, EventType, PersistentWatcher, SessionState, WatchedEvent,
};

use super::read::{self, ReadError};
use super::translate::{Place, ROOTS};
use crate::model::{ClusterUpdate, SourceName, Update, ZookeeperConnection};
use crate::source::Whereabouts;
use crate::source::feed::Feed;
use crate::source::map::ClusterMap;

/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(100);
/// How many events are taken in before the nodes they name are read: a failover touches many at once.
const EVENTS_AT_ONCE: usize = 1_024;
/// How often something is said while nothing changes, so that a silent source can be told from a dead one.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Follows until dropped.
pub(in crate::source) async fn run(at: Whereabouts, feed: Feed, map: watch::Sender<Arc<ClusterMap>>) {
    let follower = Follower { feed, map };
    let mut was_connected = false;
    loop {
        let connect = at.connect();
        let connected = match &connect {
            Ok(connect) => read::connect(connect).await.map_err(|error| error.to_string()),
            Err(why) => Err(why.clone()),
        };
        match connected {
            Ok(client) => {
                was_connected = true;
                let error = follower.follow(&client).await;
                let connect = connect.unwrap_or_default();
                follower.lost(&ReadError::Zookeeper { connect, source: error }).await;
            }
            Err(why) => {
                let stale = why.clone();
                let state = if was_connected {
                    ZookeeperConnection::Disconnected { why }
                } else {
                    ZookeeperConnection::Connecting { why: Some(why) }
                };
                follower.feed.say(Update::Cluster(ClusterUpdate::Zookeeper(state))).await;
                follower.feed.stale(SourceName::Zookeeper, stale).await;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

struct Follower {
    feed: Feed,
    map: watch::Sender<Arc<ClusterMap>>,
}

impl Follower {
    /// Follows one session to its end.
    async fn follow(&self, client: &Client) -> Error {
        match self.follow_until_error(client).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn follow_until_error(&self, client: &Client) -> Result<std::convert::Infallible, Error> {
        // Watching the root of a chroot would tell of everything; these few are what is shown.
        let mut watchers = Vec::new();
        for root in ROOTS {
            watchers.push(client.watch(root, AddWatchMode::PersistentRecursive).await?);
        }
        let (updates, damaged) = read::read_all(client).await?;
        self.tell(updates, damaged).await;
        loop {
            let events = tokio::select! {
                events = next_events(&mut watchers) => events,
                () = tokio::time::sleep(SIGN_OF_LIFE) => {
                    client.check_stat("/").await?;
                    self.feed.fresh(SourceName::Zookeeper).await;
                    continue;
                }
            };
            let mut places = BTreeSet::new();
            for event in &events {
                if event.event_type == EventType::Session {
                    self.session(client, event.session_state).await?;
                } else if let Some(place) = Place::of_path(&event.path) {
                    places.insert(place);
                }
            }
            if places.is_empty() {
                continue;
            }
            let (updates, damaged) = read::read_places(client, places.into_iter().collect()).await?;
            self.tell(updates, damaged).await;
        }
    }

    /// After a reconnection something may have been missed, so everything is read again.
    async fn session(&self, client: &Client, state: SessionState) -> Result<(), Error> {
        let connection = match state {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                let (updates, damaged) = read::read_all(client).await?;
                self.tell(updates, damaged).await;
                return Ok(());
            }
            SessionState::Disconnected => {
                ZookeeperConnection::Disconnected { why: "the connection broke".to_owned() }
            }
            SessionState::Expired => ZookeeperConnection::Expired,
            SessionState::AuthFailed | SessionState::Closed => {
                ZookeeperConnection::Disconnected { why: format!("the session is {state}") }
            }
        };
        self.feed.say(Update::Cluster(ClusterUpdate::Zookeeper(connection))).await;
        self.feed.stale(SourceName::Zookeeper, state).await;
        if state.is_terminated() { Err(Error::SessionExpired) } else { Ok(()) }
    }

    async fn tell(&self, updates: Vec<Update>, damaged: Vec<String>) {
        let mut map = ClusterMap::clone(&self.map.borrow());
        let mut changed = false;
        for update in &updates {
            changed |= map.observe(update);
        }
        if changed {
            self.map.send_replace(Arc::new(map));
        }
        for update in updates {
            self.feed.say(update).await;
        }
        match damaged.first() {
            None => self.feed.fresh(SourceName::Zookeeper).await,
            Some(why) => self.feed.stale(SourceName::Zookeeper, why).await,
        }
    }

    async fn lost(&self, error: &ReadError) {
        let state = ZookeeperConnection::Disconnected { why: error.to_string() };
        self.feed.say(Update::Cluster(ClusterUpdate::Zookeeper(state))).await;
        self.feed.stale(SourceName::Zookeeper, error).await;
    }
}

/// Waits for an event of any watcher and takes what else is there.
async fn next_events(watchers: &mut [PersistentWatcher]) -> Vec<WatchedEvent> {
    let mut events = Vec::new();
    {
        let waits = watchers.iter_mut().map(|watcher| Box::pin(watcher.changed()));
        let (event, _, _) = futures::future::select_all(waits).await;
        events.push(event);
    }
    for watcher in watchers {
        while events.len() < EVENTS_AT_ONCE
            && let Some(event) = futures::FutureExt::now_or_never(watcher.changed())
        {
            let terminated = event.session_state.is_terminated();
            events.push(event);
            if terminated {
                break;
            }
        }
    }
    events
}
