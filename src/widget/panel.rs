//! A frame with a title.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs::Glyphs;
use super::text::{put, put_line, width};

/// A frame with a title on its top edge, something at the right of it, and something on its bottom edge.
#[derive(Debug, Clone, Default)]
pub struct Panel<'a> {
    /// What is in it.
    pub title: Vec<(Cow<'a, str>, Style)>,
    /// What stands at the right of the title.
    pub right: Vec<(Cow<'a, str>, Style)>,
    /// What stands on the bottom edge, at its right.
    pub bottom: Vec<(Cow<'a, str>, Style)>,
    /// The frame.
    pub border: Style,
}

impl Panel<'_> {
    /// Draws the frame and returns what is inside.
    pub fn draw(&self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) -> Rect {
        let area = area.intersection(buffer.area);
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let [top_left, top_right, bottom_left, bottom_right, horizontal, vertical] = glyphs.frame;
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        let mut set = |x, y, symbol: &str| {
            put(buffer, Rect::new(x, y, 1, 1), symbol, self.border);
        };
        for x in area.x + 1..right {
            set(x, area.y, horizontal);
            set(x, bottom, horizontal);
        }
        for y in area.y + 1..bottom {
            set(area.x, y, vertical);
            set(right, y, vertical);
        }
        set(area.x, area.y, top_left);
        set(right, area.y, top_right);
        set(area.x, bottom, bottom_left);
        set(right, bottom, bottom_right);
        self.draw_edges(area, buffer);
        inset(area, 1, 1)
    }

    fn draw_edges(&self, area: Rect, buffer: &mut Buffer) {
        let room = area.width.saturating_sub(4);
        let length = |line: &[(Cow<'_, str>, Style)]| -> u16 {
            line.iter().map(|(text, _)| width(text)).fold(0, u16::saturating_add).saturating_add(2)
        };
        let mut at = area.x + 1;
        if !self.title.is_empty() {
            at +=
                put_padded(buffer, Rect { x: at, width: room, height: 1, ..area }, &self.title, self.border);
        }
        let right = length(&self.right);
        if !self.right.is_empty() && at.saturating_add(right) < area.right().saturating_sub(1) {
            let x = area.right() - 2 - right;
            put_padded(buffer, Rect { x, width: right, height: 1, ..area }, &self.right, self.border);
        }
        let bottom = length(&self.bottom);
        if !self.bottom.is_empty() && bottom <= room {
            let (x, y) = (area.right() - 2 - bottom, area.bottom() - 1);
            put_padded(buffer, Rect { x, y, width: bottom, height: 1 }, &self.bottom, self.border);
        }
    }
}

/// Puts a line with a blank before and behind it. Returns the cells it took.
fn put_padded(buffer: &mut Buffer, area: Rect, line: &[(Cow<'_, str>, Style)], blank: Style) -> u16 {
    let mut used = put(buffer, area, " ", blank);
    let inner = Rect { x: area.x + used, width: area.width.saturating_sub(used).saturating_sub(1), ..area };
    used += put_line(buffer, inner, line);
    used + put(buffer, Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area }, " ", blank)
}

/// Returns an area without this many columns at each side and rows at top and bottom.
pub fn inset(area: Rect, columns: u16, rows: u16) -> Rect {
    Rect {
        x: area.x.saturating_add(columns.min(area.width)),
        y: area.y.saturating_add(rows.min(area.height)),
        width: area.width.saturating_sub(columns.saturating_mul(2)),
        height: area.height.saturating_sub(rows.saturating_mul(2)),
    }
}
