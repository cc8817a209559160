//! The staged network of each broker: request channel, handlers, processors, and where the time of requests goes.

use std::borrow::Cow;
use std::cell::Cell as Memory;

use ottla_broker::types::{BrokerId, Millis};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::broker_rows::{spark_cell, text};
use super::brokers::{draw_chart, step};
use super::chrome::old;
use super::key_action::KeyAction;
use super::mouse::clicked_row;
use super::pane::{Pane, left, say, top};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{byte_rate, dash, percent, short};
use crate::model::{Model, Network, Processor, RequestKind, SourceName};
use crate::widget::{Bar, Cell, Column, Listing, Table, put, put_line};

/// Readings older than this are marked.
const FRESH: Millis = Millis(5_000);

const COLUMNS: [Column; 9] = [
    Column::fixed("BROKER", 9, 0),
    Column::figure("CHANNEL", 7, 0),
    Column::figure("MAX 1M", 6, 0),
    Column::figure("BOUND", 5, 3),
    Column::fixed("LAST MINUTE", 18, 2),
    Column::fixed("HANDLERS BUSY", 16, 1),
    Column::figure("REQ/S", 6, 1),
    Column::figure("IN", 10, 4),
    Column::figure("OUT", 10, 4),
];

const PROCESSOR_COLUMNS: [Column; 6] = [
    Column::fixed("PROCESSOR", 9, 0),
    Column::figure("RESPONSES", 9, 0),
    Column::figure("MAX 1M", 6, 1),
    Column::fixed("LAST MINUTE", 16, 3),
    Column::figure("CONNECTIONS", 11, 2),
    Column::fixed("BUSY", 14, 1),
];

const REQUEST_COLUMNS: [Column; 9] = [
    Column::text("REQUEST", 14, 26, 0),
    Column::figure("PER S", 6, 0),
    Column::figure("MEAN MS", 7, 0),
    Column::fixed("WHERE THE TIME GOES", 26, 1),
    Column::figure("QUEUE", 7, 3),
    Column::figure("LOCAL", 7, 3),
    Column::figure("REMOTE", 7, 3),
    Column::figure("SEND", 7, 4),
    Column::figure("ERR/S", 5, 2),
];

/// The networks of the brokers.
#[derive(Debug, Default)]
pub(super) struct NetworkView {
    list: Listing<BrokerId>,
    drawn: Memory<Rect>,
}

impl NetworkView {
    pub(super) fn settle(&mut self, model: &Model) {
        self.list.set(model.broker_ids());
    }

    pub(super) fn on_action(&mut self, action: KeyAction) -> Reaction {
        if step(&mut self.list, action) { Reaction::Done } else { Reaction::Unknown }
    }

    pub(super) fn click(&mut self, at: Position) {
        if let Some(row) = clicked_row(self.drawn.get(), at) {
            self.list.click(row);
        }
    }

    pub(super) fn draw(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let wanted = u16::try_from(self.list.keys().len()).unwrap_or(u16::MAX).saturating_add(3);
        let (list, rest) = top(area, wanted.clamp(4, (area.height / 3).max(4)));
        self.draw_list(scene, list, buffer);
        let Some((id, network)) =
            self.list.selected().and_then(|id| Some((*id, scene.model.networks.get(id)?)))
        else {
            let inner = Pane::new(scene, "no readings").draw(scene, rest, buffer);
            let why = self.list.selected().and_then(|id| scene.model.stale(SourceName::Metrics(*id)));
            let why = why.map_or("No metrics were read from it yet.", |(_, why)| why);
            say(buffer, inner, &[why.into()], scene.theme.dim);
            return;
        };
        let rows = u16::try_from(network.processors.len()).unwrap_or(u16::MAX).saturating_add(3);
        let (stages, requests) = top(rest, rows.clamp(6, (rest.height / 2).max(6)));
        if stages.width >= 110 {
            let (processors, channel) = left(stages, stages.width * 3 / 5);
            draw_processors(scene, id, network, processors, buffer);
            draw_channel(scene, network, channel, buffer);
        } else {
            draw_processors(scene, id, network, stages, buffer);
        }
        draw_requests(scene, id, network, requests, buffer);
    }

