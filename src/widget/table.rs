//! A table that builds only the rows in sight.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::glyphs::Glyphs;
use super::text::{fit, put, put_line, width};

/// How wide a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// This many cells.
    Fixed(u16),
    /// At least `min`; what is left over is shared out by `weight`.
    Flex {
        /// The least.
        min: u16,
        /// The most.
        max: u16,
    },
}

/// Where a cell's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// At the left: words.
    #[default]
    Left,
    /// At the right: figures.
    Right,
}

/// Where a text that is too long loses something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shorten {
    /// In the middle: names, whose ends tell them apart.
    #[default]
    Middle,
    /// At the end: sentences.
    End,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// How wide it is.
    pub width: Width,
    /// Where its text stands.
    pub align: Align,
    /// Where a text that is too long loses something.
    pub shorten: Shorten,
    /// When not all columns fit, those with the highest number go first; 0 never goes.
    pub priority: u8,
}

impl Column {
    /// Returns a column of words.
    pub const fn text(title: &'static str, min: u16, max: u16, priority: u8) -> Self {
        Self {
            title,
            width: Width::Flex { min, max },
            align: Align::Left,
            shorten: Shorten::Middle,
            priority,
        }
    }

    /// Returns a column of figures.
    pub const fn figure(title: &'static str, cells: u16, priority: u8) -> Self {
        Self { title, width: Width::Fixed(cells), align: Align::Right, shorten: Shorten::End, priority }
    }

    /// Returns a column of fixed width whose cells stand at the left.
    pub const fn fixed(title: &'static str, cells: u16, priority: u8) -> Self {
        Self { align: Align::Left, ..Self::figure(title, cells, priority) }
    }

    /// Returns the column so that a text that is too long loses its end.
    #[must_use]
    pub const fn keep_beginning(self) -> Self {
        Self { shorten: Shorten::End, ..self }
    }

    fn min(&self) -> u16 {
        match self.width {
            Width::Fixed(cells) => cells,
            Width::Flex { min, .. } => min,
        }
    }

    fn max(&self) -> u16 {
        match self.width {
            Width::Fixed(cells) => cells,
            Width::Flex { max, .. } => max,
        }
    }
}

/// Draws into a cell.
pub type Painter<'a> = Box<dyn Fn(Rect, &mut Buffer) + 'a>;

/// What stands in a cell.
pub enum Cell<'a> {
    /// A text in one style.
    Text(Cow<'a, str>, Style),
    /// A line of several styles.
    Line(Vec<(Cow<'a, str>, Style)>),
    /// Something that draws itself.
    Draw(Painter<'a>),
}

impl std::fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text, _) => f.debug_tuple("Text").field(text).finish(),
            Self::Line(line) => f.debug_tuple("Line").field(line).finish(),
            Self::Draw(_) => f.write_str("Draw"),
        }
    }
}

/// What a table looks like.
#[derive(Debug, Clone, Copy)]
pub struct TableStyle {
    /// Headings.
    pub heading: Style,
    /// The heading it is sorted by.
    pub sorted: Style,
    /// The row under the cursor.
    pub selection: Style,
}

/// A table that asks only for the rows in sight.
pub struct Table<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// The column it is sorted by, and whether downwards.
    pub sorted: Option<(usize, bool)>,
    /// The rows in sight, as [`super::Listing::visible`] returns them.
    pub rows: Range<usize>,
    /// The row under the cursor.
    pub selected: Option<usize>,
    /// Makes the cells of a row, one per column.
    pub cells: &'a dyn Fn(usize) -> Vec<Cell<'a>>,
    /// What it looks like.
    pub style: TableStyle,
}

impl std::fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("columns", &self.columns)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Table<'_> {
    /// Draws the headings in the first row of the area and the rows below them.
    pub fn draw(&self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let places = layout(self.columns, area.width.saturating_sub(1));
        self.draw_headings(glyphs, &places, area, buffer);
        for (offset, row) in self.rows.clone().enumerate() {
            let Some(y) = u16::try_from(offset + 1).ok().map(|offset| area.y.saturating_add(offset)) else {
                break;
            };
            if y >= area.bottom() {
                break;
            }
            self.draw_row(glyphs, &places, Rect { y, height: 1, ..area }, row, buffer);
        }
    }

    fn draw_headings(&self, glyphs: &Glyphs, places: &[(usize, u16, u16)], area: Rect, buffer: &mut Buffer) {
        for (index, x, cells) in places {
            let Some(column) = self.columns.get(*index) else { continue };
            let place = Rect { x: area.x + 1 + x, width: *cells, height: 1, ..area };
            match self.sorted.filter(|(by, _)| by == index) {
                Some((_, downwards)) => {
                    let mark = if downwards { glyphs.descending } else { glyphs.ascending };
                    let title = match column.align {
                        Align::Left => format!("{}{mark}", column.title),
                        Align::Right => format!("{mark}{}", column.title),
                    };
                    put_aligned(buffer, place, &title, self.style.sorted, column.align, Shorten::End);
                }
                None => {
                    put_aligned(buffer, place, column.title, self.style.heading, column.align, Shorten::End)
                }
            }
        }
    }

    fn draw_row(
        &self,
        glyphs: &Glyphs,
        places: &[(usize, u16, u16)],
        area: Rect,
        row: usize,
        buffer: &mut Buffer,
    ) {
        let cells = (self.cells)(row);
        for (index, x, cells_wide) in places {
            let (Some(column), Some(cell)) = (self.columns.get(*index), cells.get(*index)) else { continue };
            let place = Rect { x: area.x + 1 + x, width: *cells_wide, ..area };
            match cell {
                Cell::Text(text, style) => {
                    put_aligned(buffer, place, text, *style, column.align, column.shorten);
                }
                Cell::Line(line) => {
                    let length = line.iter().map(|(text, _)| width(text)).fold(0, u16::saturating_add);
                    let shift = match column.align {
                        Align::Left => 0,
                        Align::Right => place.width.saturating_sub(length),
                    };
                    put_line(buffer, Rect { x: place.x + shift, width: place.width - shift, ..place }, line);
                }
                Cell::Draw(draw) => draw(place, buffer),
            }
        }
        if self.selected == Some(row) {
            buffer.set_style(area, self.style.selection);
            put(buffer, Rect { width: 1, ..area }, glyphs.cursor, self.style.selection);
        }
    }
}

