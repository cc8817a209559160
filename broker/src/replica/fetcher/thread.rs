//! The loop of one fetcher thread.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::assignment::Assignment;
use super::exchange::{self, Exchange};
use super::fetchers::FetcherId;
use super::session::{ClientSession, Wanted};
use crate::client::Connection;
use crate::replica::inter_broker;
use crate::replica::manager::ReplicaManager;
use crate::types::{Millis, TopicPartition};

/// A thread without partitions waits so long for new ones before it ends.
const IDLE: Duration = Duration::from_secs(10);
/// The rest after the first failed attempt to reach the leader; it doubles up to `replica.fetch.backoff.ms`.
const FIRST_BACKOFF: Duration = Duration::from_millis(20);

/// Starts the thread of a leader.
pub(super) fn spawn(
    manager: Weak<ReplicaManager>,
    id: FetcherId,
    assignment: Arc<Assignment>,
) -> io::Result<JoinHandle<()>> {
    let (leader, number) = id;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let name = format!("fetcher-{leader}-{number}");
    std::thread::Builder::new().name(name).spawn(move || {
        let fetcher = Fetcher {
            manager,
            id,
            assignment,
            connection: None,
            session: ClientSession::default(),
            backoff: FIRST_BACKOFF,
        };
        runtime.block_on(fetcher.run());
    })
}

struct Fetcher {
    manager: Weak<ReplicaManager>,
    id: FetcherId,
    assignment: Arc<Assignment>,
    connection: Option<Connection>,
    session: ClientSession,
    backoff: Duration,
}

/// What to do next.
enum Turn {
    /// Fetch these, waiting no longer than until a partition that rests is to be fetched, too.
    Fetch(BTreeMap<TopicPartition, Wanted>, Option<Duration>),
    /// All partitions rest; the first may fetch again after so long.
    Rest(Duration),
    /// There is no partition.
    Idle,
    End,
}

impl Fetcher {
    async fn run(mut self) {
        loop {
            let Some(manager) = self.manager.upgrade() else { return };
            let seen = self.assignment.version();
            match self.turn(&manager) {
                Turn::End => return,
                Turn::Fetch(wanted, at_most) => self.fetch(&manager, wanted, at_most, seen).await,
                Turn::Rest(duration) => {
                    drop(manager);
                    self.rest(duration, seen).await;
                }
                Turn::Idle => {
                    drop(manager);
                    if self.rest(IDLE, seen).await && self.retire() {
                        return;
                    }
                }
            }
        }
    }

    fn turn(&self, manager: &ReplicaManager) -> Turn {
        if self.assignment.is_stopped() {
            return Turn::End;
        }
        let now = manager.now();
        let mut wanted = BTreeMap::new();
        let mut next: Option<Millis> = None;
        for id in self.assignment.partitions() {
            let Some(partition) = manager.get(&id) else { continue };
            let (topic_id, position, deadline) = partition
                .ask(|machine| (machine.topic_id(), machine.fetch_position(now), machine.next_deadline()));
            match position {
                Some(position) => {
                    wanted.insert(id, Wanted { topic_id, position });
                }
                None => next = earliest(next, deadline),
            }
        }
        let rest = next.map(|deadline| {
            Duration::from_millis(u64::try_from(deadline.since(now).0).unwrap_or(0).saturating_add(1))
        });
        match rest {
            rest if !wanted.is_empty() => Turn::Fetch(wanted, rest),
            Some(rest) => Turn::Rest(rest),
            None => Turn::Idle,
        }
    }

    /// One fetch, given up when the partitions change while it waits.
    async fn fetch(
        &mut self,
        manager: &Arc<ReplicaManager>,
        wanted: BTreeMap<TopicPartition, Wanted>,
        at_most: Option<Duration>,
        seen: u64,
    ) {
        let assignment = Arc::clone(&self.assignment);
        let outcome = tokio::select! {
            biased;
            outcome = self.exchange(manager, wanted, at_most) => Some(outcome),
            () = assignment.changed_since(seen) => None,
        };
        match outcome {
            Some(Ok(exchange)) => {
                self.backoff = FIRST_BACKOFF;
                self.finish(manager, exchange).await;
            }
            Some(Err(error)) => {
                self.disconnect();
                let (leader, _) = self.id;
                tracing::warn!(%leader, %error, backoff = ?self.backoff, "fetch failed");
                self.rest(self.backoff, seen).await;
                self.backoff = (self.backoff * 2).min(manager.options.fetcher.backoff.max(FIRST_BACKOFF));
            }
            // The answer under way would have to be waited for: a new connection is quicker.
            None => self.disconnect(),
        }
    }

    async fn exchange(
        &mut self,
        manager: &ReplicaManager,
        wanted: BTreeMap<TopicPartition, Wanted>,
        at_most: Option<Duration>,
    ) -> Result<Exchange, inter_broker::Error> {
        let (leader, number) = self.id;
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none @ None => {
                let name = format!("broker-{}-fetcher-{number}", manager.options.broker_id);
                none.insert(inter_broker::connect(manager, leader, name).await?)
            }
        };
        exchange::fetch(manager, connection, &mut self.session, wanted, at_most).await
    }

    /// Applies an answer, and asks the leader where its log begins and ends for those whose offset is outside.
    async fn finish(&mut self, manager: &Arc<ReplicaManager>, exchange: Exchange) {
        let outside = exchange::apply(manager, exchange);
        if outside.is_empty() {
            return;
        }
        let Some(connection) = &mut self.connection else { return };
        if let Err(error) = exchange::ask_leader_offsets(manager, connection, outside).await {
            let (leader, _) = self.id;
            tracing::warn!(%leader, %error, "cannot ask the leader for its offsets");
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        self.connection = None;
        self.session.reset();
    }

    /// Sleeps, but not past a change of the partitions; returns whether it slept to the end.
    async fn rest(&self, duration: Duration, seen: u64) -> bool {
        tokio::time::timeout(duration, self.assignment.changed_since(seen)).await.is_err()
    }

    fn retire(&self) -> bool {
        self.manager.upgrade().is_none_or(|manager| manager.fetchers.retire(self.id, &self.assignment))
    }
}

fn earliest(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
