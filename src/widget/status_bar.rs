//! A line of short statements; those that matter least go when there is no room.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::{put, put_line, width};

/// A short statement.
#[derive(Debug, Clone, Default)]
pub struct Segment<'a> {
    /// What it says.
    pub line: Vec<(Cow<'a, str>, Style)>,
    /// When not all fit, those with the highest number go first.
    pub priority: u8,
}

impl<'a> Segment<'a> {
    /// Returns a statement in one style.
    pub fn new(text: impl Into<Cow<'a, str>>, style: Style, priority: u8) -> Self {
        Self { line: vec![(text.into(), style)], priority }
    }

    fn cells(&self) -> u16 {
        self.line.iter().map(|(text, _)| width(text)).fold(0, u16::saturating_add)
    }
}

/// A line of short statements.
#[derive(Debug, Clone, Default)]
pub struct StatusBar<'a> {
    /// Those at the left.
    pub left: Vec<Segment<'a>>,
    /// Those at the right.
    pub right: Vec<Segment<'a>>,
    /// What stands between two of them.
    pub separator: Cow<'a, str>,
    /// What the separator looks like.
    pub separator_style: Style,
    /// What the line looks like where nothing stands.
    pub ground: Style,
}

impl StatusBar<'_> {
    /// Draws the line in the first row of the area.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        buffer.set_style(area, self.ground);
        let gap = width(&self.separator);
        let (left, right) = self.shown(area.width, gap);
        let mut x = area.x;
        for (place, segment) in left.iter().enumerate() {
            if place > 0 {
                x += put(buffer, rest(area, x), &self.separator, self.separator_style);
            }
            x += put_line(buffer, rest(area, x), &segment.line);
        }
        let needed = length(&right, gap);
        let mut x = area.right().saturating_sub(needed).max(x);
        for (place, segment) in right.iter().enumerate() {
            if place > 0 {
                x += put(buffer, rest(area, x), &self.separator, self.separator_style);
            }
            x += put_line(buffer, rest(area, x), &segment.line);
        }
    }

    /// Returns the statements that fit.
    fn shown(&self, room: u16, gap: u16) -> (Vec<&Segment<'_>>, Vec<&Segment<'_>>) {
        let mut left: Vec<_> = self.left.iter().collect();
        let mut right: Vec<_> = self.right.iter().collect();
        loop {
            let between = if left.is_empty() || right.is_empty() { 0 } else { 1 };
            if length(&left, gap).saturating_add(length(&right, gap)).saturating_add(between) <= room {
                return (left, right);
            }
            let worst = |list: &[&Segment<'_>]| {
                list.iter()
                    .enumerate()
                    .max_by_key(|(_, segment)| segment.priority)
                    .map(|(at, s)| (at, s.priority))
            };
            match (worst(&left), worst(&right)) {
                (Some((at, priority)), other) if other.is_none_or(|(_, of)| priority >= of) => {
                    if left.len() == 1 && right.is_empty() {
                        return (left, right);
                    }
                    left.remove(at);
                }
                (_, Some((at, _))) => {
                    right.remove(at);
                }
                (_, None) => return (left, right),
            }
        }
    }
}

fn rest(area: Rect, x: u16) -> Rect {
    Rect { x, width: area.right().saturating_sub(x), ..area }
}

fn length(list: &[&Segment<'_>], gap: u16) -> u16 {
    let gaps = u16::try_from(list.len().saturating_sub(1)).unwrap_or(u16::MAX).saturating_mul(gap);
    list.iter().map(|segment| segment.cells()).fold(gaps, u16::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(cells: u16) -> String {
        let style = Style::new();
        let bar = StatusBar {
            left: vec![Segment::new("name", style, 0), Segment::new("detail", style, 5)],
            right: vec![Segment::new("PAUSED", style, 1), Segment::new("clock", style, 9)],
            separator: "|".into(),
            ..StatusBar::default()
        };
        let area = Rect::new(0, 0, cells, 1);
        let mut buffer = Buffer::empty(area);
        bar.draw(area, &mut buffer);
        buffer.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn what_matters_least_goes_first() {
        assert_eq!(drawn(26), "name|detail   PAUSED|clock");
        assert_eq!(drawn(20), "name|detail   PAUSED");
        assert_eq!(drawn(14), "name    PAUSED");
        assert_eq!(drawn(8), "name    ");
        assert_eq!(drawn(2), "na");
    }
}