    fn draw_list(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let inner = Pane::new(scene, "request channels and handlers").focus(true).draw(scene, area, buffer);
        self.drawn.set(top(inner, 1).1);
        let keys = self.list.keys();
        if keys.is_empty() {
            say(buffer, inner, &["No broker is known yet.".into()], scene.theme.dim);
            return;
        }
        Table {
            columns: &COLUMNS,
            sorted: None,
            rows: self.list.visible(usize::from(inner.height.saturating_sub(1))),
            selected: Some(self.list.place()),
            cells: &|row| keys.get(row).map_or_else(Vec::new, |id| channel_cells(scene, *id)),
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }
}

fn channel_cells<'a>(scene: &Scene<'a>, id: BrokerId) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let Some(network) = scene.model.networks.get(&id) else {
        let mut list = vec![text(id.to_string(), theme.strong)];
        list.extend((0..COLUMNS.len() - 1).map(|_| text(dash(), theme.dim)));
        return list;
    };
    let sample = &network.sample;
    let stale = old(scene, network.seen, FRESH);
    let base = if stale.is_some() { theme.dim } else { theme.base };
    let bound = sample.request_queue_capacity;
    let share = |size: u32| bound.map_or(0.0, |bound| f64::from(size) / f64::from(bound.max(1)));
    let depth_style = |size: u32| if share(size) >= 0.5 { theme.gradient(share(size)) } else { base };
    let name = match stale {
        Some(stale) => format!("{id} {stale}"),
        None => id.to_string(),
    };
    vec![
        text(name, theme.strong),
        text(sample.request_queue_size.to_string(), depth_style(sample.request_queue_size)),
        text(network.request_queue_max.to_string(), depth_style(network.request_queue_max)),
        text(bound.map_or_else(dash, |bound| bound.to_string()), theme.dim),
        spark_cell(scene, &network.request_queue_history, None),
        busy_cell(scene, sample.handler_idle_ratio),
        text(short(network.requests_per_second), base),
        text(byte_rate(network.bytes_in_per_second), base),
        text(byte_rate(network.bytes_out_per_second), base),
    ]
}

/// Returns a bar for the share of time that threads had something to do.
fn busy_cell<'a>(scene: &Scene<'a>, idle: Option<f64>) -> Cell<'a> {
    let Some(idle) = idle else { return text(dash(), scene.theme.dim) };
    let busy = (1.0 - idle).clamp(0.0, 1.0);
    let (theme, glyphs) = (scene.theme, scene.glyphs);
    Cell::Draw(Box::new(move |area, buffer| {
        let (bar, figure) = left(area, area.width.saturating_sub(5));
        Bar { ratio: busy, style: theme.gradient(busy), empty: theme.faint }.draw(glyphs, bar, buffer);
        put(buffer, figure, &format!("{:>5}", percent(busy)), theme.base);
    }))
}

fn draw_processors(scene: &Scene<'_>, id: BrokerId, network: &Network, area: Rect, buffer: &mut Buffer) {
    let inner = Pane::new(scene, format!("processors of broker {id}"))
        .stale(scene, scene.model.stale(SourceName::Metrics(id)))
        .draw(scene, area, buffer);
    let processors: Vec<(&u32, &Processor)> = network.processors.iter().collect();
    Table {
        columns: &PROCESSOR_COLUMNS,
        sorted: None,
        rows: 0..processors.len(),
        selected: None,
        cells: &|row| {
            let Some((number, processor)) = processors.get(row).copied() else { return Vec::new() };
            let (theme, sample) = (scene.theme, &processor.sample);
            vec![
                text(number.to_string(), theme.strong),
                text(sample.response_queue_size.to_string(), theme.base),
                text(processor.response_queue_max.to_string(), theme.base),
                spark_cell(scene, &processor.response_queue_history, None),
                text(sample.connections.map_or_else(dash, |count| count.to_string()), theme.base),
                busy_cell(scene, sample.idle_ratio),
            ]
        },
        style: scene.table(),
    }
    .draw(scene.glyphs, inner, buffer);
}

