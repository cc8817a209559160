//! What happened, newest first.

use std::cell::Cell as Memory;

use ottla_broker::types::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::broker_rows::text;
use super::brokers::step;
use super::filter::Filter;
use super::key_action::KeyAction;
use super::mouse::clicked_row;
use super::pane::{Pane, bottom, say, top};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{clock, clock_ms, span};
use crate::model::{Election, Event, EventKind, Model, Severity};
use crate::widget::{Cell, Column, Listing, Mark, Shorten, Strip, Table, put};

/// How far back the strip of time reaches.
const STRIP_MS: f64 = 600_000.0;
/// The most events that are listed.
const LISTED_MAX: usize = 5_000;

const COLUMNS: [Column; 4] = [
    Column::fixed("TIME UTC", 12, 3),
    Column::fixed("ABOUT", 12, 2),
    Column::text("WHAT HAPPENED", 30, 400, 0).keep_beginning(),
    Column::figure("TOOK", 7, 1),
];

const PARTITION_COLUMNS: [Column; 4] = [
    Column::text("PARTITION", 16, 50, 0),
    Column::fixed("FROM", 12, 0),
    Column::figure("EPOCH", 6, 2),
    Column::figure("TOOK", 9, 0),
];

/// What happened.
#[derive(Debug, Default)]
pub(super) struct Events {
    list: Listing<u64>,
    pub(super) filter: Filter,
    only_trouble: bool,
    detail_hidden: bool,
    drawn: Memory<Rect>,
}

impl Events {
    pub(super) fn settle(&mut self, model: &Model) {
        // Who stands on the newest event follows the news; who has moved down stays on what he reads.
        let follow = self.list.place() == 0;
        let keys = model
            .timeline
            .newest_first()
            .filter(|event| !self.only_trouble || event.severity >= Severity::Warning)
            .filter(|event| self.filter.keeps(&[&event.text, event.kind.word()]))
            .take(LISTED_MAX)
            .map(|event| event.number)
            .collect();
        self.list.set(keys);
        if follow {
            self.list.top();
        }
    }

    pub(super) fn on_action(&mut self, action: KeyAction) -> Reaction {
        if step(&mut self.list, action) {
            return Reaction::Done;
        }
        match action {
            KeyAction::OnlyTrouble => self.only_trouble = !self.only_trouble,
            KeyAction::Open => self.detail_hidden = !self.detail_hidden,
            _ => return Reaction::Unknown,
        }
        Reaction::Done
    }

    pub(super) fn click(&mut self, at: Position) {
        if let Some(row) = clicked_row(self.drawn.get(), at) {
            self.list.click(row);
        }
    }

    pub(super) fn draw(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let chosen = self.list.selected().and_then(|number| scene.model.timeline.get(*number));
        let detail_rows = match chosen {
            Some(event) if !self.detail_hidden && !event.partitions.is_empty() => {
                let wanted = u16::try_from(event.partitions.len()).unwrap_or(u16::MAX).saturating_add(3);
                wanted.min(area.height / 3)
            }
            _ => 0,
        };
        let (list, detail) = bottom(area, detail_rows);
        self.draw_list(scene, list, buffer);
        if let Some(event) = chosen
            && detail.height > 0
        {
            draw_partitions(scene, event, detail, buffer);
        }
    }

    fn draw_list(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let mut pane = Pane::new(scene, "events").more(self.list.keys().len().to_string(), scene.theme.dim);
        if self.only_trouble {
            pane = pane.more("only trouble", scene.theme.badge);
        }
        let inner = pane.filter(scene, &self.filter).focus(true).draw(scene, area, buffer);
        let (strip, table) = top(inner, if inner.height > 8 { 2 } else { 0 });
        draw_strip(scene, strip, buffer);
        self.drawn.set(top(table, 1).1);
        let keys = self.list.keys();
        if keys.is_empty() {
            let words = if self.filter.is_set() || self.only_trouble {
                "No event matches; esc clears the filter, w shows all."
            } else {
                "Nothing has happened yet."
            };
            say(buffer, table, &[words.into()], scene.theme.dim);
            return;
        }
        Table {
            columns: &COLUMNS,
            sorted: None,
            rows: self.list.visible(usize::from(table.height.saturating_sub(1))),
            selected: Some(self.list.place()),
            cells: &|row| {
                let event = keys.get(row).and_then(|number| scene.model.timeline.get(*number));
                event.map_or_else(Vec::new, |event| cells(scene, event))
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, table, buffer);
    }
}

fn cells<'a>(scene: &Scene<'a>, event: &'a Event) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let (glyph, style) = scene.severity(event.severity);
    vec![
        text(clock_ms(event.at), theme.dim),
        text(format!("{glyph} {}", event.kind.word()), style),
        text(event.text.as_str(), if event.severity >= Severity::Critical { style } else { theme.base }),
        text(took(event), theme.strong),
    ]
}

