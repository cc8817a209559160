//! The one table of keys: dispatch, footer, help and the documentation are made from it.

use super::key_action::{KeyAction, ViewId};
use crate::config::{Key, Keymap};
use crate::model::Model;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In every view.
    Everywhere,
    /// In these views.
    In(&'static [ViewId]),
    /// While a filter is typed.
    Filter,
    /// In a question.
    Confirm,
    /// In a question that wants a word typed.
    TypedConfirm,
    /// In a choice.
    Choice,
    /// In a form.
    Form,
    /// In the help.
    Help,
}

/// What must be so for a key to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The console may change things.
    Change,
    /// The console runs brokers.
    OwnBrokers,
    /// The demo load is on.
    Load,
}

impl Needs {
    /// Returns whether it is so.
    pub fn met(self, model: &Model) -> bool {
        let may_change = !model.cluster.profile.read_only;
        match self {
            Self::Nothing => true,
            Self::Change => may_change,
            Self::OwnBrokers => may_change && model.brokers.values().any(crate::model::Broker::is_owned),
            Self::Load => may_change && model.load.state.running,
        }
    }
}

/// A key and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Its name in key map files.
    pub name: &'static str,
    /// What it means.
    pub action: KeyAction,
    /// The keys, the first one shown.
    pub keys: &'static [Key],
    /// Where it works.
    pub place: Place,
    /// What must be so.
    pub needs: Needs,
    /// What the footer says; nothing when it is not shown there.
    pub hint: &'static str,
    /// What the help says.
    pub help: &'static str,
}

const LISTS: Place = Place::In(&ViewId::ALL);
const FILTERED: Place = Place::In(&[ViewId::Brokers, ViewId::Partitions, ViewId::Groups, ViewId::Events]);
const SORTED: Place = Place::In(&[ViewId::Brokers, ViewId::Partitions, ViewId::Groups]);
const BROKERS: Place = Place::In(&[ViewId::Overview, ViewId::Brokers]);
const PARTITIONS: Place = Place::In(&[ViewId::Partitions]);
const TOPICS: Place = Place::In(&[ViewId::Overview, ViewId::Partitions]);
const LOAD: Place = Place::In(&[ViewId::Overview, ViewId::Groups]);

macro_rules! binding {
    ($name:literal, $action:expr, [$($key:expr),*], $place:expr, $needs:ident, $hint:literal, $help:literal) => {
        Binding {
            name: $name,
            action: $action,
            keys: &[$($key),*],
            place: $place,
            needs: Needs::$needs,
            hint: $hint,
            help: $help,
        }
    };
}

use Key::{BackTab, Char, Ctrl, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Right, Tab, Up};
use KeyAction as A;
use Place::{Choice, Confirm, Everywhere, Filter, Form, Help, TypedConfirm};

