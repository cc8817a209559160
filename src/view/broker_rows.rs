//! Brokers and the ZooKeeper process as rows of a table, in the overview and in their own view.

use std::borrow::Cow;

use ottla_broker::types::{BrokerId, Millis};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::key_action::KeyAction;
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{age, byte_rate, bytes, dash, percent, short_count};
use crate::action::{BrokerOrder, Command};
use crate::config::Theme;
use crate::model::{BrokerState, HISTORY_SECONDS, History, Model, Process, ProcessState};
use crate::widget::{Bar, Cell, Column, Glyphs, Sparkline};

/// A row: a broker, or the embedded ZooKeeper server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProcessRow {
    /// A broker.
    Broker(BrokerId),
    /// The embedded ZooKeeper server.
    Zookeeper,
}

/// The columns.
pub(super) const COLUMNS: [Column; 16] = [
    Column::fixed("STATE", 14, 0),
    Column::fixed("BROKER", 9, 0),
    Column::text("ADDRESS", 14, 21, 3),
    Column::figure("PID", 7, 6),
    Column::figure("LEADS", 5, 1),
    Column::figure("COPIES", 6, 7),
    Column::figure("LAGGING", 7, 2),
    Column::fixed("CPU", 11, 2),
    Column::fixed("LAST MINUTE", 15, 5),
    Column::figure("MEMORY", 8, 4),
    Column::figure("DISK", 8, 8),
    Column::figure("QUEUE", 7, 4),
    Column::figure("IN", 10, 9),
    Column::figure("OUT", 10, 9),
    Column::figure("THREADS", 7, 11),
    Column::figure("FILES", 5, 11),
];

/// Returns the rows in their natural order.
pub(super) fn rows(model: &Model) -> Vec<ProcessRow> {
    let mut rows: Vec<_> = model.broker_ids().into_iter().map(ProcessRow::Broker).collect();
    if model.zookeeper.is_some() {
        rows.push(ProcessRow::Zookeeper);
    }
    rows
}

/// Returns the cells of a row.
pub(super) fn cells<'a>(scene: &Scene<'a>, row: ProcessRow) -> Vec<Cell<'a>> {
    match row {
        ProcessRow::Broker(id) => broker_cells(scene, id),
        ProcessRow::Zookeeper => zookeeper_cells(scene),
    }
}

fn broker_cells<'a>(scene: &Scene<'a>, id: BrokerId) -> Vec<Cell<'a>> {
    let (model, theme) = (scene.model, scene.theme);
    let base = theme.base;
    let broker = model.brokers.get(&id);
    let state = broker.map_or(BrokerState::Down, |broker| broker.state);
    let share = model.summary.share(id);
    let process = broker.and_then(|broker| broker.process.as_ref());
    let network = model.networks.get(&id).filter(|_| state != BrokerState::Down);
    let address = broker.and_then(|broker| broker.address());
    let mut list = vec![
        state_cell(scene, state, broker.map(|broker| broker.since)),
        name_cell(scene, id),
        text(address.map_or_else(dash, |(host, port)| format!("{host}:{port}")), base),
        text(broker.and_then(|broker| broker.pid()).map_or_else(dash, |pid| pid.to_string()), theme.dim),
        text(share.leaders.to_string(), base),
        text(share.replicas.to_string(), theme.dim),
        text(share.out_of_sync.to_string(), scene.if_any(share.out_of_sync, theme.isr_out)),
    ];
    list.extend(usage_cells(scene, process));
    list.push(match network {
        Some(network) => {
            let queue = format!("{}/{}", network.sample.request_queue_size, network.request_queue_max);
            text(queue, base)
        }
        None => text(dash(), theme.dim),
    });
    for rate in [network.map(|n| n.bytes_in_per_second), network.map(|n| n.bytes_out_per_second)] {
        list.push(text(rate.map_or_else(dash, byte_rate), base));
    }
    list.extend(count_cells(scene, process));
    list
}

fn zookeeper_cells<'a>(scene: &Scene<'a>) -> Vec<Cell<'a>> {
    let (model, theme) = (scene.model, scene.theme);
    let process = model.zookeeper.as_ref();
    let state = zookeeper_state(process);
    let pid = process.and_then(|process| process.state.as_ref()?.pid());
    let address = process.and_then(|process| Some(format!("{}:{}", process.host, process.port?)));
    let blank = || text("", theme.dim);
    let mut list = vec![
        state_cell(scene, state, process.map(|process| process.since)),
        text("zookeeper", theme.base),
        text(address.unwrap_or_else(dash), theme.base),
        text(pid.map_or_else(dash, |pid| pid.to_string()), theme.dim),
        blank(),
        blank(),
        blank(),
    ];
    list.extend(usage_cells(scene, process));
    list.extend([blank(), blank(), blank()]);
    list.extend(count_cells(scene, process));
    list
}

/// Returns the state of the ZooKeeper process in a broker's words.
pub(super) fn zookeeper_state(process: Option<&Process>) -> BrokerState {
    match process.and_then(|process| process.state.as_ref()) {
        None | Some(ProcessState::Queued | ProcessState::Starting { .. }) => BrokerState::Starting,
        Some(ProcessState::Running { .. }) => BrokerState::Up,
        Some(ProcessState::Frozen { .. }) => BrokerState::Frozen,
        Some(ProcessState::Stopping { .. }) => BrokerState::Stopping,
        Some(state) if state.is_gone() => BrokerState::Down,
        Some(_) => BrokerState::Unregistered,
    }
}

