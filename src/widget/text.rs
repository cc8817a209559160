//! Text in cells: measuring, shortening, putting it where it belongs.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::table::Shorten;

/// A line of text in several styles.
pub type Line<'a> = Vec<(Cow<'a, str>, Style)>;

/// Returns how many cells a text takes.
pub fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// Shortens a text to a number of cells, with an ellipsis where something is left out.
pub fn fit(text: &str, cells: u16, shorten: Shorten) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    match (cells, shorten) {
        (0, _) => Cow::Borrowed(""),
        (1, _) => Cow::Borrowed("…"),
        (_, Shorten::End) => Cow::Owned(format!("{}…", head(text, cells - 1))),
        (_, Shorten::Middle) => {
            let tail_cells = (cells - 1) / 2;
            let head_cells = cells - 1 - tail_cells;
            Cow::Owned(format!("{}…{}", head(text, head_cells), tail(text, tail_cells)))
        }
    }
}

/// Returns as much of the beginning as fits.
fn head(text: &str, cells: u16) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > usize::from(cells) {
            return text.get(..at).unwrap_or("");
        }
    }
    text
}

/// Returns as much of the end as fits.
fn tail(text: &str, cells: u16) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > usize::from(cells) {
            return text.get(at + c.len_utf8()..).unwrap_or("");
        }
    }
    text
}

/// Puts a text at the beginning of an area's first row, as much as fits. Returns the cells it took.
pub fn put(buffer: &mut Buffer, area: Rect, text: &str, style: Style) -> u16 {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return 0;
    }
    let (end, _) = buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    end.saturating_sub(area.x)
}

/// Puts a line of several styles at the beginning of an area's first row. Returns the cells it took.
pub fn put_line(buffer: &mut Buffer, area: Rect, line: &[(Cow<'_, str>, Style)]) -> u16 {
    let mut used = 0;
    for (text, style) in line {
        let rest = Rect {
            x: area.x.saturating_add(used),
            width: area.width.saturating_sub(used),
            height: area.height.min(1),
            ..area
        };
        if rest.width == 0 {
            break;
        }
        used += put(buffer, rest, text, *style);
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(fit("__consumer_offsets", 18, Shorten::Middle), "__consumer_offsets");
        assert_eq!(fit("__consumer_offsets", 9, Shorten::Middle), "__co…sets");
        assert_eq!(fit("__consumer_offsets", 9, Shorten::End), "__consum…");
        assert_eq!(fit("orders", 1, Shorten::Middle), "…");
        assert_eq!(fit("orders", 0, Shorten::Middle), "");
    }

    #[test]
    fn wide_characters_are_never_cut_in_half() {
        for cells in 0..12 {
            let short = fit("注文-テスト-01", cells, Shorten::Middle);
            assert!(width(&short) <= cells, "{short} in {cells}");
        }
    }
}
