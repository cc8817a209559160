//! The demo load, switched on and off and steered.

use tokio::task::AbortHandle;

use crate::action::LoadOrder;
use crate::load::{Demo, DemoOptions, DemoStatus, Order, TOPICS};
use crate::model::{LoadGroup, LoadState, Update};
use crate::source::Feed;

/// How the demo starts when a key turns it on.
const RATE: u32 = 200;
const MEMBERS: u16 = 2;

/// The demo of one console, when it is on.
#[derive(Debug, Default)]
pub(super) struct DemoLoad {
    running: Option<(Demo, AbortHandle)>,
}

impl DemoLoad {
    /// Does what is asked.
    ///
    /// # Errors
    /// In words, when the demo is off or too busy.
    pub(super) async fn obey(
        &mut self,
        order: &LoadOrder,
        bootstrap: &str,
        feed: &Feed,
    ) -> Result<String, String> {
        match order {
            LoadOrder::Start => self.start(bootstrap, feed),
            LoadOrder::Stop => self.stop(feed).await,
            LoadOrder::SetRate(rate) => self.pass_on(Order::Rate(*rate), format!("{rate} records/s")),
            LoadOrder::AddMember { group } => {
                self.pass_on(Order::AddMember(group.clone()), format!("a member joins {group}"))
            }
            LoadOrder::RemoveMember { group } => {
                self.pass_on(Order::RemoveMember(group.clone()), format!("a member leaves {group}"))
            }
        }
    }

    fn start(&mut self, bootstrap: &str, feed: &Feed) -> Result<String, String> {
        if self.running.is_some() {
            return Ok("the demo load is on already".to_owned());
        }
        let options = DemoOptions { bootstrap: bootstrap.to_owned(), rate: RATE, members: MEMBERS };
        let demo = Demo::start(options);
        let mut status = demo.status();
        let feed = feed.clone();
        let reporter = tokio::spawn(async move {
            loop {
                let state = load_state(&status.borrow_and_update(), true);
                feed.say(Update::Load(state)).await;
                if status.changed().await.is_err() {
                    return;
                }
            }
        });
        self.running = Some((demo, reporter.abort_handle()));
        Ok(format!("{RATE} records/s to {} topics, read by two groups", TOPICS.len()))
    }

    /// Stops it; members leave their groups.
    ///
    /// # Errors
    /// In words, when it is off.
    pub(super) async fn stop(&mut self, feed: &Feed) -> Result<String, String> {
        let Some((demo, reporter)) = self.running.take() else {
            return Err("the demo load is off".to_owned());
        };
        let last = load_state(&demo.status().borrow(), false);
        reporter.abort();
        demo.stop().await;
        feed.say(Update::Load(last)).await;
        Ok("members have left their groups; the topics stay".to_owned())
    }

    fn pass_on(&self, order: Order, what: String) -> Result<String, String> {
        match &self.running {
            None => Err("the demo load is off; turn it on first".to_owned()),
            Some((demo, _)) if demo.order(order) => Ok(what),
            Some(_) => Err("the demo load is busy; try again".to_owned()),
        }
    }
}

fn load_state(status: &DemoStatus, running: bool) -> LoadState {
    let groups = status.groups.iter().map(|group| LoadGroup {
        group: group.name.clone(),
        members: u32::try_from(group.members).unwrap_or(u32::MAX),
    });
    LoadState {
        running,
        topics: TOPICS.iter().map(|topic| topic.name.to_owned()).collect(),
        target_per_second: status.rate,
        acknowledged_total: status.produced,
        failed_total: status.failed,
        consumed_total: status.groups.iter().map(|group| group.consumed).sum(),
        groups: groups.collect(),
        error: status.trouble.clone(),
    }
}
