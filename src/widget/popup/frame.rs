//! The frame that all popups have.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::widget::glyphs::Glyphs;
use crate::widget::panel::Panel;
use crate::widget::text::put;

/// What popups look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PopupStyle {
    /// What it stands on.
    pub ground: Style,
    /// Its frame.
    pub border: Style,
    /// Its frame when something may be lost.
    pub danger: Style,
    /// Its title.
    pub title: Style,
    /// What matters less.
    pub dim: Style,
    /// What matters more.
    pub strong: Style,
    /// A key.
    pub key: Style,
    /// A button.
    pub button: Style,
    /// The button that enter presses.
    pub button_active: Style,
    /// A field.
    pub input: Style,
    /// A mistake.
    pub error: Style,
    /// The item under the cursor.
    pub selection: Style,
    /// What lies under the popup.
    pub shade: Style,
}

/// Clears a place of this size above the middle of the area, frames it, and returns what is inside.
pub(super) fn open(
    glyphs: &Glyphs,
    style: &PopupStyle,
    area: Rect,
    (columns, rows): (u16, u16),
    title: &str,
    danger: bool,
    buffer: &mut Buffer,
) -> Rect {
    let area = area.intersection(buffer.area);
    let (columns, rows) =
        (columns.saturating_add(4).min(area.width), rows.saturating_add(2).min(area.height));
    let place = Rect {
        x: area.x + (area.width - columns) / 2,
        y: area.y + (area.height - rows) / 3,
        width: columns,
        height: rows,
    };
    for position in area.positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            if place.contains(position) {
                cell.reset();
                cell.set_style(style.ground);
            } else {
                cell.set_style(style.shade);
            }
        }
    }
    let title: Vec<(Cow<'_, str>, Style)> = vec![(title.into(), style.title)];
    let border = if danger { style.danger } else { style.border };
    let panel = Panel { title, border, ..Panel::default() };
    let inner = panel.draw(glyphs, place, buffer);
    crate::widget::panel::inset(inner, 1, 0)
}

/// Splits an area into its first row and the rest.
pub(super) fn take_row(area: &mut Rect) -> Rect {
    let row = Rect { height: area.height.min(1), ..*area };
    area.y = area.y.saturating_add(row.height);
    area.height -= row.height;
    row
}

/// Breaks a text into lines at blanks.
pub(super) fn wrap(text: &str, columns: u16) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let joined = crate::widget::text::width(&line).saturating_add(crate::widget::text::width(word));
        if !line.is_empty() && joined.saturating_add(1) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Puts what is typed into a field, scrolled so that the cursor is in sight, and the cursor.
pub(super) fn put_input(
    buffer: &mut Buffer,
    area: Rect,
    input: &tui_input::Input,
    style: Style,
    cursor: Option<Style>,
) {
    let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    for x in area.x..area.right() {
        put(buffer, Rect { x, width: 1, ..area }, " ", style);
    }
    let scroll = input.visual_scroll(usize::from(area.width.saturating_sub(1)));
    let mut skipped = 0;
    let shown: String = input
        .value()
        .chars()
        .skip_while(|c| {
            let before = skipped;
            skipped += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
            before < scroll
        })
        .collect();
    put(buffer, area, &shown, style);
    let at = u16::try_from(input.visual_cursor().saturating_sub(scroll)).unwrap_or(u16::MAX);
    if let Some(cursor) = cursor.filter(|_| at < area.width) {
        buffer.set_style(Rect { x: area.x + at, width: 1, ..area }, cursor);
    }
}
