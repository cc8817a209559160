//! Frames, and areas split into panes.

use std::borrow::Cow;

use ottla_broker::types::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::filter::Filter;
use super::scene::Scene;
use super::words::age;
use crate::widget::{Panel, put};

/// A frame in the making.
pub(super) struct Pane<'a> {
    title: Vec<(Cow<'a, str>, Style)>,
    right: Vec<(Cow<'a, str>, Style)>,
    bottom: Vec<(Cow<'a, str>, Style)>,
    focus: bool,
}

impl<'a> Pane<'a> {
    /// Returns a frame with a title.
    pub(super) fn new(scene: &Scene<'a>, title: impl Into<Cow<'a, str>>) -> Self {
        Self {
            title: vec![(title.into(), scene.theme.title)],
            right: Vec::new(),
            bottom: Vec::new(),
            focus: false,
        }
    }

    /// Returns it with the key of the view that shows more of it.
    pub(super) fn key(mut self, scene: &Scene<'a>, key: &'static str) -> Self {
        self.title.insert(0, (Cow::Borrowed(key), scene.theme.key));
        self.title.insert(1, (Cow::Borrowed(" "), scene.theme.title));
        self
    }

    /// Returns it with more of a title.
    pub(super) fn more(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.title.push((Cow::Borrowed(" "), style));
        self.title.push((text.into(), style));
        self
    }

    /// Returns it with something at the right.
    pub(super) fn right(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.right.push((text.into(), style));
        self
    }

    /// Returns it with something at the bottom.
    pub(super) fn bottom(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        self.bottom.push((text.into(), style));
        self
    }

    /// Returns it as the one that has the keys, or not.
    pub(super) fn focus(mut self, focus: bool) -> Self {
        self.focus = focus;
        self
    }

    /// Returns it with the filter that narrows what is in it.
    pub(super) fn filter(self, scene: &Scene<'a>, filter: &Filter) -> Self {
        if filter.is_set() {
            let text = format!("/{}", filter.input.value());
            self.more(text, scene.theme.badge)
        } else {
            self
        }
    }

    /// Returns it with since when and why what is in it is old, if it is.
    pub(super) fn stale(self, scene: &Scene<'a>, stale: Option<(Millis, &str)>) -> Self {
        match stale {
            Some((since, why)) => {
                let text = format!("{} {} old: {why}", scene.glyphs.warn, age(scene.now.since(since)));
                self.bottom(text, scene.theme.warn)
            }
            None => self,
        }
    }

    /// Draws it and returns what is inside.
    pub(super) fn draw(self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) -> Rect {
        let border = if self.focus { scene.theme.border_focus } else { scene.theme.border };
        Panel { title: self.title, right: self.right, bottom: self.bottom, border }.draw(
            scene.glyphs,
            area,
            buffer,
        )
    }
}

/// Splits this many rows off the top.
pub(super) fn top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Splits this many rows off the bottom; returns the rest first.
pub(super) fn bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let (rest, low) = top(area, area.height - rows.min(area.height));
    (rest, low)
}

/// Splits this many columns off the left.
pub(super) fn left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (Rect { width: columns, ..area }, Rect { x: area.x + columns, width: area.width - columns, ..area })
}

/// Puts lines of plain words into an area, one per row, one cell from its left.
pub(super) fn say(buffer: &mut Buffer, area: Rect, lines: &[Cow<'_, str>], style: Style) {
    let mut rest = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(1), ..area };
    for line in lines {
        let (row, below) = top(rest, 1);
        if row.height == 0 {
            break;
        }
        put(buffer, row, line, style);
        rest = below;
    }
}
