//! The brokers and their processes.

use std::cell::Cell as Memory;

use ottla_broker::types::BrokerId;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::broker_facts::{broker_facts, draw_facts, process_facts};
use super::broker_rows::{COLUMNS, ProcessRow, cells, draw_minute, order, rows};
use super::filter::Filter;
use super::key_action::KeyAction;
use super::mouse::clicked_row;
use super::pane::{Pane, left, say, top};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{percent, short};
use crate::model::{Broker, History, Model, SourceName};
use crate::widget::{Listing, Table, put};

/// The columns one can sort by: place in the table.
const SORTS: [usize; 5] = [1, 0, 4, 7, 9];

/// The brokers and their processes.
#[derive(Debug, Default)]
pub(super) struct Brokers {
    list: Listing<ProcessRow>,
    pub(super) filter: Filter,
    sort: usize,
    reverse: bool,
    drawn: Memory<Rect>,
}

impl Brokers {
    pub(super) fn settle(&mut self, model: &Model) {
        let mut keys: Vec<_> = rows(model)
            .into_iter()
            .filter(|row| match row {
                ProcessRow::Broker(id) => {
                    let broker = model.brokers.get(id);
                    let host = broker.and_then(|broker| broker.address()).map_or("", |(host, _)| host);
                    let state = broker.map_or("down", |broker| broker.state.word());
                    self.filter.keeps(&[&id.to_string(), host, state])
                }
                ProcessRow::Zookeeper => self.filter.keeps(&["zookeeper"]),
            })
            .collect();
        let figure = |row: &ProcessRow| figure(model, row, self.sort);
        keys.sort_by(|one, other| {
            let by = figure(one).total_cmp(&figure(other));
            (if self.reverse { by.reverse() } else { by }).then(one.cmp(other))
        });
        self.list.set(keys);
    }

    pub(super) fn on_action(&mut self, model: &Model, action: KeyAction) -> Reaction {
        if step(&mut self.list, action) {
            return Reaction::Done;
        }
        match action {
            KeyAction::Sort => {
                self.sort = (self.sort + 1) % SORTS.len();
                // The largest first, except for names and states.
                self.reverse = self.sort >= 2;
            }
            KeyAction::ReverseSort => self.reverse = !self.reverse,
            _ => return order(model, self.list.selected(), action),
        }
        Reaction::Done
    }

    pub(super) fn click(&mut self, at: Position) {
        if let Some(row) = clicked_row(self.drawn.get(), at) {
            self.list.click(row);
        }
    }

