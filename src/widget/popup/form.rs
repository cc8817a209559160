//! Something to fill in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_input::Input;

use super::Reply;
use super::frame::{PopupStyle, open, put_input, take_row, wrap};
use super::key::{PopupKey, edit};
use crate::widget::glyphs::Glyphs;
use crate::widget::table::Shorten;
use crate::widget::text::{fit, put, width};

/// How wide a field is.
const FIELD_COLUMNS: u16 = 40;

/// A field.
#[derive(Debug, Clone)]
pub struct Field {
    /// What it is for.
    pub label: &'static str,
    /// What is typed in it.
    pub input: Input,
    /// What to type, in a few words.
    pub hint: String,
    /// Says what is wrong with a value.
    pub check: fn(&str) -> Result<(), String>,
}

/// Something to fill in.
#[derive(Debug, Clone)]
pub struct Form {
    /// What it is for.
    pub title: String,
    /// What to know before.
    pub lines: Vec<String>,
    /// The fields.
    pub fields: Vec<Field>,
    /// The field with the cursor.
    pub focus: usize,
    /// What is wrong, after somebody tried to send it.
    pub error: Option<String>,
}

impl Form {
    pub(super) fn on_key(&mut self, key: PopupKey) -> Reply {
        let last = self.fields.len().saturating_sub(1);
        match key {
            PopupKey::Cancel => return Reply::Cancelled,
            PopupKey::Accept if self.focus < last => self.focus += 1,
            PopupKey::Accept => return self.submit(),
            PopupKey::Next => self.focus = if self.focus >= last { 0 } else { self.focus + 1 },
            PopupKey::Previous => self.focus = if self.focus == 0 { last } else { self.focus - 1 },
            PopupKey::Edit(key) => {
                self.error = None;
                if let Some(field) = self.fields.get_mut(self.focus) {
                    edit(&mut field.input, key);
                }
            }
            PopupKey::Yes | PopupKey::PageDown | PopupKey::PageUp => {}
        }
        Reply::Pending
    }

    /// Sends the form if every field is right, else goes to the first that is not.
    fn submit(&mut self) -> Reply {
        for (place, field) in self.fields.iter().enumerate() {
            if let Err(why) = (field.check)(field.input.value()) {
                self.error = Some(why);
                self.focus = place;
                return Reply::Pending;
            }
        }
        Reply::Submitted(self.fields.iter().map(|field| field.input.value().to_owned()).collect())
    }

    pub(super) fn draw(&self, glyphs: &Glyphs, style: &PopupStyle, area: Rect, buffer: &mut Buffer) {
        let label = self.fields.iter().map(|field| width(field.label)).max().unwrap_or(0);
        let columns = (label + 2 + FIELD_COLUMNS).min(area.width.saturating_sub(4)).max(1);
        let lines: Vec<String> = self.lines.iter().flat_map(|line| wrap(line, columns)).collect();
        let rows = u16::try_from(lines.len() + self.fields.len() * 2 + 2).unwrap_or(u16::MAX);
        let mut rest = open(glyphs, style, area, (columns, rows), &self.title, false, buffer);
        for line in &lines {
            put(buffer, take_row(&mut rest), line, style.dim);
        }
        for (place, field) in self.fields.iter().enumerate() {
            let row = take_row(&mut rest);
            let focused = place == self.focus;
            put(buffer, row, field.label, if focused { style.strong } else { style.dim });
            let indent = (label + 2).min(row.width);
            let place_of_input = Rect { x: row.x + indent, width: row.width - indent, ..row };
            let cursor = focused.then_some(style.button_active);
            put_input(buffer, place_of_input, &field.input, style.input, cursor);
            let row = take_row(&mut rest);
            let hint_place =
                Rect { x: row.x + indent.min(row.width), width: row.width - indent.min(row.width), ..row };
            put(buffer, hint_place, &fit(&field.hint, hint_place.width, Shorten::End), style.dim);
        }
        take_row(&mut rest);
        let row = take_row(&mut rest);
        match &self.error {
            Some(error) => {
                put(buffer, row, &fit(error, row.width, Shorten::End), style.error);
            }
            None => {
                put(buffer, row, "enter goes on, esc cancels", style.dim);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Key;

    fn number(text: &str) -> Result<(), String> {
        text.parse::<u16>().map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_sent_only_when_every_field_is_right() {
        let field = |label, value: &str| Field {
            label,
            input: Input::new(value.to_owned()),
            hint: String::new(),
            check: number,
        };
        let mut form = Form {
            title: String::new(),
            lines: Vec::new(),
            fields: vec![field("one", ""), field("two", "2")],
            focus: 0,
            error: None,
        };
        assert_eq!(form.on_key(PopupKey::Accept), Reply::Pending);
        assert_eq!(form.on_key(PopupKey::Accept), Reply::Pending);
        assert!(form.error.is_some());
        assert_eq!(form.focus, 0, "the cursor goes to what is wrong");
        form.on_key(PopupKey::Edit(Key::Char('1')));
        assert_eq!(form.error, None);
        form.on_key(PopupKey::Next);
        assert_eq!(form.on_key(PopupKey::Accept), Reply::Submitted(vec!["1".into(), "2".into()]));
    }
}
