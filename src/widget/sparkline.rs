//! A series over time, a few rows high.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs::{Glyphs, Tier};
use super::text::put;

const BLOCKS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII: [&str; 5] = [" ", ".", ":", "|", "#"];
/// The dots of a braille cell's left and right column, filled from the bottom.
const LEFT: [u32; 5] = [0x00, 0x40, 0x44, 0x46, 0x47];
const RIGHT: [u32; 5] = [0x00, 0x80, 0xa0, 0xb0, 0xb8];

/// A series over time, the newest point at the right.
#[derive(Debug)]
pub struct Sparkline<'a> {
    /// The points, oldest first; a missing one is a gap.
    pub points: &'a [Option<f64>],
    /// How many points the whole width stands for: fewer columns show the highest of several points, more columns show
    /// a point several times. When `None`, a column is a point, and older points that do not fit are left out.
    pub span: Option<usize>,
    /// What fills the height; the highest point when `None`.
    pub max: Option<f64>,
    /// The style of a column, by the share of the height it fills.
    pub style: &'a dyn StyleOf,
}

/// Chooses a style by share, from 0 to 1.
pub trait StyleOf: std::fmt::Debug {
    /// Returns the style.
    fn style(&self, ratio: f64) -> Style;
}

impl StyleOf for Style {
    fn style(&self, _ratio: f64) -> Style {
        *self
    }
}

impl StyleOf for crate::config::Theme {
    fn style(&self, ratio: f64) -> Style {
        self.gradient(ratio)
    }
}

impl Sparkline<'_> {
    /// Draws the series over the whole height of the area.
    pub fn draw(&self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let per_cell = if glyphs.tier == Tier::Braille { 2 } else { 1 };
        let columns = usize::from(area.width) * per_cell;
        let shown = self.columns(columns);
        let max = self.max.unwrap_or_else(|| shown.iter().flatten().copied().fold(0.0, f64::max));
        let ratio = |column: usize| -> Option<f64> {
            let value = (*shown.get(column)?)?;
            Some(if max > 0.0 && value.is_finite() { (value / max).clamp(0.0, 1.0) } else { 0.0 })
        };
        for x in 0..area.width {
            let first = usize::from(x) * per_cell;
            let pair = (ratio(first), if per_cell == 2 { ratio(first + 1) } else { None });
            self.draw_column(glyphs, Rect { x: area.x + x, width: 1, ..area }, pair, buffer);
        }
    }

    /// Returns what each column shows.
    fn columns(&self, columns: usize) -> Vec<Option<f64>> {
        let span = self.span.unwrap_or(columns).max(1);
        let missing = span.saturating_sub(self.points.len());
        let skipped = self.points.len().saturating_sub(span);
        let point = |place: usize| self.points.get(place.checked_sub(missing)? + skipped).copied().flatten();
        (0..columns)
            .map(|column| {
                let from = column * span / columns;
                let to = ((column + 1) * span / columns).max(from + 1);
                (from..to).filter_map(point).reduce(f64::max)
            })
            .collect()
    }

    fn draw_column(
        &self,
        glyphs: &Glyphs,
        column: Rect,
        (left, right): (Option<f64>, Option<f64>),
        buffer: &mut Buffer,
    ) {
        let style = self.style.style(left.unwrap_or(0.0).max(right.unwrap_or(0.0)));
        for row in 0..column.height {
            let from_bottom = column.height - 1 - row;
            let cell = Rect { y: column.y + row, height: 1, ..column };
            let level = |ratio: Option<f64>, steps: u16| level(ratio, steps, from_bottom, column.height);
            match glyphs.tier {
                Tier::Braille => {
                    let dots =
                        LEFT.get(level(left, 4)).unwrap_or(&0) | RIGHT.get(level(right, 4)).unwrap_or(&0);
                    if let Some(symbol) = char::from_u32(0x2800 + dots).filter(|_| dots != 0) {
                        put(buffer, cell, symbol.encode_utf8(&mut [0; 4]), style);
                    }
                }
                Tier::Block => {
                    put(buffer, cell, BLOCKS.get(level(left, 8)).copied().unwrap_or(" "), style);
                }
                Tier::Ascii => {
                    put(buffer, cell, ASCII.get(level(left, 4)).copied().unwrap_or(" "), style);
                }
            }
        }
    }
}

/// Returns how many of `steps` a point fills in the cell this far from the bottom. A point that is there fills at least
/// one step of the lowest cell, so that zero differs from a gap.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the steps of a screen"
)]
fn level(ratio: Option<f64>, steps: u16, from_bottom: u16, height: u16) -> usize {
    let Some(ratio) = ratio else { return 0 };
    let total = u32::from(steps) * u32::from(height);
    let filled = ((ratio * f64::from(total)).round() as u32).max(1);
    let below = u32::from(steps) * u32::from(from_bottom);
    filled.saturating_sub(below).min(u32::from(steps)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(points: &[Option<f64>], tier: Tier, width: u16, height: u16) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        Sparkline { points, span: None, max: None, style: &Style::new() }.draw(
            &Glyphs::new(tier),
            area,
            &mut buffer,
        );
        buffer
            .content()
            .chunks(usize::from(width))
            .map(|row| row.iter().map(|cell| cell.symbol()).collect())
            .collect()
    }

    #[test]
    fn the_newest_is_at_the_right_and_a_gap_is_not_a_zero() {
        let points = [Some(9.0), Some(0.0), None, Some(4.0), Some(8.0)];
        assert_eq!(drawn(&points, Tier::Block, 4, 1), ["▁ ▄█"]);
        assert_eq!(drawn(&points, Tier::Ascii, 6, 1), [" #. :#"]);
        assert_eq!(drawn(&points, Tier::Braille, 2, 1), ["⡀⣼"]);
    }

    #[test]
    fn two_rows_have_twice_the_levels() {
        assert_eq!(drawn(&[Some(1.0), Some(3.0), Some(4.0)], Tier::Block, 3, 2), [" ▄█", "▄██"]);
    }

    #[test]
    fn a_span_is_drawn_together_or_apart_to_fill_the_width() {
        let style = Style::new();
        let points = [Some(1.0), Some(2.0), None, Some(4.0)];
        let spark = |span| Sparkline { points: &points, span, max: None, style: &style };
        assert_eq!(spark(Some(4)).columns(2), [Some(2.0), Some(4.0)]);
        assert_eq!(
            spark(Some(4)).columns(8),
            [Some(1.0), Some(1.0), Some(2.0), Some(2.0), None, None, Some(4.0), Some(4.0)]
        );
        assert_eq!(spark(Some(8)).columns(4), [None, None, Some(2.0), Some(4.0)]);
        assert_eq!(spark(Some(2)).columns(2), [None, Some(4.0)]);
    }
}
