//! A short message that goes away by itself.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::table::Shorten;
use super::text::{fit, put};

/// A short message in the last row of an area.
#[derive(Debug, Clone)]
pub struct Toast<'a> {
    /// What stands before it.
    pub glyph: &'a str,
    /// What it says.
    pub text: Cow<'a, str>,
    /// What it looks like.
    pub style: Style,
}

impl Toast<'_> {
    /// Draws it in the last row of the area.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let row = Rect { y: area.bottom() - 1, height: 1, ..area };
        let line = format!(" {} {} ", self.glyph, self.text);
        let line = fit(&line, row.width, Shorten::End);
        for x in row.x..row.right() {
            put(buffer, Rect { x, width: 1, ..row }, " ", self.style);
        }
        put(buffer, row, &line, self.style);
    }
}
