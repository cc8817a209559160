//! The replicas of one partition.

use ottla_broker::types::{Millis, TopicPartition};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::broker_rows::text;
use super::leadership::replica_mark;
use super::pane::Pane;
use super::scene::Scene;
use super::words::{age, bytes, dash, offset, short_count, span};
use crate::model::{Model, Partition};
use crate::widget::{Cell, Column, Table};

/// How many rows the detail takes: a frame, headings, and a row for each of a few replicas.
pub(super) const DETAIL_ROWS: u16 = 8;
/// Offsets read longer ago than this are marked as old.
const FRESH: Millis = Millis(5_000);

const COLUMNS: [Column; 7] = [
    Column::fixed("BROKER", 8, 0),
    Column::text("ROLE", 12, 26, 0),
    Column::figure("START", 13, 4),
    Column::figure("END", 13, 1),
    Column::figure("HIGH WATERMARK", 14, 3),
    Column::figure("BEHIND", 7, 1),
    Column::figure("SIZE", 8, 2),
];

/// Draws the replicas of a partition.
pub(super) fn draw_detail(scene: &Scene<'_>, name: &TopicPartition, area: Rect, buffer: &mut Buffer) {
    let Some(partition) = scene.model.partition(name) else { return };
    let (glyph, style) = scene.health(partition.health);
    let mut pane =
        Pane::new(scene, name.to_string()).more(format!("{glyph} {}", partition.health.word()), style);
    if let Some(state) = &partition.state {
        let epochs = format!(
            "leader epoch {}, controller epoch {}, state version {}",
            state.leader_epoch, state.controller_epoch, state.partition_epoch
        );
        pane = pane.right(epochs, scene.theme.dim);
    }
    if let Some(gap) = partition.leaderless {
        let was = gap.was.map_or_else(String::new, |id| format!(" since broker {id} was lost"));
        let text = format!("without a leader for {}{was}", span(scene.now.since(gap.since)));
        pane = pane.bottom(text, scene.theme.crit);
    } else if let Some(readers) = readers(scene.model, name) {
        pane = pane.bottom(readers, scene.theme.dim);
    }
    let inner = pane.draw(scene, area, buffer);
    Table {
        columns: &COLUMNS,
        sorted: None,
        rows: 0..partition.replicas.len(),
        selected: None,
        cells: &|row| cells(scene, partition, row),
        style: scene.table(),
    }
    .draw(scene.glyphs, inner, buffer);
}

fn cells<'a>(scene: &Scene<'a>, partition: &'a Partition, row: usize) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let Some(id) = partition.replicas.get(row).copied() else { return Vec::new() };
    let log = partition.logs.get(&id).copied().unwrap_or_default();
    let mark = replica_mark(scene, partition, id);
    let role = match (mark.symbol, partition.out_of_sync_since.get(&id)) {
        ("x", _) => "broker is down".to_owned(),
        ("L", _) => "leads".to_owned(),
        ("l", _) => "leads, not preferred".to_owned(),
        ("p", _) => "in sync, should lead".to_owned(),
        ("f", _) => "in sync".to_owned(),
        (_, Some(since)) => format!("not in sync for {}", age(scene.now.since(*since))),
        (_, None) => "not in sync".to_owned(),
    };
    let old = log.seen.map(|seen| scene.now.since(seen)).filter(|age| *age > FRESH);
    let style = if old.is_some() { theme.dim } else { theme.base };
    let behind = match (log.lag, old) {
        (_, Some(old)) => format!("{} old", age(old)),
        (Some(lag), None) => short_count(lag),
        (None, None) => dash(),
    };
    vec![
        Cell::Line(vec![(format!("{id} ").into(), theme.strong), (mark.symbol.into(), mark.style)]),
        text(role, mark.style),
        text(offset(log.log_start_offset), style),
        text(offset(log.log_end_offset), style),
        text(offset(log.high_watermark), style),
        text(behind, scene.if_any(log.lag.unwrap_or(0), theme.warn)),
        text(log.size_bytes.map_or_else(dash, bytes), style),
    ]
}

/// Says which groups read a partition, and how far they are.
fn readers(model: &Model, name: &TopicPartition) -> Option<String> {
    let list: Vec<String> = model
        .groups
        .iter()
        .filter_map(|(group, known)| {
            let lag = known.offsets.get(name)?.lag;
            Some(lag.map_or_else(|| group.clone(), |lag| format!("{group} (lag {})", short_count(lag))))
        })
        .take(4)
        .collect();
    (!list.is_empty()).then(|| format!("read by {}", list.join(", ")))
}