/// Returns how long an event took, where that is worth saying.
fn took(event: &Event) -> String {
    event.took.filter(|took| *took > Millis(0)).map_or_else(String::new, span)
}

/// Draws when things happened in the last minutes.
fn draw_strip(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let (strip, labels) = top(area, 1);
    let marks: Vec<Mark> = scene
        .model
        .timeline
        .newest_first()
        .map(|event| {
            let ago = scene.now.since(event.at).0 as f64 / STRIP_MS;
            let (_, style) = scene.severity(event.severity);
            Mark { ago, weight: event.severity as u8, style }
        })
        .take_while(|mark| mark.ago < 1.0)
        .collect();
    Strip { marks: &marks, empty: scene.theme.faint }.draw(scene.glyphs, strip, buffer);
    put(buffer, labels, "10 minutes ago", scene.theme.dim);
    let now = "now";
    let x = labels.right().saturating_sub(3).max(labels.x);
    put(buffer, Rect { x, width: labels.right() - x, ..labels }, now, scene.theme.dim);
}

fn draw_partitions(scene: &Scene<'_>, event: &Event, area: Rect, buffer: &mut Buffer) {
    let more = match event.partitions_unlisted {
        0 => String::new(),
        more => format!("and {more} more"),
    };
    let took =
        if event.kind == EventKind::Isr { "took: how long it was out" } else { "took: how long nobody led" };
    let inner = Pane::new(scene, "partitions")
        .more(event.partitions.len().to_string(), scene.theme.dim)
        .right(took, scene.theme.dim)
        .bottom(more, scene.theme.dim)
        .draw(scene, area, buffer);
    let mut list: Vec<&Election> = event.partitions.iter().collect();
    list.sort_by(|one, other| other.took.cmp(&one.took).then_with(|| one.partition.cmp(&other.partition)));
    Table {
        columns: &PARTITION_COLUMNS,
        sorted: None,
        rows: 0..list.len(),
        selected: None,
        cells: &|row| {
            let Some(election) = list.get(row) else { return Vec::new() };
            let name = |id: Option<_>| {
                id.map_or_else(|| "-".to_owned(), |id: ottla_broker::types::BrokerId| id.to_string())
            };
            let from = match event.kind {
                EventKind::Isr => format!("broker {}", name(election.from)),
                _ => format!("{} {} {}", name(election.from), scene.glyphs.arrow, name(election.to)),
            };
            vec![
                text(election.partition.to_string(), scene.theme.base),
                text(from, scene.theme.base),
                text(election.leader_epoch.to_string(), scene.theme.dim),
                text(election.took.map_or_else(|| "-".to_owned(), span), scene.theme.strong),
            ]
        },
        style: scene.table(),
    }
    .draw(scene.glyphs, inner, buffer);
}

/// Draws the newest events, a row each.
pub(super) fn draw_ticker(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let newest: Vec<&Event> = scene.model.timeline.newest_first().take(usize::from(area.height)).collect();
    if newest.is_empty() {
        say(buffer, area, &["Nothing has happened yet.".into()], scene.theme.dim);
        return;
    }
    let mut rest = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(1), ..area };
    for event in newest {
        let (row, below) = top(rest, 1);
        rest = below;
        let (glyph, style) = scene.severity(event.severity);
        let took = match took(event) {
            took if took.is_empty() => took,
            took => format!(" {took}"),
        };
        let took_cells = crate::widget::width(&took);
        let used = put(buffer, row, &format!("{} ", clock(event.at)), scene.theme.dim);
        let mark = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
        let used = used + put(buffer, mark, &format!("{glyph} "), style);
        let room = row.width.saturating_sub(used).saturating_sub(took_cells);
        let what = crate::widget::fit(&event.text, room, Shorten::End);
        let look = if event.severity >= Severity::Critical { style } else { scene.theme.base };
        let place = Rect { x: row.x + used, width: room, ..row };
        put(buffer, place, &what, look);
        let at = row.right().saturating_sub(took_cells);
        put(buffer, Rect { x: at, width: took_cells, ..row }, &took, scene.theme.strong);
    }
}
