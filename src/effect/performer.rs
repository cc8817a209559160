//! The task that takes commands, passes them on, and tells what came of them.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::audit::Audit;
use super::demo::DemoLoad;
use super::supervision::{self, Pending};
use super::{admin, lives};
use crate::action::{BrokerOrder, Command, Issued};
use crate::model::{ActionId, ActionUpdate, Progress, Update};
use crate::source::{ClusterMap, Feed};
use crate::supervisor::{Ask, Driver, Life, Role, Said};

/// How many commands wait at most; a person does not type faster.
pub const COMMANDS_MAX: usize = 256;

/// Takes commands of one console.
#[derive(Debug)]
pub struct Performer {
    driver: Driver,
    feed: Feed,
    map: watch::Receiver<Arc<ClusterMap>>,
    audit: Audit,
    demo: DemoLoad,
    pending: Pending,
    requests: JoinSet<(Issued, Result<String, String>)>,
    issued: std::collections::BTreeMap<ActionId, Command>,
}

impl Performer {
    /// Takes charge of a cluster's processes.
    pub fn new(driver: Driver, feed: Feed, map: watch::Receiver<Arc<ClusterMap>>) -> Self {
        let audit = Audit::new(driver.layout().root().join("audit.log"));
        Self {
            driver,
            feed,
            map,
            audit,
            demo: DemoLoad::default(),
            pending: Pending::default(),
            requests: JoinSet::new(),
            issued: std::collections::BTreeMap::new(),
        }
    }

    /// Starts what is missing, then takes commands until their sender is gone; the demo load is stopped then, the
    /// cluster is not. Returns the driver, with which it can be.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Issued>) -> Driver {
        self.driver.ask(Ask::Up);
        self.tell_lives().await;
        loop {
            tokio::select! {
                said = self.driver.next() => self.hear(said).await,
                command = commands.recv() => match command {
                    Some(issued) => self.take(issued).await,
                    None => break,
                },
                Some(Ok((issued, outcome))) = self.requests.join_next() => self.finish(issued.id, outcome).await,
            }
        }
        // It is fine if it was off.
        self.demo.stop(&self.feed).await.ok();
        self.driver
    }

    async fn tell_lives(&self) {
        self.feed.say(lives::profile(self.driver.spec(), self.driver.layout())).await;
        for update in lives::process_updates(&self.driver) {
            self.feed.say(update).await;
        }
    }

    async fn hear(&mut self, said: Said) {
        if let Some(remark) = supervision::remark(&said) {
            self.feed.say(remark).await;
        }
        let Said::Notice(notice) = &said else { return self.tell_lives().await };
        let life = |role: Role| {
            self.driver
                .machine()
                .lives()
                .find(|(known, _)| *known == role)
                .map_or(Life::Absent, |(_, life)| life)
        };
        match lives::notice_update(notice, life) {
            Some(update) => {
                self.feed.say(update).await;
            }
            None => self.tell_lives().await,
        }
        if let Some((id, outcome)) = self.pending.ended_by(notice) {
            self.finish(id, outcome).await;
        }
    }

    async fn take(&mut self, issued: Issued) {
        let Issued { id, command } = issued.clone();
        self.progress(id, Progress::Started(command.to_string())).await;
        self.issued.insert(id, command.clone());
        match &command {
            Command::Broker { broker, order } => self.order(id, supervision::role(*broker), *order).await,
            Command::Zookeeper(order) => self.order(id, Role::Zookeeper, *order).await,
            Command::Load(order) => {
                let bootstrap = self.driver.spec().bootstrap();
                let outcome = self.demo.obey(order, &bootstrap, &self.feed).await;
                self.finish(id, outcome).await;
            }
            Command::MoveLeadership { .. }
            | Command::ElectPreferred { .. }
            | Command::CreateTopic { .. }
            | Command::DeleteTopic { .. } => {
                let map = self.map.clone();
                self.requests.spawn(Box::pin(async move {
                    let outcome = admin::perform(&issued.command, &map).await;
                    (issued, outcome)
                }));
            }
        }
    }

    async fn order(&mut self, id: ActionId, role: Role, order: BrokerOrder) {
        if let Some(replaced) = self.pending.note(role, id, order) {
            self.finish(replaced, Err("replaced by a later order".to_owned())).await;
        }
        self.driver.ask(supervision::ask(role, order));
    }

    async fn finish(&mut self, id: ActionId, outcome: Result<String, String>) {
        if let Some(command) = self.issued.remove(&id) {
            self.audit.write(&command, outcome.as_ref().unwrap_or_else(|why| why));
        }
        let progress = match outcome {
            Ok(what) => Progress::Done(what),
            Err(why) => Progress::Failed(why),
        };
        self.progress(id, progress).await;
    }

    async fn progress(&self, id: ActionId, progress: Progress) {
        self.feed.say(Update::Action(ActionUpdate { id, progress })).await;
    }
}
