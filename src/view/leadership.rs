//! The leadership matrix: brokers down, partitions across, a mark for what each replica is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, TopicPartition};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::scene::Scene;
use crate::model::{BrokerState, Partition};
use crate::widget::{Matrix, MatrixCell, MatrixPosition, MatrixSection, put_line};

/// Returns the mark for what a replica is.
pub(super) fn replica_mark(scene: &Scene<'_>, partition: &Partition, id: BrokerId) -> MatrixCell {
    let theme = scene.theme;
    let broker = scene.model.brokers.get(&id);
    let down = broker.is_some_and(|broker| {
        matches!(broker.state, BrokerState::Down | BrokerState::Frozen | BrokerState::Unregistered)
    });
    let leads = partition.leader() == Some(id);
    let preferred = partition.preferred_leader() == Some(id);
    let in_sync = partition.isr().contains(&id);
    let (symbol, style) = match (down, leads, in_sync) {
        (true, _, _) => ("x", theme.offline),
        (false, true, _) if preferred => ("L", theme.leader),
        (false, true, _) => ("l", theme.leader_other),
        (false, false, false) => ("!", theme.isr_out),
        (false, false, true) if preferred && partition.leader().is_some() => ("p", theme.leader_other),
        (false, false, true) => ("f", theme.follower),
    };
    MatrixCell { symbol, style }
}

/// Draws the marks of these partitions, topic by topic.
pub(super) fn draw_matrix(
    scene: &Scene<'_>,
    partitions: &[TopicPartition],
    selected: Option<&TopicPartition>,
    area: Rect,
    buffer: &mut Buffer,
) {
    // Topics keep the order of the table; a topic is shown whole, even if the table is narrowed to some partitions.
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for partition in partitions {
        seen.entry(&partition.topic).or_insert_with(|| {
            names.push(&partition.topic);
            names.len() - 1
        });
    }
    let topics: Vec<_> = names.iter().map(|name| scene.model.topics.get(*name)).collect();
    let sections: Vec<_> = names
        .iter()
        .zip(&topics)
        .map(|(name, topic)| MatrixSection {
            title: (*name).to_owned(),
            columns: topic
                .and_then(|topic| topic.partitions.last_key_value())
                .and_then(|(number, _)| usize::try_from(*number).ok())
                .map_or(0, |last| last + 1),
        })
        .collect();
    let brokers = scene.model.broker_ids();
    let rows: Vec<(Cow<'_, str>, _)> = brokers
        .iter()
        .map(|id| {
            let state = scene.model.brokers.get(id).map_or(BrokerState::Down, |broker| broker.state);
            let (glyph, style) = scene.broker_state(state);
            let star = if scene.model.cluster.controller == Some(*id) { scene.glyphs.star } else { " " };
            (format!("{glyph} {id}{star}").into(), style)
        })
        .collect();
    let selected = selected.and_then(|name| {
        Some(MatrixPosition {
            section: *seen.get(&*name.topic)?,
            column: usize::try_from(name.partition).ok()?,
        })
    });
    Matrix {
        sections: &sections,
        rows: &rows,
        cell: &|section, row, column| {
            let partition =
                topics.get(section).copied().flatten()?.partitions.get(&i32::try_from(column).ok()?)?;
            let id = brokers.get(row)?;
            partition.replicas.contains(id).then(|| replica_mark(scene, partition, *id))
        },
        selected,
        title: scene.theme.strong,
        label: scene.theme.label,
        empty: scene.theme.faint,
        selection: scene.theme.selection,
    }
    .draw(scene.glyphs, area, buffer);
}

/// How many cells the legend takes in one row.
const LEGEND_COLUMNS: u16 = 79;

/// Returns how many rows the legend takes.
pub(super) fn legend_rows(columns: u16) -> u16 {
    if columns >= LEGEND_COLUMNS { 1 } else { 2 }
}

/// Draws what the marks mean, in as many rows as there are.
pub(super) fn draw_legend(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let theme = scene.theme;
    let entries = [
        ("L", theme.leader, " leads"),
        ("l", theme.leader_other, " leads, not preferred"),
        ("p", theme.leader_other, " should lead"),
        ("f", theme.follower, " in sync"),
        ("!", theme.isr_out, " lagging"),
        ("x", theme.offline, " down"),
    ];
    let per_row = if area.height > 1 { 3 } else { entries.len() };
    for (row, entries) in (area.y..area.bottom()).zip(entries.chunks(per_row)) {
        let mut line: Vec<(Cow<'_, str>, _)> = vec![(" ".into(), theme.dim)];
        for (symbol, style, meaning) in entries {
            line.push(((*symbol).into(), *style));
            line.push(((*meaning).into(), theme.dim));
            line.push(("  ".into(), theme.dim));
        }
        put_line(buffer, Rect { y: row, height: 1, ..area }, &line);
    }
}