/// Draws the last minute of the channel and what waits elsewhere.
fn draw_channel(scene: &Scene<'_>, network: &Network, area: Rect, buffer: &mut Buffer) {
    let sample = &network.sample;
    let handlers = sample.handlers.map_or_else(String::new, |count| format!("{count} handlers"));
    let inner = Pane::new(scene, "last minute").right(handlers, scene.theme.dim).draw(scene, area, buffer);
    let waiting: Vec<String> =
        sample.purgatory.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let refused: u64 = sample.refused_total.values().sum();
    let (charts, foot) = super::pane::bottom(inner, u16::from(inner.height > 3));
    let (requests, channel) = top(charts, charts.height / 2);
    let rate = short(network.requests_per_second);
    draw_chart(scene, &format!("requests {rate}/s"), &network.request_history, None, requests, buffer);
    let label = format!("channel {} now, {} max", sample.request_queue_size, network.request_queue_max);
    draw_chart(scene, &label, &network.request_queue_history, None, channel, buffer);
    let mut line: Vec<(Cow<'_, str>, Style)> = Vec::new();
    if !waiting.is_empty() {
        line.push((format!("waiting: {}  ", waiting.join(", ")).into(), scene.theme.dim));
    }
    if refused > 0 {
        line.push((format!("{refused} refused").into(), scene.theme.warn));
    }
    put_line(buffer, foot, &line);
}

fn draw_requests(scene: &Scene<'_>, id: BrokerId, network: &Network, area: Rect, buffer: &mut Buffer) {
    let theme = scene.theme;
    let inner = Pane::new(scene, format!("requests to broker {id}"))
        .right("queue", theme.series_4)
        .right(" local", theme.series_1)
        .right(" remote", theme.series_3)
        .right(" send", theme.series_2)
        .draw(scene, area, buffer);
    let mut kinds: Vec<(&String, &RequestKind)> = network.requests.iter().collect();
    kinds.sort_by(|one, other| {
        other
            .1
            .per_second
            .total_cmp(&one.1.per_second)
            .then_with(|| other.1.sample.count_total.cmp(&one.1.sample.count_total).then(one.0.cmp(other.0)))
    });
    if kinds.is_empty() {
        say(buffer, inner, &["No requests were counted yet.".into()], theme.dim);
        return;
    }
    Table {
        columns: &REQUEST_COLUMNS,
        sorted: None,
        rows: 0..kinds.len(),
        selected: None,
        cells: &|row| kinds.get(row).map_or_else(Vec::new, |(name, kind)| request_cells(scene, name, kind)),
        style: scene.table(),
    }
    .draw(scene.glyphs, inner, buffer);
}

fn request_cells<'a>(scene: &Scene<'a>, name: &'a str, kind: &'a RequestKind) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let mean = kind.mean;
    let ms = |value: f64| if value > 0.0 { format!("{value:.2}") } else { dash() };
    let idle = kind.per_second < 0.05;
    let base = if idle { theme.dim } else { theme.base };
    let parts = [
        (mean.request_queue_ms, theme.series_4),
        (mean.local_ms, theme.series_1),
        (mean.remote_ms, theme.series_3),
        (mean.response_queue_ms + mean.response_send_ms, theme.series_2),
    ];
    let ascii = scene.glyphs.is_ascii();
    #[expect(clippy::cast_possible_truncation, reason = "a small figure")]
    let errors = kind.errors_per_second.ceil() as i64;
    vec![
        text(name, base),
        text(short(kind.per_second), base),
        text(ms(mean.total_ms), base),
        Cell::Draw(Box::new(move |area, buffer| draw_parts(&parts, ascii, area, buffer))),
        text(ms(mean.request_queue_ms), theme.dim),
        text(ms(mean.local_ms), theme.dim),
        text(ms(mean.remote_ms), theme.dim),
        text(ms(mean.response_queue_ms + mean.response_send_ms), theme.dim),
        text(short(kind.errors_per_second), scene.if_any(errors, theme.warn)),
    ]
}

/// Draws a bar of several parts. Without colours the parts differ by their letters.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a width")]
fn draw_parts(parts: &[(f64, Style); 4], ascii: bool, area: Rect, buffer: &mut Buffer) {
    let total: f64 = parts.iter().map(|(value, _)| value).sum();
    if total <= 0.0 || area.width == 0 {
        return;
    }
    let mut x = area.x;
    let mut reached = 0.0;
    for ((value, style), letter) in parts.iter().zip(["q", "l", "r", "s"]) {
        reached += value;
        let end = area.x + ((reached / total) * f64::from(area.width)).round() as u16;
        while x < end.min(area.right()) {
            put(buffer, Rect { x, width: 1, ..area }, if ascii { letter } else { "▇" }, *style);
            x += 1;
        }
    }
}
