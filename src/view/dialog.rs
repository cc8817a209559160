//! Questions, and what their answers mean.

use std::cell::Cell;
use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, TopicPartition};
use tui_input::Input;

use super::binding::{Bindings, Place};
use super::key_action::{KeyAction, ViewId};
use crate::action::{Command, Confirmation, LoadOrder, Plan, check_topic_name, leadership_candidates};
use crate::config::Key;
use crate::model::Model;
use crate::widget::{
    Button, Choice, ChoiceItem, Confirm, Field, Form, Help, HelpEntry, HelpSection, Popup, Reply,
};

/// How the console is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// The cluster goes on.
    LeaveRunning,
    /// The cluster is stopped.
    StopAll,
}

/// A question and what it is for.
#[derive(Debug)]
pub(super) struct Dialog {
    /// The question.
    pub popup: Popup,
    /// What it is for.
    purpose: Purpose,
}

/// What a question is for.
#[derive(Debug)]
enum Purpose {
    Confirm(Command),
    Move { partition: TopicPartition, candidates: Vec<BrokerId> },
    CreateTopic,
    AddMember(Vec<String>),
    RemoveMember(Vec<String>),
    Quit,
    Help,
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Answer {
    /// The question stays.
    Open,
    /// It is closed.
    Closed,
    /// It is closed and this must be done; it was agreed to.
    Agreed(Command),
    /// It is closed and this is wanted; it may have to be agreed to.
    Propose(Command),
    /// It is closed and the console is left.
    Leave(Leave),
}

impl Dialog {
    /// Asks whether a plan is to be carried out.
    pub(super) fn confirm(plan: Plan) -> Self {
        let title = sentence(&plan.command.to_string());
        let ask = Confirm::ask(title, plan.consequences, plan.yes);
        let ask = match plan.confirmation {
            Confirmation::None | Confirmation::Ask => ask,
            Confirmation::Danger => ask.danger(),
            Confirmation::Type(word) => ask.danger().typed(word),
        };
        Self { popup: Popup::Confirm(ask), purpose: Purpose::Confirm(plan.command) }
    }

    /// Asks which in-sync replica is to lead a partition.
    ///
    /// # Errors
    /// When there is none that could.
    pub(super) fn move_leadership(model: &Model, name: &TopicPartition) -> Result<Self, String> {
        let partition = model.partition(name).ok_or_else(|| format!("there is no partition {name}"))?;
        let candidates = leadership_candidates(model, partition);
        if candidates.is_empty() {
            return Err(format!("{name} has no other in-sync replica to move to"));
        }
        let items = candidates
            .iter()
            .map(|id| {
                let preferred = partition.preferred_leader() == Some(*id);
                let lag = partition.logs.get(id).and_then(|log| log.lag);
                let lag = lag.map_or_else(String::new, |lag| format!(", {lag} records behind"));
                let leads = model.summary.share(*id).leaders;
                let note = format!(
                    "in sync{lag}, leads {leads}{}",
                    if preferred { ", the preferred leader" } else { "" }
                );
                ChoiceItem { label: format!("broker {id}"), note }
            })
            .collect();
        let leader = partition.leader().map_or_else(|| "nobody".to_owned(), |id| format!("broker {id}"));
        let lines = vec![format!("{leader} leads it now; producers and consumers follow within a request.")];
        let choice = Choice { title: format!("Move leadership of {name} to"), lines, items, chosen: 0 };
        Ok(Self {
            popup: Popup::Choice(choice),
            purpose: Purpose::Move { partition: name.clone(), candidates },
        })
    }

    /// Asks what topic is to be created.
    pub(super) fn create_topic(model: &Model) -> Self {
        let replicas = model.summary.brokers_up.clamp(1, 3);
        let field = |label, value: String, hint: &str, check| Field {
            label,
            input: Input::new(value),
            hint: hint.to_owned(),
            check,
        };
        let fields = vec![
            field("name", String::new(), "letters, digits, '.', '_' and '-'", check_topic_name),
            field(
                "partitions",
                "6".to_owned(),
                "how many consumers of a group can share it",
                check_partitions,
            ),
            field("replicas", replicas.to_string(), "how many brokers keep a copy", check_replicas),
            field(
                "settings",
                String::new(),
                "key=value, separated by blanks; may stay empty",
                check_settings,
            ),
        ];
        let form = Form { title: "New topic".to_owned(), lines: Vec::new(), fields, focus: 0, error: None };
        Self { popup: Popup::Form(form), purpose: Purpose::CreateTopic }
    }

    /// Asks which group of the demo load gets or loses a member.
    pub(super) fn choose_group(model: &Model, add: bool) -> Self {
        let known = &model.load.state.groups;
        let items = known
            .iter()
            .map(|group| ChoiceItem {
                label: group.group.clone(),
                note: format!("{} members of the demo load", group.members),
            })
            .collect();
        let groups: Vec<_> = known.iter().map(|group| group.group.clone()).collect();
        let title = if add { "Add a member to" } else { "Take a member out of" };
        let choice = Choice { title: title.to_owned(), lines: Vec::new(), items, chosen: 0 };
        let purpose = if add { Purpose::AddMember(groups) } else { Purpose::RemoveMember(groups) };
        Self { popup: Popup::Choice(choice), purpose }
    }