/// Every key there is. Of two that could be meant, the first that works here counts.
#[rustfmt::skip]
pub const BINDINGS: &[Binding] = &[
    binding!("broker.stop", A::StopBroker, [Char('x')], BROKERS, OwnBrokers, "stop", "stop the broker in order: it hands over first"),
    binding!("broker.kill", A::KillBroker, [Char('X')], BROKERS, OwnBrokers, "kill", "kill the broker where it stands (SIGKILL)"),
    binding!("broker.freeze", A::FreezeBroker, [Char('Z')], BROKERS, OwnBrokers, "freeze", "freeze the broker (SIGSTOP), or let it go on"),
    binding!("broker.restart", A::RestartBroker, [Char('R')], BROKERS, OwnBrokers, "restart", "restart the broker, or start it when it is down"),

    binding!("partition.move", A::MoveLeadership, [Char('m')], PARTITIONS, Change, "move leader", "move leadership to another in-sync replica"),
    binding!("partition.prefer", A::ElectPreferred, [Char('e')], PARTITIONS, Change, "prefer", "elect the preferred leader of this partition"),
    binding!("partition.prefer-all", A::ElectAll, [Char('E')], TOPICS, Change, "prefer all", "elect the preferred leaders of all partitions"),
    binding!("topic.create", A::CreateTopic, [Char('n')], TOPICS, Change, "new topic", "create a topic"),
    binding!("topic.delete", A::DeleteTopic, [Char('D')], PARTITIONS, Change, "delete", "delete the topic, after its name is typed"),

    binding!("load.toggle", A::ToggleLoad, [Char('L')], LOAD, Change, "demo load", "turn the demo load on or off"),
    binding!("load.add-member", A::AddMember, [Char('+'), Char('=')], LOAD, Load, "add member", "add a member to a group of the demo load"),
    binding!("load.remove-member", A::RemoveMember, [Char('-')], LOAD, Load, "remove", "take a member out of a group of the demo load"),
    binding!("load.faster", A::Faster, [Char('>')], LOAD, Load, "", "demo load: write twice as fast"),
    binding!("load.slower", A::Slower, [Char('<')], LOAD, Load, "", "demo load: write half as fast"),

    binding!("list.open", A::Open, [Enter], Place::In(&[ViewId::Overview, ViewId::Groups, ViewId::Events]), Nothing, "open", "open what is under the cursor"),
    binding!("list.filter", A::Filter, [Char('/')], FILTERED, Nothing, "filter", "show only what contains a text; !text: what does not"),
    binding!("list.sort", A::Sort, [Char('s')], SORTED, Nothing, "sort", "sort by the next column"),
    binding!("list.reverse", A::ReverseSort, [Char('S')], SORTED, Nothing, "", "sort the other way round"),
    binding!("partition.matrix", A::Matrix, [Char('v')], PARTITIONS, Nothing, "matrix", "show the table or the leadership matrix"),
    binding!("partition.internal", A::Internal, [Char('i')], TOPICS, Nothing, "internal", "show or hide internal topics"),
    binding!("list.trouble", A::OnlyTrouble, [Char('w')], Place::In(&[ViewId::Partitions, ViewId::Events]), Nothing, "only trouble", "show only what is wrong"),

    binding!("move.up", A::Up, [Up, Char('k')], LISTS, Nothing, "", "a row up"),
    binding!("move.down", A::Down, [Down, Char('j')], LISTS, Nothing, "", "a row down"),
    binding!("move.page-up", A::PageUp, [PageUp, Ctrl('b')], LISTS, Nothing, "", "a page up"),
    binding!("move.page-down", A::PageDown, [PageDown, Ctrl('f')], LISTS, Nothing, "", "a page down"),
    binding!("move.top", A::Top, [Char('g'), Home], LISTS, Nothing, "", "to the first row"),
    binding!("move.bottom", A::Bottom, [Char('G'), End], LISTS, Nothing, "", "to the last row"),

    binding!("help", A::Help, [Char('?'), F(1)], Everywhere, Nothing, "help", "show the keys that work here"),
    binding!("quit", A::Quit, [Char('q')], Everywhere, Nothing, "quit", "leave; asks whether the cluster is to go on"),
    binding!("view.next", A::NextView, [Tab, Right], Everywhere, Nothing, "", "the next view"),
    binding!("view.previous", A::PreviousView, [BackTab, Left], Everywhere, Nothing, "", "the view before"),
    binding!("view.overview", A::Go(ViewId::Overview), [Char('1')], Everywhere, Nothing, "", "overview: everything at a glance"),
    binding!("view.brokers", A::Go(ViewId::Brokers), [Char('2')], Everywhere, Nothing, "", "brokers and their processes"),
    binding!("view.partitions", A::Go(ViewId::Partitions), [Char('3')], Everywhere, Nothing, "", "partitions and who leads them"),
    binding!("view.groups", A::Go(ViewId::Groups), [Char('4')], Everywhere, Nothing, "", "consumer groups and their lag"),
    binding!("view.network", A::Go(ViewId::Network), [Char('5')], Everywhere, Nothing, "", "network: queues, threads, requests"),
    binding!("view.events", A::Go(ViewId::Events), [Char('6')], Everywhere, Nothing, "", "events: what happened"),
    binding!("pause", A::Pause, [Char('p')], Everywhere, Nothing, "pause", "hold the screen still; data keeps coming"),
    binding!("theme", A::Theme, [Char('T')], Everywhere, Nothing, "", "the next theme"),
    binding!("back", A::Back, [Esc], Everywhere, Nothing, "", "back: first the filter, then the detail, then the view"),
    binding!("interrupt", A::Interrupt, [Ctrl('c')], Everywhere, Nothing, "", "leave; twice: leave the cluster running"),

    binding!("suspend", A::Suspend, [Ctrl('z')], Everywhere, Nothing, "", "stop the console until the shell continues it"),

    binding!("filter.keep", A::KeepFilter, [Enter, Down, Tab], Filter, Nothing, "keep", "keep the filter"),
    binding!("filter.drop", A::DropFilter, [Esc], Filter, Nothing, "clear", "drop the filter"),
    binding!("filter.interrupt", A::Interrupt, [Ctrl('c')], Filter, Nothing, "", "leave"),

    binding!("confirm.accept", A::Accept, [Enter], Confirm, Nothing, "press", "press the chosen button"),
    binding!("confirm.yes", A::Yes, [Char('y')], Confirm, Nothing, "yes", "say yes"),
    binding!("confirm.cancel", A::Cancel, [Esc, Char('n'), Char('q')], Confirm, Nothing, "cancel", "close, and change nothing"),
    binding!("confirm.next", A::Next, [Tab, Right, Down, Char('l')], Confirm, Nothing, "next", "the next button"),
    binding!("confirm.previous", A::Previous, [BackTab, Left, Up, Char('h')], Confirm, Nothing, "", "the button before"),
    binding!("confirm.interrupt", A::Interrupt, [Ctrl('c')], Confirm, Nothing, "", "leave"),

    binding!("typed.accept", A::Accept, [Enter], TypedConfirm, Nothing, "go on", "go on, once the name is typed"),
    binding!("typed.cancel", A::Cancel, [Esc], TypedConfirm, Nothing, "cancel", "close, and change nothing"),
    binding!("typed.interrupt", A::Interrupt, [Ctrl('c')], TypedConfirm, Nothing, "", "leave"),

    binding!("choice.accept", A::Accept, [Enter], Choice, Nothing, "choose", "take what is under the cursor"),
    binding!("choice.cancel", A::Cancel, [Esc, Char('q')], Choice, Nothing, "cancel", "close, and change nothing"),
    binding!("choice.next", A::Next, [Down, Char('j'), Tab], Choice, Nothing, "next", "the next one"),
    binding!("choice.previous", A::Previous, [Up, Char('k'), BackTab], Choice, Nothing, "", "the one before"),
    binding!("choice.interrupt", A::Interrupt, [Ctrl('c')], Choice, Nothing, "", "leave"),

    binding!("form.accept", A::Accept, [Enter], Form, Nothing, "go on", "to the next field, then send it"),
    binding!("form.cancel", A::Cancel, [Esc], Form, Nothing, "cancel", "close, and change nothing"),
    binding!("form.next", A::Next, [Tab, Down], Form, Nothing, "next", "the next field"),
    binding!("form.previous", A::Previous, [BackTab, Up], Form, Nothing, "", "the field before"),
    binding!("form.interrupt", A::Interrupt, [Ctrl('c')], Form, Nothing, "", "leave"),

    binding!("help.close", A::Cancel, [Esc, Char('?'), Char('q'), Enter, F(1)], Help, Nothing, "close", "close the help"),
    binding!("help.down", A::Next, [Down, Char('j')], Help, Nothing, "scroll", "a row down"),
    binding!("help.up", A::Previous, [Up, Char('k')], Help, Nothing, "", "a row up"),
    binding!("help.page-down", A::PageDown, [PageDown, Ctrl('f'), Char(' ')], Help, Nothing, "", "a page down"),
    binding!("help.page-up", A::PageUp, [PageUp, Ctrl('b')], Help, Nothing, "", "a page up"),
    binding!("help.interrupt", A::Interrupt, [Ctrl('c')], Help, Nothing, "", "leave"),
];