/// Puts a text in its place, shortened if it must be.
fn put_aligned(buffer: &mut Buffer, place: Rect, text: &str, style: Style, align: Align, shorten: Shorten) {
    let text = fit(text, place.width, shorten);
    let shift = match align {
        Align::Left => 0,
        Align::Right => place.width.saturating_sub(width(&text)),
    };
    put(buffer, Rect { x: place.x + shift, width: place.width - shift, ..place }, &text, style);
}

/// Returns the columns that fit, each with its place and width. A column stands one cell from the next.
fn layout(columns: &[Column], room: u16) -> Vec<(usize, u16, u16)> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let column = |index: usize| columns.get(index);
    let needed = |shown: &[usize]| -> u16 {
        shown
            .iter()
            .filter_map(|index| column(*index))
            .map(|column| column.min().saturating_add(1))
            .fold(0, u16::saturating_add)
            .saturating_sub(1)
    };
    while needed(&shown) > room {
        let last = shown
            .iter()
            .enumerate()
            .max_by_key(|(_, index)| column(**index).map_or(0, |column| column.priority))
            .filter(|(_, index)| column(**index).is_some_and(|column| column.priority > 0))
            .map(|(place, _)| place);
        match last {
            Some(place) => shown.remove(place),
            None => break,
        };
    }
    let mut spare = room.saturating_sub(needed(&shown));
    let mut widths: Vec<u16> = shown.iter().map(|index| column(*index).map_or(0, Column::min)).collect();
    // What is left over goes to the columns that can grow, a fair share at a time.
    loop {
        let growing: Vec<usize> = widths
            .iter()
            .enumerate()
            .filter(|(place, cells)| {
                shown
                    .get(*place)
                    .and_then(|index| column(*index))
                    .is_some_and(|column| **cells < column.max())
            })
            .map(|(place, _)| place)
            .collect();
        let Some(share) =
            u16::try_from(growing.len()).ok().filter(|count| *count > 0).map(|count| spare / count)
        else {
            break;
        };
        if spare == 0 {
            break;
        }
        for place in growing {
            let max = shown.get(place).and_then(|index| column(*index)).map_or(0, Column::max);
            if let Some(cells) = widths.get_mut(place) {
                let more = share.max(1).min(max - *cells).min(spare);
                *cells += more;
                spare -= more;
            }
        }
    }
    let mut x = 0_u16;
    let mut places = Vec::with_capacity(shown.len());
    for (index, cells) in shown.into_iter().zip(widths) {
        let cells = cells.min(room.saturating_sub(x));
        if cells > 0 {
            places.push((index, x, cells));
        }
        x = x.saturating_add(cells).saturating_add(1);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] =
        [Column::text("NAME", 6, 20, 0), Column::figure("LAG", 5, 1), Column::figure("RATE", 6, 2)];

    fn widths(room: u16) -> Vec<(usize, u16)> {
        layout(&COLUMNS, room).into_iter().map(|(index, _, cells)| (index, cells)).collect()
    }

    #[test]
    fn columns_go_by_priority_and_the_rest_share_what_is_left() {
        assert_eq!(widths(40), [(0, 20), (1, 5), (2, 6)]);
        assert_eq!(widths(19), [(0, 6), (1, 5), (2, 6)]);
        assert_eq!(widths(18), [(0, 12), (1, 5)]);
        assert_eq!(widths(9), [(0, 9)]);
        assert_eq!(widths(4), [(0, 4)]);
        assert!(widths(0).is_empty());
    }

    #[test]
    fn only_rows_in_sight_are_built() {
        let area = Rect::new(0, 0, 30, 4);
        let mut buffer = Buffer::empty(area);
        let built = std::cell::RefCell::new(Vec::new());
        let cells = |row: usize| {
            built.borrow_mut().push(row);
            vec![Cell::Text(format!("row {row}").into(), Style::new())]
        };
        let style = TableStyle { heading: Style::new(), sorted: Style::new(), selection: Style::new() };
        let table = Table {
            columns: &COLUMNS,
            sorted: Some((0, true)),
            rows: 500..503,
            selected: None,
            cells: &cells,
            style,
        };
        table.draw(&Glyphs::default(), area, &mut buffer);
        assert_eq!(*built.borrow(), [500, 501, 502]);
    }
}
