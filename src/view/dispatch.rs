//! From a key to what it does.

use ottla_broker::types::Millis;

use super::binding::Place;
use super::console::{Console, Wish};
use super::dialog::{Answer, Dialog, Leave};
use super::filter::Filter;
use super::key_action::{KeyAction, ViewId};
use super::reaction::Reaction;
use crate::action::{Command, Confirmation, Issued, LoadOrder, plan};
use crate::config::Key;
use crate::model::{ActionId, Model, Severity};
use crate::widget::edit;

/// The fewest and the most records per second that keys set.
const RATE_MIN: u32 = 1;
const RATE_MAX: u32 = 1_000_000;

impl Console {
    /// Takes a key and returns what follows.
    pub fn on_key(&mut self, model: &Model, now: Millis, key: Key) -> Option<Wish> {
        if let Some(dialog) = &mut self.dialog {
            let action = self.bindings.find(model, dialog.place(), self.view, key);
            if action == Some(KeyAction::Interrupt) {
                return self.interrupt(model);
            }
            let answer = dialog.on_key(action, key);
            return self.on_answer(model, now, answer);
        }
        if self.filtering {
            return self.on_filter_key(model, key);
        }
        let Some(action) = self.bindings.find(model, Place::Everywhere, self.view, key) else {
            if let Some(why) = self.bindings.why_not(model, self.view, key) {
                self.say(now, Severity::Warning, why.to_owned());
            }
            return None;
        };
        self.on_action(model, now, action)
    }

    /// Takes pasted text into whatever is being typed.
    pub fn on_paste(&mut self, model: &Model, now: Millis, text: &str) {
        let typing = self.filtering || self.dialog.as_ref().is_some_and(|dialog| dialog.popup.takes_text());
        if typing {
            for c in text.chars().filter(|c| !c.is_control()).take(1_000) {
                self.on_key(model, now, Key::Char(c));
            }
        }
    }

    fn on_answer(&mut self, model: &Model, now: Millis, answer: Answer) -> Option<Wish> {
        if !matches!(answer, Answer::Open) {
            self.dialog = None;
        }
        match answer {
            Answer::Open | Answer::Closed => None,
            Answer::Agreed(command) => match plan(model, command) {
                Ok(plan) => Some(self.issue(plan.command)),
                Err(refusal) => {
                    self.say(now, Severity::Warning, refusal.to_string());
                    None
                }
            },
            Answer::Propose(command) => self.propose(model, now, command),
            Answer::Leave(leave) => Some(Wish::Leave(leave)),
        }
    }

    fn on_filter_key(&mut self, model: &Model, key: Key) -> Option<Wish> {
        match self.bindings.find(model, Place::Filter, self.view, key) {
            Some(KeyAction::Interrupt) => return self.interrupt(model),
            Some(KeyAction::DropFilter) => {
                self.filtering = false;
                if let Some(filter) = self.filter_mut() {
                    filter.input.reset();
                }
            }
            Some(KeyAction::KeepFilter) => self.filtering = false,
            _ => {
                if let Some(filter) = self.filter_mut() {
                    edit(&mut filter.input, key);
                }
            }
        }
        self.settle_view(model);
        None
    }

    /// Does what a key means in a view.
    pub(super) fn on_action(&mut self, model: &Model, now: Millis, action: KeyAction) -> Option<Wish> {
        match action {
            KeyAction::Help => self.dialog = Some(Dialog::help(&self.bindings, model, self.view)),
            KeyAction::Quit => return self.quit(model),
            KeyAction::Interrupt => return self.interrupt(model),
            KeyAction::Suspend => return Some(Wish::Suspend),
            KeyAction::Go(view) => self.go(model, view),
            KeyAction::NextView => self.go(model, ViewId::at(self.view.number() + 1)),
            KeyAction::PreviousView => {
                self.go(model, ViewId::at(self.view.number() + ViewId::ALL.len() - 1));
            }
            KeyAction::Pause => self.pause(model, now),
            KeyAction::Theme => {
                self.theme = (self.theme + 1) % self.themes.len().max(1);
                let text = format!("theme {}: {}", self.theme().name, self.theme().about);
                self.say(now, Severity::Info, text);
            }
            KeyAction::Filter => self.filtering = self.filter_mut().is_some(),
            KeyAction::Back => self.back(model),
            KeyAction::CreateTopic => {
                return self.on_reaction(model, now, Reaction::Ask(Box::new(Dialog::create_topic(model))));
            }
            KeyAction::ElectAll => {
                return self.propose(model, now, Command::ElectPreferred { partitions: Vec::new() });
            }
            KeyAction::ToggleLoad => {
                let order = if model.load.state.running { LoadOrder::Stop } else { LoadOrder::Start };
                return self.propose(model, now, Command::Load(order));
            }
            KeyAction::Faster | KeyAction::Slower => {
                let rate = model.load.state.target_per_second;
                let rate = if action == KeyAction::Faster { rate.saturating_mul(2) } else { rate / 2 };
                let order = LoadOrder::SetRate(rate.clamp(RATE_MIN, RATE_MAX));
                return self.propose(model, now, Command::Load(order));
            }
            KeyAction::AddMember | KeyAction::RemoveMember => {
                let reaction = self.change_members(model, action == KeyAction::AddMember);
                return self.on_reaction(model, now, reaction);
            }
            _ => {
                let reaction = self.view_action(model, action);
                self.settle_view(model);
                return self.on_reaction(model, now, reaction);
            }
        }
        None
    }

