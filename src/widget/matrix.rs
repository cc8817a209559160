//! A grid of marks: a few rows, many columns, in sections.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::glyphs::Glyphs;
use super::table::Shorten;
use super::text::{fit, put};

/// Columns are numbered every this many.
const NUMBER_EVERY: usize = 5;

/// Columns that belong together under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixSection {
    /// Their name.
    pub title: String,
    /// How many they are.
    pub columns: usize,
}

/// A mark in the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixCell {
    /// The mark, one cell wide.
    pub symbol: &'static str,
    /// What it looks like.
    pub style: Style,
}

/// A column of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixPosition {
    /// The section's number.
    pub section: usize,
    /// The column's number in it.
    pub column: usize,
}

/// A grid of marks. A section that is too wide goes on below; the grid scrolls by sections so that the chosen column is
/// in sight.
pub struct Matrix<'a> {
    /// The sections.
    pub sections: &'a [MatrixSection],
    /// The names of the rows, the same in each section.
    pub rows: &'a [(Cow<'a, str>, Style)],
    /// Returns the mark at a section, a row and a column; `None` where there is nothing.
    pub cell: &'a dyn Fn(usize, usize, usize) -> Option<MatrixCell>,
    /// The chosen column.
    pub selected: Option<MatrixPosition>,
    /// Names of sections.
    pub title: Style,
    /// Numbers of columns.
    pub label: Style,
    /// Where there is nothing.
    pub empty: Style,
    /// The chosen column.
    pub selection: Style,
}

impl std::fmt::Debug for Matrix<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matrix")
            .field("sections", &self.sections)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// How the grid is laid out in an area.
struct Measures {
    title: u16,
    row_label: u16,
    cell: u16,
    per_block: usize,
}

impl Matrix<'_> {
    /// Draws as many sections as fit.
    pub fn draw(&self, glyphs: &Glyphs, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let measures = self.measure(area.width);
        if area.is_empty() || measures.per_block == 0 || self.rows.is_empty() {
            return;
        }
        let block_rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX).saturating_add(1);
        let blocks: Vec<(usize, usize)> = self
            .sections
            .iter()
            .enumerate()
            .flat_map(|(section, of)| {
                (0..of.columns.max(1)).step_by(measures.per_block).map(move |first| (section, first))
            })
            .collect();
        let fitting = usize::from((area.height / block_rows).max(1));
        let first_block = self.first_block(&blocks, fitting, measures.per_block);
        let mut y = area.y;
        for (section, first) in blocks.iter().skip(first_block) {
            if y >= area.bottom() {
                break;
            }
            let rest = Rect { y, height: area.bottom() - y, ..area };
            self.draw_block(glyphs, &measures, *section, *first, rest, buffer);
            y = y.saturating_add(block_rows);
        }
    }

    fn first_block(&self, blocks: &[(usize, usize)], fitting: usize, per_block: usize) -> usize {
        let Some(chosen) = self.selected else { return 0 };
        let place = blocks.iter().position(|(section, first)| {
            *section == chosen.section && (*first..first + per_block).contains(&chosen.column)
        });
        let last_start = blocks.len().saturating_sub(fitting);
        place.map_or(0, |place| place.saturating_sub(fitting / 2)).min(last_start)
    }

    fn measure(&self, room: u16) -> Measures {
        let longest = |texts: &mut dyn Iterator<Item = &str>| -> u16 {
            texts.map(super::text::width).max().unwrap_or(0)
        };
        let row_label = longest(&mut self.rows.iter().map(|(name, _)| &**name)).min(room / 4);
        let title = longest(&mut self.sections.iter().map(|section| section.title.as_str()))
            .min((room / 3).max(8))
            .min(room.saturating_sub(row_label));
        let cells = room.saturating_sub(title + row_label + 3);
        let widest = self.sections.iter().map(|section| section.columns).max().unwrap_or(0).max(1);
        // Marks stand apart when there is room for that.
        let apart = widest.saturating_mul(2) <= usize::from(cells) || widest <= 10;
        let cell = if apart { 2 } else { 1 };
        Measures { title, row_label, cell, per_block: usize::from(cells / cell).min(widest) }
    }

    fn draw_block(
        &self,
        glyphs: &Glyphs,
        measures: &Measures,
        section: usize,
        first: usize,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let Some(of) = self.sections.get(section) else { return };
        let name = fit(&of.title, measures.title, Shorten::Middle);
        put(buffer, Rect { width: measures.title.min(area.width), height: 1, ..area }, &name, self.title);
        let x = area.x + measures.title + measures.row_label + 2;
        let columns = first..of.columns.min(first + measures.per_block);
        let left = |column: usize| -> u16 {
            let offset = u16::try_from(column - first).unwrap_or(u16::MAX).saturating_mul(measures.cell);
            x.saturating_add(offset)
        };
        for column in columns.clone().filter(|column| column % NUMBER_EVERY == 0 || *column == first) {
            let place = Rect { x: left(column), y: area.y, width: 4, height: 1 };
            put(buffer, place.intersection(area), &column.to_string(), self.label);
        }
        for (row, (label, style)) in self.rows.iter().enumerate() {
            let Some(y) = u16::try_from(row + 1).ok().map(|row| area.y.saturating_add(row)) else { break };
            if y >= area.bottom() {
                break;
            }
            let label_x = area.x + measures.title + 1;
            let shown = fit(label, measures.row_label, Shorten::End);
            put(buffer, Rect { x: label_x, y, width: measures.row_label, height: 1 }, &shown, *style);
            for column in columns.clone() {
                let mark = (self.cell)(section, row, column)
                    .unwrap_or(MatrixCell { symbol: glyphs.none, style: self.empty });
                let place = Rect { x: left(column), y, width: 1, height: 1 }.intersection(area);
                put(buffer, place, mark.symbol, mark.style);
            }
        }
        self.mark_selected(section, columns, &left, area, buffer);
    }

    /// Marks the chosen column. What the cells say stays readable: only their ground changes.
    fn mark_selected(
        &self,
        section: usize,
        columns: std::ops::Range<usize>,
        left: &dyn Fn(usize) -> u16,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let Some(chosen) = self.selected.filter(|chosen| chosen.section == section) else { return };
        if !columns.contains(&chosen.column) {
            return;
        }
        let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        let place = Rect { x: left(chosen.column), y: area.y.saturating_add(1), width: 1, height: rows };
        let place = place.intersection(area);
        buffer.set_style(place, self.selection.add_modifier(Modifier::UNDERLINED));
        let number = Rect { x: place.x, y: area.y, width: 4, height: 1 }.intersection(area);
        put(buffer, number, &format!("{} ", chosen.column), self.title);
    }
}