    pub(super) fn draw(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let wanted = u16::try_from(self.list.keys().len()).unwrap_or(u16::MAX).saturating_add(3);
        let (list, detail) = top(area, wanted.clamp(4, (area.height / 2).max(4)));
        let summary = &scene.model.summary;
        let inner = Pane::new(scene, "brokers")
            .more(format!("{} of {} up", summary.brokers_up, summary.brokers), scene.theme.dim)
            .filter(scene, &self.filter)
            .stale(scene, scene.model.stale(SourceName::Processes))
            .focus(true)
            .draw(scene, list, buffer);
        let fitting = usize::from(inner.height.saturating_sub(1));
        self.drawn.set(top(inner, 1).1);
        let keys = self.list.keys();
        let sorted = SORTS.get(self.sort).map(|column| (*column, self.reverse));
        Table {
            columns: &COLUMNS,
            sorted,
            rows: self.list.visible(fitting),
            selected: Some(self.list.place()),
            cells: &|row| keys.get(row).map_or_else(Vec::new, |row| cells(scene, *row)),
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
        match self.list.selected() {
            Some(ProcessRow::Broker(id)) => draw_broker(scene, *id, detail, buffer),
            Some(ProcessRow::Zookeeper) => draw_zookeeper(scene, detail, buffer),
            None => {
                let inner = Pane::new(scene, "no broker").draw(scene, detail, buffer);
                say(buffer, inner, &["No broker is known yet.".into()], scene.theme.dim);
            }
        }
    }
}

/// Moves a cursor; returns whether that is what the action means.
pub(super) fn step<K: PartialEq + Clone>(list: &mut Listing<K>, action: KeyAction) -> bool {
    match action {
        KeyAction::Up => list.step(-1),
        KeyAction::Down => list.step(1),
        KeyAction::PageUp => list.page(-1),
        KeyAction::PageDown => list.page(1),
        KeyAction::Top => list.top(),
        KeyAction::Bottom => list.bottom(),
        _ => return false,
    }
    true
}

/// Returns what a row is sorted by.
fn figure(model: &Model, row: &ProcessRow, sort: usize) -> f64 {
    let ProcessRow::Broker(id) = row else { return f64::INFINITY };
    let broker = model.brokers.get(id);
    let usage = broker.and_then(|broker| broker.process.as_ref()?.usage);
    match sort {
        1 => broker.map_or(9.0, |broker| f64::from(broker.state as u8)),
        2 => model.summary.share(*id).leaders as f64,
        3 => usage.map_or(-1.0, |usage| usage.cpu_ratio),
        4 => usage.map_or(-1.0, |usage| usage.resident_bytes as f64),
        _ => f64::from(id.0),
    }
}

fn draw_broker(scene: &Scene<'_>, id: BrokerId, area: Rect, buffer: &mut Buffer) {
    let Some(broker) = scene.model.brokers.get(&id) else {
        let inner = Pane::new(scene, format!("broker {id}")).draw(scene, area, buffer);
        say(buffer, inner, &["It holds copies of partitions and was never seen.".into()], scene.theme.dim);
        return;
    };
    let (glyph, style) = scene.broker_state(broker.state);
    let owned = if broker.is_owned() { "run from here" } else { "attached" };
    let inner = Pane::new(scene, format!("broker {id}"))
        .more(format!("{glyph} {}", broker.state.word()), style)
        .more(owned, scene.theme.dim)
        .stale(scene, scene.model.stale(SourceName::Metrics(id)))
        .draw(scene, area, buffer);
    let (facts, charts) = left(inner, if inner.width >= 90 { inner.width / 2 } else { inner.width });
    draw_facts(scene, broker_facts(scene, broker), facts, buffer);
    if charts.width > 0 {
        draw_charts(scene, broker, charts, buffer);
    }
}

/// Draws the last minute of a broker.
fn draw_charts(scene: &Scene<'_>, broker: &Broker, area: Rect, buffer: &mut Buffer) {
    let mut charts: Vec<(String, &History, Option<f64>)> = Vec::new();
    if let Some(process) = &broker.process {
        let now = process.cpu_history.last().unwrap_or(0.0);
        charts.push((format!("cpu {}", percent(now)), &process.cpu_history, Some(1.0)));
    }
    if let Some(network) = scene.model.networks.get(&broker.id) {
        let rate = short(network.requests_per_second);
        charts.push((format!("requests {rate}/s"), &network.request_history, None));
        let depth = network.sample.request_queue_size;
        charts.push((format!("request channel {depth}"), &network.request_queue_history, None));
    }
    let count = u16::try_from(charts.len()).unwrap_or(1).max(1);
    let rows = (area.height / count).max(1);
    let mut rest = area;
    for (label, history, max) in charts {
        let (chart, below) = top(rest, rows);
        rest = below;
        draw_chart(scene, &label, history, max, chart, buffer);
    }
}

/// Draws a history under its name.
pub(super) fn draw_chart(
    scene: &Scene<'_>,
    label: &str,
    history: &History,
    max: Option<f64>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let area = Rect { width: area.width.saturating_sub(1), ..area };
    let (title, chart) = if area.height > 1 { top(area, 1) } else { left(area, 22.min(area.width / 2)) };
    put(buffer, title, label, scene.theme.label);
    let points: Vec<_> = history.points().collect();
    draw_minute(scene.theme, scene.glyphs, &points, max, chart, buffer);
}

fn draw_zookeeper(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let inner = Pane::new(scene, "ZooKeeper")
        .stale(scene, scene.model.stale(SourceName::Zookeeper))
        .draw(scene, area, buffer);
    let cluster = &scene.model.cluster;
    let mut facts = vec![
        ("connection", cluster.zookeeper.word().to_owned()),
        ("connect", cluster.profile.zookeeper.clone()),
    ];
    if let Some(process) = &scene.model.zookeeper {
        facts.extend(process_facts(scene, process));
    }
    draw_facts(scene, facts, inner, buffer);
}
