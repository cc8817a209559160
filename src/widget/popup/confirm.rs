//! A question, with what follows from saying yes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_input::Input;

use super::Reply;
use super::frame::{PopupStyle, open, put_input, take_row, wrap};
use super::key::{PopupKey, edit};
use crate::widget::glyphs::Glyphs;
use crate::widget::text::{put, width};

/// How wide a question may be.
const COLUMNS_MAX: u16 = 72;

/// A button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What it says.
    pub label: String,
}

/// A question. Its first button is the harmless one and is chosen at first.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// What is to be done.
    pub title: String,
    /// What follows from it, line by line.
    pub lines: Vec<String>,
    /// The buttons; the first cancels.
    pub buttons: Vec<Button>,
    /// The chosen button.
    pub chosen: usize,
    /// Whether something may be lost.
    pub danger: bool,
    /// What must be typed before anything but the first button works, and what has been.
    pub typed: Option<(String, Input)>,
    /// Whether `y` presses the second button.
    pub yes: bool,
}

impl Confirm {
    /// Returns a question with one way to say yes.
    pub fn ask(title: impl Into<String>, lines: Vec<String>, yes: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lines,
            buttons: vec![Button { label: "Cancel".to_owned() }, Button { label: yes.into() }],
            chosen: 0,
            danger: false,
            typed: None,
            yes: true,
        }
    }

    /// Returns the question with a red frame.
    #[must_use]
    pub fn danger(mut self) -> Self {
        self.danger = true;
        self
    }

    /// Returns the question so that a word must be typed to say yes.
    #[must_use]
    pub fn typed(mut self, word: impl Into<String>) -> Self {
        self.typed = Some((word.into(), Input::default()));
        self.yes = false;
        self
    }

    fn is_unlocked(&self) -> bool {
        self.typed.as_ref().is_none_or(|(word, input)| input.value() == word)
    }

    pub(super) fn on_key(&mut self, key: PopupKey) -> Reply {
        let last = self.buttons.len().saturating_sub(1);
        match key {
            PopupKey::Cancel => return Reply::Cancelled,
            PopupKey::Accept if self.typed.is_some() && self.is_unlocked() => return Reply::Chosen(last),
            PopupKey::Accept if self.typed.is_some() => {}
            PopupKey::Accept if self.chosen == 0 => return Reply::Cancelled,
            PopupKey::Accept => return Reply::Chosen(self.chosen),
            PopupKey::Yes if self.yes => return Reply::Chosen(1.min(last)),
            PopupKey::Yes => {}
            PopupKey::Next | PopupKey::PageDown => {
                self.chosen = if self.chosen >= last { 0 } else { self.chosen + 1 }
            }
            PopupKey::Previous | PopupKey::PageUp => {
                self.chosen = if self.chosen == 0 { last } else { self.chosen - 1 };
            }
            PopupKey::Edit(key) => {
                if let Some((_, input)) = &mut self.typed {
                    edit(input, key);
                }
            }
        }
        Reply::Pending
    }

    pub(super) fn draw(&self, glyphs: &Glyphs, style: &PopupStyle, area: Rect, buffer: &mut Buffer) {
        let room = area.width.saturating_sub(4).min(COLUMNS_MAX);
        let buttons: u16 = self.buttons.iter().map(|button| width(&button.label) + 6).sum();
        let longest = self.lines.iter().map(|line| width(line)).max().unwrap_or(0);
        let columns = longest.max(width(&self.title) + 2).max(buttons).clamp(1, room.max(1));
        let lines: Vec<String> = self.lines.iter().flat_map(|line| wrap(line, columns)).collect();
        let typed_rows = if self.typed.is_some() { 2 } else { 0 };
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2 + typed_rows);
        let mut rest = open(glyphs, style, area, (columns, rows), &self.title, self.danger, buffer);
        let text_rows = rest.height.saturating_sub(2 + typed_rows);
        for line in lines.iter().take(usize::from(text_rows)) {
            put(buffer, take_row(&mut rest), line, style.ground);
        }
        take_row(&mut rest);
        if let Some((word, input)) = &self.typed {
            let row = take_row(&mut rest);
            let label = format!("type {word} to go on: ");
            let used = put(buffer, row, &label, style.dim);
            let field = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
            put_input(buffer, field, input, style.input, Some(style.button_active));
            take_row(&mut rest);
        }
        self.draw_buttons(style, take_row(&mut rest), buffer);
    }

    fn draw_buttons(&self, style: &PopupStyle, row: Rect, buffer: &mut Buffer) {
        let mut x = row.x;
        for (place, button) in self.buttons.iter().enumerate() {
            let active = match &self.typed {
                Some(_) => (place > 0) == self.is_unlocked(),
                None => place == self.chosen,
            };
            let locked = place > 0 && !self.is_unlocked();
            let look = if active {
                style.button_active
            } else if locked {
                style.dim
            } else {
                style.button
            };
            let marks = if active { ("[", "]") } else { (" ", " ") };
            let label = format!("{} {} {}", marks.0, button.label, marks.1);
            let rest = Rect { x, width: row.right().saturating_sub(x), ..row };
            x += put(buffer, rest, &label, look);
            x = x.saturating_add(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Key;

    #[test]
    fn the_harmless_button_is_chosen_at_first() {
        let mut ask = Confirm::ask("kill broker 1", Vec::new(), "Kill");
        assert_eq!(ask.on_key(PopupKey::Accept), Reply::Cancelled);
        assert_eq!(ask.on_key(PopupKey::Next), Reply::Pending);
        assert_eq!(ask.on_key(PopupKey::Accept), Reply::Chosen(1));
        assert_eq!(ask.on_key(PopupKey::Yes), Reply::Chosen(1));
    }

    #[test]
    fn a_word_must_be_typed_in_full() {
        let mut ask = Confirm::ask("delete topic", Vec::new(), "Delete").typed("ab");
        assert_eq!(ask.on_key(PopupKey::Accept), Reply::Pending);
        assert_eq!(ask.on_key(PopupKey::Yes), Reply::Pending);
        for c in ['a', 'b'] {
            assert_eq!(ask.on_key(PopupKey::Edit(Key::Char(c))), Reply::Pending);
        }
        assert_eq!(ask.on_key(PopupKey::Accept), Reply::Chosen(1));
        ask.on_key(PopupKey::Edit(Key::Char('c')));
        assert_eq!(ask.on_key(PopupKey::Accept), Reply::Pending);
    }
}
