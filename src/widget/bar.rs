//! A horizontal bar.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs::Glyphs;
use super::text::put;

/// A horizontal bar that fills a share of its area's first row.
#[derive(Debug, Clone, Copy)]
pub struct Bar {
    /// The share, from 0 to 1.
    pub ratio: f64,
    /// The filled part.
    pub style: Style,
    /// The empty part.
    pub empty: Style,
}

impl Bar {
    /// Draws the bar.
    pub fn draw(self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
        let halves = self.halves(area.width);
        let [full, half, none] = if glyphs.is_ascii() { ["#", "-", "-"] } else { ["━", "╸", "─"] };
        for column in 0..area.width {
            let cell = Rect { x: area.x + column, width: 1, ..area };
            let (symbol, style) = match halves.saturating_sub(column.saturating_mul(2)) {
                0 => (none, self.empty),
                1 => (half, self.style),
                _ => (full, self.style),
            };
            put(buffer, cell, symbol, style);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and twice a width"
    )]
    fn halves(self, cells: u16) -> u16 {
        let ratio = if self.ratio.is_finite() { self.ratio.clamp(0.0, 1.0) } else { 0.0 };
        let halves = (ratio * f64::from(cells) * 2.0).round() as u32;
        // Something that is there shows, however little it is.
        u16::try_from(if ratio > 0.0 { halves.max(1) } else { halves }).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widget::Tier;

    fn drawn(ratio: f64, tier: Tier) -> String {
        let area = Rect::new(0, 0, 4, 1);
        let mut buffer = Buffer::empty(area);
        Bar { ratio, style: Style::new(), empty: Style::new() }.draw(&Glyphs::new(tier), area, &mut buffer);
        buffer.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn it_fills_by_halves_and_shows_the_least_share() {
        for (ratio, expected) in [
            (0.0, "────"),
            (0.001, "╸───"),
            (0.5, "━━──"),
            (0.6, "━━╸─"),
            (1.0, "━━━━"),
            (7.0, "━━━━"),
            (f64::NAN, "────"),
        ] {
            assert_eq!(drawn(ratio, Tier::Block), expected, "{ratio}");
        }
        assert_eq!(drawn(0.5, Tier::Ascii), "##--");
    }
}
