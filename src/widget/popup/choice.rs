//! One of several.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Reply;
use super::frame::{PopupStyle, open, take_row, wrap};
use super::key::PopupKey;
use crate::widget::glyphs::Glyphs;
use crate::widget::table::Shorten;
use crate::widget::text::{fit, put, width};

/// How wide a choice may be.
const COLUMNS_MAX: u16 = 72;

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceItem {
    /// What it is.
    pub label: String,
    /// What follows from it.
    pub note: String,
}

/// One of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is to be chosen.
    pub title: String,
    /// What to know before.
    pub lines: Vec<String>,
    /// What there is.
    pub items: Vec<ChoiceItem>,
    /// The item under the cursor.
    pub chosen: usize,
}

impl Choice {
    pub(super) fn on_key(&mut self, key: PopupKey) -> Reply {
        let last = self.items.len().saturating_sub(1);
        match key {
            PopupKey::Cancel => Reply::Cancelled,
            PopupKey::Accept if self.items.is_empty() => Reply::Cancelled,
            PopupKey::Accept => Reply::Chosen(self.chosen),
            PopupKey::Next | PopupKey::PageDown => {
                self.chosen = (self.chosen + 1).min(last);
                Reply::Pending
            }
            PopupKey::Previous | PopupKey::PageUp => {
                self.chosen = self.chosen.saturating_sub(1);
                Reply::Pending
            }
            PopupKey::Yes | PopupKey::Edit(_) => Reply::Pending,
        }
    }

    pub(super) fn draw(&self, glyphs: &Glyphs, style: &PopupStyle, area: Rect, buffer: &mut Buffer) {
        let room = area.width.saturating_sub(4).clamp(1, COLUMNS_MAX);
        let label = self.items.iter().map(|item| width(&item.label)).max().unwrap_or(0);
        let note = self.items.iter().map(|item| width(&item.note)).max().unwrap_or(0);
        let longest = self.lines.iter().map(|line| width(line)).max().unwrap_or(0);
        let columns = (label + note + 5).max(longest).max(width(&self.title) + 2).min(room);
        let lines: Vec<String> = self.lines.iter().flat_map(|line| wrap(line, columns)).collect();
        let rows = u16::try_from(lines.len() + self.items.len() + 1).unwrap_or(u16::MAX);
        let mut rest = open(glyphs, style, area, (columns, rows), &self.title, false, buffer);
        for line in &lines {
            put(buffer, take_row(&mut rest), line, style.dim);
        }
        take_row(&mut rest);
        let fitting = usize::from(rest.height);
        let first = (self.chosen + 1).saturating_sub(fitting.max(1));
        for (place, item) in self.items.iter().enumerate().skip(first).take(fitting) {
            let row = take_row(&mut rest);
            let chosen = place == self.chosen;
            let mark = if chosen { glyphs.cursor } else { " " };
            let used =
                put(buffer, row, &format!("{mark} {:<1$}", item.label, usize::from(label)), style.strong);
            let note_at =
                Rect { x: row.x.saturating_add(used + 2), width: row.width.saturating_sub(used + 2), ..row };
            put(buffer, note_at, &fit(&item.note, note_at.width, Shorten::End), style.dim);
            if chosen {
                buffer.set_style(row.intersection(buffer.area), style.selection);
            }
        }
    }
}
