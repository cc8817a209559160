//! What opens above a view: a question, a choice, a form, the help.

mod choice;
mod confirm;
mod form;
mod frame;
mod help;
mod key;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use choice::{Choice, ChoiceItem};
pub use confirm::{Button, Confirm};
pub use form::{Field, Form};
pub use frame::PopupStyle;
pub use help::{Help, HelpEntry, HelpSection};
pub use key::{PopupKey, edit};

use super::glyphs::Glyphs;

/// What opens above a view.
#[derive(Debug, Clone)]
pub enum Popup {
    /// A question.
    Confirm(Confirm),
    /// One of several.
    Choice(Choice),
    /// Something to fill in.
    Form(Form),
    /// The keys that work here.
    Help(Help),
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It stays open.
    Pending,
    /// It was closed without an answer.
    Cancelled,
    /// The button or item of this number was chosen.
    Chosen(usize),
    /// The form was filled in with these values.
    Submitted(Vec<String>),
}

impl Popup {
    /// Takes a key.
    pub fn on_key(&mut self, key: PopupKey) -> Reply {
        match self {
            Self::Confirm(confirm) => confirm.on_key(key),
            Self::Choice(choice) => choice.on_key(key),
            Self::Form(form) => form.on_key(key),
            Self::Help(help) => help.on_key(key),
        }
    }

    /// Returns whether characters are typed into it rather than being keys of their own.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Confirm(confirm) => confirm.typed.is_some(),
            Self::Form(_) => true,
            Self::Choice(_) | Self::Help(_) => false,
        }
    }

    /// Draws it above the middle of the area.
    pub fn draw(&self, glyphs: &Glyphs, style: &PopupStyle, area: Rect, buffer: &mut Buffer) {
        match self {
            Self::Confirm(confirm) => confirm.draw(glyphs, style, area, buffer),
            Self::Choice(choice) => choice.draw(glyphs, style, area, buffer),
            Self::Form(form) => form.draw(glyphs, style, area, buffer),
            Self::Help(help) => help.draw(glyphs, style, area, buffer),
        }
    }
}