    fn view_action(&mut self, model: &Model, action: KeyAction) -> Reaction {
        match self.view {
            ViewId::Overview => self.overview.on_action(model, action),
            ViewId::Brokers => self.brokers.on_action(model, action),
            ViewId::Partitions => self.partitions.on_action(model, action),
            ViewId::Groups => self.groups.on_action(action),
            ViewId::Network => self.network.on_action(action),
            ViewId::Events => self.events.on_action(action),
        }
    }

    fn on_reaction(&mut self, model: &Model, now: Millis, reaction: Reaction) -> Option<Wish> {
        match reaction {
            Reaction::Done | Reaction::Unknown => {}
            Reaction::Propose(command) => return self.propose(model, now, command),
            Reaction::Ask(_) if model.cluster.profile.read_only => {
                self.say(now, Severity::Warning, "this console may only look".to_owned());
            }
            Reaction::Ask(dialog) => self.dialog = Some(*dialog),
            Reaction::Say(text) => self.say(now, Severity::Warning, text),
            Reaction::Go(view) => self.go(model, view),
        }
        None
    }

    /// Carries a command out, asks first, or says why not.
    fn propose(&mut self, model: &Model, now: Millis, command: Command) -> Option<Wish> {
        match plan(model, command) {
            Err(refusal) => {
                self.say(now, Severity::Warning, refusal.to_string());
                None
            }
            Ok(plan) if plan.confirmation == Confirmation::None => Some(self.issue(plan.command)),
            Ok(plan) => {
                self.dialog = Some(Dialog::confirm(plan));
                None
            }
        }
    }

    fn issue(&mut self, command: Command) -> Wish {
        let id = ActionId(self.next_action);
        self.next_action += 1;
        Wish::Command(Issued { id, command })
    }

    /// Adds or takes out a member where it is clear which group is meant, else asks.
    fn change_members(&self, model: &Model, add: bool) -> Reaction {
        let order = |group: String| {
            Command::Load(if add {
                LoadOrder::AddMember { group }
            } else {
                LoadOrder::RemoveMember { group }
            })
        };
        let groups = &model.load.state.groups;
        let selected = (self.view == ViewId::Groups).then(|| self.groups.selected()).flatten();
        if let Some(group) = groups.iter().find(|group| Some(&group.group) == selected) {
            return Reaction::Propose(order(group.group.clone()));
        }
        match groups.as_slice() {
            [] => Reaction::Say("the demo load has no groups yet".to_owned()),
            [only] => Reaction::Propose(order(only.group.clone())),
            _ => Reaction::Ask(Box::new(Dialog::choose_group(model, add))),
        }
    }

    fn go(&mut self, model: &Model, view: ViewId) {
        self.view = view;
        self.settle_view(model);
    }

    /// Goes back one step: out of the filter, the detail, the view.
    fn back(&mut self, model: &Model) {
        if self.filter_mut().is_some_and(|filter| filter.is_set()) {
            if let Some(filter) = self.filter_mut() {
                filter.input.reset();
            }
            self.settle_view(model);
        } else if self.paused.is_some() {
            self.paused = None;
        } else if !self.groups_back() {
            self.go(model, ViewId::Overview);
        }
    }

    fn groups_back(&mut self) -> bool {
        self.view == ViewId::Groups && self.groups.close_detail()
    }

    fn pause(&mut self, model: &Model, now: Millis) {
        self.paused = match self.paused.take() {
            Some(_) => None,
            None => Some(Box::new((model.clone(), now))),
        };
    }

    fn quit(&mut self, model: &Model) -> Option<Wish> {
        if !model.owns_processes() {
            return Some(Wish::Leave(Leave::LeaveRunning));
        }
        self.dialog = Some(Dialog::quit(model));
        None
    }

    fn interrupt(&mut self, model: &Model) -> Option<Wish> {
        if self.dialog.as_ref().is_some_and(Dialog::is_quit) {
            return Some(Wish::Leave(Leave::LeaveRunning));
        }
        self.quit(model)
    }

    /// Returns the filter of the view that is shown, if it has one.
    pub(super) fn filter_mut(&mut self) -> Option<&mut Filter> {
        match self.view {
            ViewId::Overview | ViewId::Network => None,
            ViewId::Brokers => Some(&mut self.brokers.filter),
            ViewId::Partitions => Some(&mut self.partitions.filter),
            ViewId::Groups => Some(&mut self.groups.filter),
            ViewId::Events => Some(&mut self.events.filter),
        }
    }

    /// Returns the filter of the view that is shown, if it has one.
    pub(super) fn filter(&self) -> Option<&Filter> {
        match self.view {
            ViewId::Overview | ViewId::Network => None,
            ViewId::Brokers => Some(&self.brokers.filter),
            ViewId::Partitions => Some(&self.partitions.filter),
            ViewId::Groups => Some(&self.groups.filter),
            ViewId::Events => Some(&self.events.filter),
        }
    }
}
