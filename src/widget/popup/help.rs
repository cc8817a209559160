//! The keys that work here.

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Reply;
use super::frame::{PopupStyle, open};
use super::key::PopupKey;
use crate::widget::glyphs::Glyphs;
use crate::widget::table::Shorten;
use crate::widget::text::{fit, put, width};

/// The cells between keys and words.
const GAP: u16 = 2;

/// What a key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpEntry {
    /// The keys, as they are shown.
    pub keys: String,
    /// What they do.
    pub text: &'static str,
}

/// Keys that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpSection {
    /// What they are for.
    pub title: String,
    /// The keys.
    pub entries: Vec<HelpEntry>,
}

/// The keys that work here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    /// What "here" is.
    pub title: String,
    /// The keys by what they are for.
    pub sections: Vec<HelpSection>,
    /// The first line in sight.
    pub scroll: Cell<usize>,
}

enum Row<'a> {
    Title(&'a str),
    Entry(&'a HelpEntry),
    Blank,
}

impl Help {
    pub(super) fn on_key(&mut self, key: PopupKey) -> Reply {
        let scroll = self.scroll.get_mut();
        match key {
            PopupKey::Cancel | PopupKey::Accept => return Reply::Cancelled,
            PopupKey::Next => *scroll = scroll.saturating_add(1),
            PopupKey::Previous => *scroll = scroll.saturating_sub(1),
            PopupKey::PageDown => *scroll = scroll.saturating_add(10),
            PopupKey::PageUp => *scroll = scroll.saturating_sub(10),
            PopupKey::Yes | PopupKey::Edit(_) => {}
        }
        Reply::Pending
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for section in &self.sections {
            if !rows.is_empty() {
                rows.push(Row::Blank);
            }
            rows.push(Row::Title(&section.title));
            rows.extend(section.entries.iter().map(Row::Entry));
        }
        rows
    }

    pub(super) fn draw(&self, glyphs: &Glyphs, style: &PopupStyle, area: Rect, buffer: &mut Buffer) {
        let rows = self.rows();
        let entries = || self.sections.iter().flat_map(|section| &section.entries);
        let keys = entries().map(|entry| width(&entry.keys)).max().unwrap_or(0);
        let texts = entries().map(|entry| width(entry.text)).max().unwrap_or(0);
        let column = keys.saturating_add(GAP).saturating_add(texts);
        let room = area.height.saturating_sub(2);
        let one_column = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let two = one_column > room && area.width >= column.saturating_mul(2).saturating_add(8);
        let (columns, height) = if two {
            (column * 2 + 4, one_column.div_ceil(2).min(room))
        } else {
            (column.max(width(&self.title) + 2), one_column.min(room))
        };
        let inner = open(glyphs, style, area, (columns, height), &self.title, false, buffer);
        let per_page = usize::from(inner.height) * if two { 2 } else { 1 };
        let scroll = self.scroll.get().min(rows.len().saturating_sub(per_page));
        self.scroll.set(scroll);
        let column = if two { inner.width / 2 } else { inner.width };
        for (place, row) in rows.iter().skip(scroll).take(per_page).enumerate() {
            let Ok(place) = u16::try_from(place) else { break };
            let (side, line) = (place / inner.height.max(1), place % inner.height.max(1));
            let at = Rect { x: inner.x + side * column, y: inner.y + line, width: column, height: 1 };
            draw_row(row, keys, style, at.intersection(inner), buffer);
        }
        if scroll + per_page < rows.len() && inner.height > 0 {
            let more = format!("{} more {}", rows.len() - scroll - per_page, glyphs.down);
            let cells = width(&more).min(inner.width);
            let place = Rect { x: inner.right() - cells, y: inner.bottom(), width: cells, height: 1 };
            put(buffer, place.intersection(area), &more, style.dim);
        }
    }
}

fn draw_row(row: &Row<'_>, keys: u16, style: &PopupStyle, at: Rect, buffer: &mut Buffer) {
    match row {
        Row::Blank => {}
        Row::Title(title) => {
            put(buffer, at, title, style.title);
        }
        Row::Entry(entry) => {
            let shift = keys.saturating_sub(width(&entry.keys)).min(at.width);
            let place = Rect { x: at.x + shift, width: at.width - shift, ..at };
            put(buffer, place, &entry.keys, style.key);
            let indent = (keys + GAP).min(at.width);
            let place = Rect { x: at.x + indent, width: at.width - indent, ..at };
            put(buffer, place, &fit(entry.text, place.width, Shorten::End), style.ground);
        }
    }
}