fn state_cell<'a>(scene: &Scene<'a>, state: BrokerState, since: Option<Millis>) -> Cell<'a> {
    let (glyph, style) = scene.broker_state(state);
    let word = format!("{glyph} {}", state.word());
    // How long something has been wrong matters more than how long all has been well.
    let for_long = since
        .map(|since| scene.now.since(since))
        .filter(|time| state != BrokerState::Up && time.0 >= 1_000)
        .map_or_else(String::new, |time| format!(" {}", age(time)));
    Cell::Line(vec![(word.into(), style), (for_long.into(), scene.theme.dim)])
}

fn name_cell<'a>(scene: &Scene<'a>, id: BrokerId) -> Cell<'a> {
    let mut line: Vec<(Cow<'a, str>, Style)> = vec![(id.to_string().into(), scene.theme.strong)];
    if scene.model.cluster.controller == Some(id) {
        line.push((format!(" {} ctrl", scene.glyphs.star).into(), scene.theme.info));
    }
    Cell::Line(line)
}

/// Returns CPU, its last minute, memory and disk.
fn usage_cells<'a>(scene: &Scene<'a>, process: Option<&'a Process>) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let Some(process) = process else {
        return (0..4).map(|_| text(dash(), theme.dim)).collect();
    };
    let Some(usage) = process.usage else {
        return (0..4).map(|_| text(dash(), theme.dim)).collect();
    };
    vec![
        cpu_cell(scene, usage.cpu_ratio),
        spark_cell(scene, &process.cpu_history, Some(1.0)),
        text(bytes(usage.resident_bytes), theme.base),
        text(bytes(usage.disk_bytes), theme.base),
    ]
}

fn count_cells<'a>(scene: &Scene<'a>, process: Option<&'a Process>) -> Vec<Cell<'a>> {
    let usage = process.and_then(|process| process.usage);
    [usage.map(|usage| usage.threads), usage.map(|usage| usage.open_files)]
        .into_iter()
        .map(|count| text(count.map_or_else(dash, |count| short_count(i64::from(count))), scene.theme.dim))
        .collect()
}

fn cpu_cell<'a>(scene: &Scene<'a>, ratio: f64) -> Cell<'a> {
    let (theme, glyphs) = (scene.theme, scene.glyphs);
    Cell::Draw(Box::new(move |area, buffer| {
        let (bar, figure) = super::pane::left(area, area.width.saturating_sub(5));
        Bar { ratio, style: theme.gradient(ratio), empty: theme.faint }.draw(glyphs, bar, buffer);
        crate::widget::put(buffer, figure, &format!("{:>5}", percent(ratio)), theme.base);
    }))
}

/// Returns a cell with a history; `max` fills its height, or the highest point.
pub(super) fn spark_cell<'a>(scene: &Scene<'a>, history: &'a History, max: Option<f64>) -> Cell<'a> {
    let (theme, glyphs) = (scene.theme, scene.glyphs);
    Cell::Draw(Box::new(move |area, buffer| {
        let points: Vec<_> = history.points().collect();
        draw_minute(theme, glyphs, &points, max, area, buffer);
    }))
}

/// Draws a minute over the whole width. What has a bound is coloured by how near it is.
pub(super) fn draw_minute(
    theme: &Theme,
    glyphs: &Glyphs,
    points: &[Option<f64>],
    max: Option<f64>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let span = Some(HISTORY_SECONDS);
    match max {
        Some(_) => Sparkline { points, span, max, style: theme }.draw(glyphs, area, buffer),
        None => Sparkline { points, span, max, style: &theme.series_1 }.draw(glyphs, area, buffer),
    }
}

/// Returns a cell with a text in one style.
pub(super) fn text<'a>(text: impl Into<Cow<'a, str>>, style: Style) -> Cell<'a> {
    Cell::Text(text.into(), style)
}

/// Returns what an action means for a row.
pub(super) fn order(model: &Model, row: Option<&ProcessRow>, action: KeyAction) -> Reaction {
    let Some(row) = row else { return Reaction::Say("there is no broker yet".to_owned()) };
    let (state, gone) = match row {
        ProcessRow::Broker(id) => {
            let state = model.brokers.get(id).map_or(BrokerState::Down, |broker| broker.state);
            (state, state == BrokerState::Down)
        }
        ProcessRow::Zookeeper => {
            let state = zookeeper_state(model.zookeeper.as_ref());
            (state, state == BrokerState::Down)
        }
    };
    let order = match action {
        KeyAction::StopBroker => BrokerOrder::Stop,
        KeyAction::KillBroker => BrokerOrder::Kill,
        KeyAction::FreezeBroker if state == BrokerState::Frozen => BrokerOrder::Thaw,
        KeyAction::FreezeBroker => BrokerOrder::Freeze,
        KeyAction::RestartBroker if gone => BrokerOrder::Start,
        KeyAction::RestartBroker => BrokerOrder::Restart,
        _ => return Reaction::Unknown,
    };
    Reaction::Propose(match row {
        ProcessRow::Broker(id) => Command::Broker { broker: *id, order },
        ProcessRow::Zookeeper => Command::Zookeeper(order),
    })
}