    /// Asks whether the cluster is to go on.
    pub(super) fn quit(model: &Model) -> Self {
        let up = model.summary.brokers_up;
        let mut lines =
            vec![format!("{up} of {} brokers are up. They do not need the console.", model.summary.brokers)];
        if model.load.state.running {
            lines.push("The demo load ends with the console.".to_owned());
        }
        let button = |label: &str| Button { label: label.to_owned() };
        let ask = Confirm {
            title: "Leave the console".to_owned(),
            lines,
            buttons: vec![button("Cancel"), button("Leave running"), button("Stop everything")],
            chosen: 1,
            danger: false,
            typed: None,
            yes: true,
        };
        Self { popup: Popup::Confirm(ask), purpose: Purpose::Quit }
    }

    /// Shows the keys that work in a view.
    pub(super) fn help(bindings: &Bindings, model: &Model, view: ViewId) -> Self {
        let mut here = Vec::new();
        let mut moving = Vec::new();
        let mut everywhere = Vec::new();
        for (binding, keys) in bindings.at(model, Place::Everywhere, view) {
            let keys = keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ");
            let entry = HelpEntry { keys, text: binding.help };
            if binding.name.starts_with("move.") {
                moving.push(entry);
            } else if binding.place == Place::Everywhere {
                everywhere.push(entry);
            } else {
                here.push(entry);
            }
        }
        let section = |title: &str, entries| HelpSection { title: title.to_owned(), entries };
        let sections = [
            section(&format!("In {}", view.name()), here),
            section("Moving", moving),
            section("Everywhere", everywhere),
        ];
        let sections = sections.into_iter().filter(|section| !section.entries.is_empty()).collect();
        let title = format!("Keys that work in {}", view.name());
        Self { popup: Popup::Help(Help { title, sections, scroll: Cell::new(0) }), purpose: Purpose::Help }
    }

    /// Returns where its keys are in the table.
    pub(super) fn place(&self) -> Place {
        match &self.popup {
            Popup::Confirm(_) if self.popup.takes_text() => Place::TypedConfirm,
            Popup::Confirm(_) => Place::Confirm,
            Popup::Choice(_) => Place::Choice,
            Popup::Form(_) => Place::Form,
            Popup::Help(_) => Place::Help,
        }
    }

    /// Returns whether it asks how the console is to be left.
    pub(super) fn is_quit(&self) -> bool {
        matches!(self.purpose, Purpose::Quit)
    }

    /// Takes a key: what it means, or what is typed.
    pub(super) fn on_key(&mut self, action: Option<KeyAction>, key: Key) -> Answer {
        use crate::widget::PopupKey;
        let meaning = match action {
            Some(KeyAction::Accept) => PopupKey::Accept,
            Some(KeyAction::Cancel) => PopupKey::Cancel,
            Some(KeyAction::Yes) => PopupKey::Yes,
            Some(KeyAction::Next) => PopupKey::Next,
            Some(KeyAction::Previous) => PopupKey::Previous,
            Some(KeyAction::PageDown) => PopupKey::PageDown,
            Some(KeyAction::PageUp) => PopupKey::PageUp,
            _ if self.popup.takes_text() => PopupKey::Edit(key),
            _ => return Answer::Open,
        };
        match self.popup.on_key(meaning) {
            Reply::Pending => Answer::Open,
            Reply::Cancelled => Answer::Closed,
            Reply::Chosen(number) => self.chosen(number),
            Reply::Submitted(values) => match (&self.purpose, values.as_slice()) {
                (Purpose::CreateTopic, [name, partitions, replicas, settings]) => {
                    Answer::Propose(create_command(name, partitions, replicas, settings))
                }
                _ => Answer::Closed,
            },
        }
    }

    fn chosen(&self, number: usize) -> Answer {
        let load = |groups: &[String], order: fn(String) -> LoadOrder| match groups.get(number) {
            Some(group) => Answer::Propose(Command::Load(order(group.clone()))),
            None => Answer::Closed,
        };
        match &self.purpose {
            Purpose::Confirm(command) => Answer::Agreed(command.clone()),
            Purpose::Move { partition, candidates } => match candidates.get(number) {
                Some(to) => {
                    Answer::Propose(Command::MoveLeadership { partition: partition.clone(), to: *to })
                }
                None => Answer::Closed,
            },
            Purpose::AddMember(groups) => load(groups, |group| LoadOrder::AddMember { group }),
            Purpose::RemoveMember(groups) => load(groups, |group| LoadOrder::RemoveMember { group }),
            Purpose::Quit if number == 1 => Answer::Leave(Leave::LeaveRunning),
            Purpose::Quit if number == 2 => Answer::Leave(Leave::StopAll),
            Purpose::Quit | Purpose::CreateTopic | Purpose::Help => Answer::Closed,
        }
    }
}

fn create_command(name: &str, partitions: &str, replicas: &str, settings: &str) -> Command {
    Command::CreateTopic {
        name: name.trim().to_owned(),
        partitions: partitions.trim().parse().unwrap_or(0),
        replication_factor: replicas.trim().parse().unwrap_or(0),
        configs: settings
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
    }
}

fn check_partitions(text: &str) -> Result<(), String> {
    match text.trim().parse::<i32>() {
        Ok(1..=10_000) => Ok(()),
        _ => Err("partitions: a number from 1 to 10000".to_owned()),
    }
}

fn check_replicas(text: &str) -> Result<(), String> {
    match text.trim().parse::<i16>() {
        Ok(1..) => Ok(()),
        _ => Err("replicas: a number from 1".to_owned()),
    }
}

fn check_settings(text: &str) -> Result<(), String> {
    match text.split_whitespace().find(|pair| pair.split_once('=').is_none_or(|(key, _)| key.is_empty())) {
        Some(pair) => Err(format!("settings: \"{pair}\" is not key=value")),
        None => Ok(()),
    }
}

/// Returns the text with a capital letter at its beginning and a question mark at its end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}?", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}
