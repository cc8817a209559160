//! A strip of time with marks on it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs::Glyphs;
use super::text::put;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// How long ago, as a share of the strip: 0 is now, 1 its far end.
    pub ago: f64,
    /// The higher, the more it matters; the highest of a cell is shown.
    pub weight: u8,
    /// What it looks like.
    pub style: Style,
}

/// A strip of time, now at its right. The more happened in a cell, the higher it stands.
#[derive(Debug)]
pub struct Strip<'a> {
    /// What happened.
    pub marks: &'a [Mark],
    /// Where nothing happened.
    pub empty: Style,
}

impl Strip<'_> {
    /// Draws the strip in the first row of the area.
    pub fn draw(&self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let mut cells: Vec<Option<(u8, Style, usize)>> = vec![None; usize::from(area.width)];
        for mark in self.marks {
            let Some(column) = column(mark.ago, area.width) else { continue };
            let Some(cell) = cells.get_mut(usize::from(column)) else { continue };
            *cell = Some(match *cell {
                Some((weight, style, count)) if weight >= mark.weight => (weight, style, count + 1),
                Some((_, _, count)) => (mark.weight, mark.style, count + 1),
                None => (mark.weight, mark.style, 1),
            });
        }
        for (x, cell) in (area.x..area.right()).zip(cells) {
            let (symbol, style) = match (cell, glyphs.is_ascii()) {
                (None, false) => ("─", self.empty),
                (None, true) => ("-", self.empty),
                (Some((_, style, 1)), false) => ("▂", style),
                (Some((_, style, 2..=4)), false) => ("▄", style),
                (Some((_, style, _)), false) => ("▇", style),
                (Some((_, style, 1)), true) => ("o", style),
                (Some((_, style, _)), true) => ("O", style),
            };
            put(buffer, Rect { x, width: 1, ..area }, symbol, style);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the width of a screen")]
fn column(ago: f64, cells: u16) -> Option<u16> {
    if !(0.0..1.0).contains(&ago) {
        return None;
    }
    let from_right = (ago * f64::from(cells)) as u16;
    cells.checked_sub(1)?.checked_sub(from_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_is_at_the_right_and_what_is_too_old_is_left_out() {
        let area = Rect::new(0, 0, 5, 1);
        let mut buffer = Buffer::empty(area);
        let mark = |ago, weight| Mark { ago, weight, style: Style::new() };
        let marks =
            [mark(0.0, 1), mark(0.1, 2), mark(0.99, 1), mark(1.0, 3), mark(-0.1, 3), mark(f64::NAN, 3)];
        Strip { marks: &marks, empty: Style::new() }.draw(&Glyphs::default(), area, &mut buffer);
        let row: String = buffer.content().iter().map(|cell| cell.symbol()).collect();
        assert_eq!(row, "▂───▄");
    }
}
