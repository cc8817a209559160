//! All views together, and what lies above them.

use ottla_broker::types::Millis;

use super::binding::Bindings;
use super::brokers::Brokers;
use super::dialog::{Dialog, Leave};
use super::events::Events;
use super::groups::Groups;
use super::key_action::ViewId;
use super::network::NetworkView;
use super::overview::Overview;
use super::partitions::Partitions;
use super::words::span;
use crate::action::Issued;
use crate::config::{Keymap, Theme};
use crate::model::{ActionId, Model, Progress, Severity, ZookeeperConnection};
use crate::widget::Glyphs;

/// How long a message stays.
const TOAST_MS: i64 = 5_000;
/// How often figures that grow by themselves are drawn anew while something waits.
const TICK_MS: i64 = 200;

/// What the console wants of whoever runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// That this be done.
    Command(Issued),
    /// To be left.
    Leave(Leave),
    /// To be stopped until the shell continues it.
    Suspend,
}

/// All views together, and what lies above them.
#[derive(Debug)]
pub struct Console {
    pub(super) view: ViewId,
    pub(super) overview: Overview,
    pub(super) brokers: Brokers,
    pub(super) partitions: Partitions,
    pub(super) groups: Groups,
    pub(super) network: NetworkView,
    pub(super) events: Events,
    pub(super) bindings: Bindings,
    pub(super) themes: Vec<Theme>,
    pub(super) theme: usize,
    pub(super) glyphs: Glyphs,
    /// Whether a filter is being typed.
    pub(super) filtering: bool,
    pub(super) dialog: Option<Dialog>,
    pub(super) toast: Option<Toasting>,
    /// What is on the screen while it is held still.
    pub(super) paused: Option<Box<(Model, Millis)>>,
    pub(super) next_action: u64,
    /// What was told of the newest action.
    told: Option<(ActionId, Progress)>,
    /// The model's version and the view that were settled last.
    settled: Option<(u64, ViewId)>,
}

/// A message that goes away by itself.
#[derive(Debug, Clone)]
pub(super) struct Toasting {
    pub(super) text: String,
    pub(super) severity: Severity,
    pub(super) until: Millis,
}

impl Console {
    /// Returns a console with these themes, of which the first is used.
    pub fn new(themes: Vec<Theme>, glyphs: Glyphs, keymap: &Keymap) -> Self {
        let themes = if themes.is_empty() { vec![Theme::default()] } else { themes };
        Self {
            view: ViewId::default(),
            overview: Overview::default(),
            brokers: Brokers::default(),
            partitions: Partitions::default(),
            groups: Groups::default(),
            network: NetworkView::default(),
            events: Events::default(),
            bindings: Bindings::new(keymap),
            themes,
            theme: 0,
            glyphs,
            filtering: false,
            dialog: None,
            toast: None,
            paused: None,
            next_action: 1,
            told: None,
            settled: None,
        }
    }

    /// Returns the theme in use.
    pub fn theme(&self) -> &Theme {
        // There is always one, and the number is always within.
        static FALLBACK: std::sync::OnceLock<Theme> = std::sync::OnceLock::new();
        self.themes.get(self.theme).unwrap_or_else(|| FALLBACK.get_or_init(Theme::default))
    }

    /// Returns the view that is shown.
    pub fn view(&self) -> ViewId {
        self.view
    }

    /// Brings the order of rows up to date after the model or a view's settings changed.
    pub fn settle(&mut self, model: &Model, now: Millis) {
        if self.toast.as_ref().is_some_and(|toast| toast.until <= now) {
            self.toast = None;
        }
        self.tell_of_actions(model, now);
        let version = (model.version, self.view);
        if self.paused.is_none() && self.settled != Some(version) {
            self.settle_view(model);
            self.settled = Some(version);
        }
    }

    /// Brings the rows of the shown view up to date.
    pub(super) fn settle_view(&mut self, model: &Model) {
        match self.view {
            ViewId::Overview => self.overview.settle(model),
            ViewId::Brokers => self.brokers.settle(model),
            ViewId::Partitions => self.partitions.settle(model),
            ViewId::Groups => self.groups.settle(model),
            ViewId::Network => self.network.settle(model),
            ViewId::Events => self.events.settle(model),
        }
    }

    /// Says what became of what the operator asked for.
    fn tell_of_actions(&mut self, model: &Model, now: Millis) {
        let Some(newest) = model.actions.newest_first().next() else { return };
        let seen = (newest.id, newest.progress.clone());
        if self.told.as_ref() == Some(&seen) {
            return;
        }
        let took = newest
            .ended_at
            .map(|ended| ended.since(newest.started_at))
            .filter(|took| took.0 > 0)
            .map_or_else(String::new, |took| format!(" ({})", span(took)));
        let (severity, text) = match &newest.progress {
            Progress::Started(_) => (Severity::Info, newest.what.clone()),
            Progress::Step(step) => (Severity::Info, format!("{}: {step}", newest.what)),
            Progress::Done(outcome) if outcome.is_empty() => {
                (Severity::Good, format!("{}: done{took}", newest.what))
            }
            Progress::Done(outcome) => (Severity::Good, format!("{}: {outcome}{took}", newest.what)),
            Progress::Failed(why) => (Severity::Critical, format!("{} failed: {why}", newest.what)),
        };
        self.told = Some(seen);
        self.say(now, severity, text);
    }

    /// Shows a message for a while.
    pub(super) fn say(&mut self, now: Millis, severity: Severity, text: String) {
        self.toast = Some(Toasting { text, severity, until: now.plus(Millis(TOAST_MS)) });
    }

    /// Returns when something on the screen changes by itself: a message that goes, a time that grows.
    pub fn next_deadline(&self, model: &Model, now: Millis) -> Option<Millis> {
        let toast = self.toast.as_ref().map(|toast| toast.until);
        if self.paused.is_some() {
            return toast;
        }
        let waiting = model.summary.offline > 0
            || model.summary.rebalancing > 0
            || model.cluster.controllerless_since.is_some();
        let ageing = model.sources.values().any(|source| source.stale.is_some())
            || model.summary.brokers_up < model.summary.brokers
            || !matches!(model.cluster.zookeeper, ZookeeperConnection::Connected { .. });
        let next = if waiting {
            Some(now.plus(Millis(TICK_MS)))
        } else if ageing {
            Some(Millis((now.0.div_euclid(1_000) + 1).saturating_mul(1_000)))
        } else {
            None
        };
        match (toast, next) {
            (Some(toast), Some(next)) => Some(toast.min(next)),
            (one, other) => one.or(other),
        }
    }
}