/// The table with the operator's own keys in it.
#[derive(Debug, Clone)]
pub struct Bindings {
    list: Vec<(Binding, Vec<Key>)>,
}

impl Default for Bindings {
    fn default() -> Self {
        Self::new(&Keymap::default())
    }
}

impl Bindings {
    /// Returns the table with the keys of a key map in place of the built-in ones.
    pub fn new(keymap: &Keymap) -> Self {
        let keys = |binding: &Binding| match keymap.keys.get(binding.name) {
            Some(keys) => keys.clone(),
            None => binding.keys.to_vec(),
        };
        Self { list: BINDINGS.iter().map(|binding| (*binding, keys(binding))).collect() }
    }

    /// Returns whether a name is in the table, for key map files.
    pub fn knows(name: &str) -> bool {
        BINDINGS.iter().any(|binding| binding.name == name)
    }

    /// Returns what works at a place, in the order of the table.
    pub fn at<'a>(
        &'a self,
        model: &'a Model,
        place: Place,
        view: ViewId,
    ) -> impl Iterator<Item = (&'a Binding, &'a [Key])> + 'a {
        self.list
            .iter()
            .filter(move |(binding, keys)| {
                !keys.is_empty() && is_at(binding.place, place, view) && binding.needs.met(model)
            })
            .map(|(binding, keys)| (binding, keys.as_slice()))
    }

    /// Returns what a key means at a place.
    pub fn find(&self, model: &Model, place: Place, view: ViewId, key: Key) -> Option<KeyAction> {
        self.at(model, place, view).find(|(_, keys)| keys.contains(&key)).map(|(binding, _)| binding.action)
    }

    /// Returns why a key does nothing here though it is in the table, in words.
    pub fn why_not(&self, model: &Model, view: ViewId, key: Key) -> Option<&'static str> {
        let (binding, _) = self
            .list
            .iter()
            .find(|(binding, keys)| keys.contains(&key) && is_at(binding.place, Everywhere, view))?;
        if model.cluster.profile.read_only {
            return Some("this console may only look: it was started with --read-only");
        }
        match binding.needs {
            Needs::OwnBrokers => Some("no broker's process is run by this console"),
            Needs::Load => Some("the demo load is off: L turns it on"),
            Needs::Nothing | Needs::Change => None,
        }
    }
}

