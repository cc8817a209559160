//! The picture as a document.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use super::palette::Palette;
use super::shape;

/// A cell's size in the picture.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 17.0;
/// How far above its bottom a row's text stands.
const BASELINE: f64 = 4.2;
/// The margin around the screen.
const MARGIN: f64 = 10.0;

/// Returns a buffer as an SVG document. `title` is what it shows, for those who cannot see it.
pub fn svg(buffer: &Buffer, palette: &Palette, title: &str) -> String {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (width, height) = (columns * CELL_WIDTH + 2.0 * MARGIN, rows * CELL_HEIGHT + 2.0 * MARGIN);
    let mut out = String::with_capacity(64 * 1024);
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.1} {height:.1}" role="img" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">"#
    );
    let _ = writeln!(out, "<title>{}</title>", escape(title));
    let ground = palette.ground;
    let _ = writeln!(out, r#"<rect width="{width:.1}" height="{height:.1}" rx="8" fill="{}"/>"#, hex(ground));
    for y in 0..buffer.area.height {
        let row: Vec<&Cell> = (0..buffer.area.width)
            .filter_map(|x| buffer.cell((buffer.area.x + x, buffer.area.y + y)))
            .collect();
        write_row(&mut out, &row, f64::from(y), palette);
    }
    out.push_str("</svg>\n");
    out
}

/// A cell's colours and weight once reverse and dim are resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    front: (u8, u8, u8),
    ground: Option<(u8, u8, u8)>,
    bold: bool,
    italic: bool,
    underline: bool,
}

impl Look {
    fn of(cell: &Cell, palette: &Palette) -> Self {
        let mut front = palette.resolve(cell.fg).unwrap_or(palette.text);
        let mut ground = palette.resolve(cell.bg);
        if cell.modifier.contains(Modifier::REVERSED) {
            let before = ground.unwrap_or(palette.ground);
            ground = Some(front);
            front = before;
        }
        if cell.modifier.contains(Modifier::DIM) && cell.fg == Color::Reset {
            front = palette.dim;
        }
        Self {
            front,
            ground,
            bold: cell.modifier.contains(Modifier::BOLD),
            italic: cell.modifier.contains(Modifier::ITALIC),
            underline: cell.modifier.contains(Modifier::UNDERLINED),
        }
    }
}

fn write_row(out: &mut String, row: &[&Cell], y: f64, palette: &Palette) {
    let looks: Vec<Look> = row.iter().map(|cell| Look::of(cell, palette)).collect();
    let top = MARGIN + y * CELL_HEIGHT;
    for (from, to) in runs(&looks, |one, other| one.ground == other.ground) {
        let Some(ground) = looks.get(from).and_then(|look| look.ground) else { continue };
        let (x, width) = (MARGIN + from as f64 * CELL_WIDTH, (to - from) as f64 * CELL_WIDTH);
        let _ = writeln!(
            out,
            r#"<rect x="{x:.1}" y="{top:.1}" width="{width:.1}" height="{CELL_HEIGHT:.1}" fill="{}"/>"#,
            hex(ground)
        );
    }
    for (from, to) in runs(&looks, |one, other| one == other) {
        let (Some(look), Some(cells)) = (looks.get(from), row.get(from..to)) else { continue };
        write_run(out, cells, from, top, *look);
    }
}

/// Returns the runs of neighbours that belong together, as half-open ranges.
fn runs(looks: &[Look], same: impl Fn(&Look, &Look) -> bool) -> Vec<(usize, usize)> {
    let mut list: Vec<(usize, usize)> = Vec::new();
    for (place, look) in looks.iter().enumerate() {
        match list.last_mut() {
            Some((from, to)) if looks.get(*from).is_some_and(|first| same(first, look)) => *to = place + 1,
            _ => list.push((place, place + 1)),
        }
    }
    list
}

/// Writes cells of one look: shapes one by one, texts between them in one go.
fn write_run(out: &mut String, cells: &[&Cell], from: usize, top: f64, look: Look) {
    let mut text = String::new();
    let mut began = from;
    let mut skip = 0;
    let mut shapes = String::new();
    for (offset, cell) in cells.iter().enumerate() {
        let column = from + offset;
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let symbol = cell.symbol();
        let left = MARGIN + column as f64 * CELL_WIDTH;
        let first = symbol.chars().next().unwrap_or(' ');
        if shape::write(&mut shapes, first, left, top, (CELL_WIDTH, CELL_HEIGHT)) {
            write_text(out, &text, began, top, look);
            text.clear();
            began = column + 1;
            continue;
        }
        text.push_str(symbol);
        skip = symbol.width().saturating_sub(1);
    }
    write_text(out, &text, began, top, look);
    if !shapes.is_empty() {
        let _ = writeln!(out, r#"<path d="{shapes}" fill="{}"/>"#, hex(look.front));
    }
}

fn write_text(out: &mut String, text: &str, column: usize, top: f64, look: Look) {
    let shown = text.trim_end();
    let blank = shown.len() - shown.trim_start().len();
    let shown = shown.trim_start();
    if shown.is_empty() && !look.underline {
        return;
    }
    let (shown, blank) = if look.underline { (text, 0) } else { (shown, blank) };
    let x = MARGIN + (column + blank) as f64 * CELL_WIDTH;
    let y = top + CELL_HEIGHT - BASELINE;
    let length = shown.width() as f64 * CELL_WIDTH;
    let mut style = String::new();
    for (set, words) in [
        (look.bold, r#" font-weight="bold""#),
        (look.italic, r#" font-style="italic""#),
        (look.underline, r#" text-decoration="underline""#),
    ] {
        if set {
            style.push_str(words);
        }
    }
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" textLength="{length:.1}" xml:space="preserve" fill="{}"{style}>{}</text>"#,
        hex(look.front),
        escape(shown)
    );
}

fn hex((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn runs_of_one_style_are_one_text_and_blocks_are_shapes() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "a<b█⣿", Style::new());
        buffer.set_string(6, 0, "zz", Style::new().add_modifier(Modifier::REVERSED));
        let picture = svg(&buffer, &Palette::default(), "a & b");
        assert!(picture.contains("<title>a &amp; b</title>"), "{picture}");
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
        assert_eq!(picture.matches("<path").count(), 1, "{picture}");
        assert!(!picture.contains('█') && !picture.contains('⣿'), "{picture}");
        assert_eq!(picture, svg(&buffer, &Palette::default(), "a & b"));
    }
}