/// Returns whether what is bound at `bound` works at `place` in `view`; a view is at [`Place::Everywhere`].
fn is_at(bound: Place, place: Place, view: ViewId) -> bool {
    match bound {
        Place::In(views) => place == Everywhere && views.contains(&view),
        other => other == place,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PLACES: [Place; 7] = [Everywhere, Filter, Confirm, TypedConfirm, Choice, Form, Help];

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for place in PLACES {
            for view in ViewId::ALL {
                let mut seen = BTreeMap::new();
                for binding in BINDINGS.iter().filter(|binding| is_at(binding.place, place, view)) {
                    for key in binding.keys {
                        let before = seen.insert(key, binding.name);
                        assert_eq!(before, None, "{key} in {place:?} of {}", view.name());
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_every_binding_is_explained() {
        let mut names: Vec<_> = BINDINGS.iter().map(|binding| binding.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BINDINGS.len());
        assert!(BINDINGS.iter().all(|binding| !binding.help.is_empty() && !binding.keys.is_empty()));
    }

    #[test]
    fn what_terminals_and_multiplexers_take_changes_nothing() {
        for binding in BINDINGS.iter().filter(|binding| binding.needs != Needs::Nothing) {
            for key in binding.keys {
                assert!(!matches!(key, Ctrl(_) | Key::Alt(_)), "{} is on {key}", binding.name);
            }
        }
    }

    #[test]
    fn a_key_map_puts_other_keys_in_place() {
        let keymap = Keymap::parse("[keys]\n\"quit\" = \"Q\"\n\"pause\" = []", Bindings::knows).unwrap();
        let bindings = Bindings::new(&keymap);
        let model = Model::default();
        let find = |key| bindings.find(&model, Everywhere, ViewId::Overview, key);
        assert_eq!(find(Char('Q')), Some(KeyAction::Quit));
        assert_eq!(find(Char('q')), None);
        assert_eq!(find(Char('p')), None);
    }
}
