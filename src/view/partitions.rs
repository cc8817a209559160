//! The partitions and who leads them: a table, and beside it or instead of it the leadership matrix.

use std::borrow::Cow;
use std::cell::Cell as Memory;
use std::cmp::Ordering;

use ottla_broker::types::{BrokerId, TopicPartition};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::broker_rows::text;
use super::brokers::step;
use super::dialog::Dialog;
use super::filter::Filter;
use super::key_action::KeyAction;
use super::leadership::{draw_legend, draw_matrix, legend_rows, replica_mark};
use super::mouse::clicked_row;
use super::pane::{Pane, bottom, left, say, top};
use super::partition_detail::{DETAIL_ROWS, draw_detail};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{bytes, dash, ids, offset, short, short_count, span};
use crate::action::Command;
use crate::model::{Model, Partition, SourceName, Topic};
use crate::widget::{Cell, Column, Listing, Table};

/// From this width on, table and matrix stand side by side.
const BOTH_COLUMNS: u16 = 130;

const COLUMNS: [Column; 13] = [
    Column::text("PARTITION", 16, 44, 0),
    Column::fixed("HEALTH", 18, 1),
    Column::figure("LEADER", 6, 0),
    Column::text("REPLICAS", 11, 20, 2),
    Column::text("ISR", 7, 14, 3),
    Column::figure("EPOCH", 5, 7),
    Column::figure("START", 11, 9),
    Column::figure("END", 12, 2),
    Column::figure("HIGH WATERMARK", 14, 8),
    Column::figure("LAG", 6, 1),
    Column::figure("REC/S", 6, 4),
    Column::figure("SIZE", 8, 5),
    Column::figure("UNCOMMITTED", 11, 10),
];
/// The columns one can sort by: place in the table.
const SORTS: [usize; 6] = [0, 1, 2, 7, 9, 10];

/// The partitions and who leads them.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    list: Listing<TopicPartition>,
    pub(super) filter: Filter,
    sort: usize,
    reverse: bool,
    internal: bool,
    only_trouble: bool,
    matrix: bool,
    hidden: usize,
    drawn: Memory<Rect>,
}

impl Partitions {
    pub(super) fn settle(&mut self, model: &Model) {
        let mut hidden = 0;
        let mut rows: Vec<(TopicPartition, &Partition)> = Vec::new();
        for (topic, number, partition) in model.partitions() {
            if !self.internal && Topic::is_internal(topic) && !partition.health.offline {
                hidden += 1;
                continue;
            }
            let trouble = partition.health != crate::model::PartitionHealth::default();
            let name = TopicPartition::new(topic, number);
            if self.only_trouble && !trouble {
                continue;
            }
            if self.filter.is_set() && !self.filter.keeps(&[&name.to_string(), partition.health.word()]) {
                continue;
            }
            rows.push((name, partition));
        }
        rows.sort_by(|one, other| {
            let by = self.compare(one.1, other.1);
            (if self.reverse { by.reverse() } else { by }).then_with(|| {
                let by_name = one.0.cmp(&other.0);
                if self.sort == 0 && self.reverse { by_name.reverse() } else { by_name }
            })
        });
        self.hidden = hidden;
        self.list.set(rows.into_iter().map(|(name, _)| name).collect());
    }

    fn compare(&self, one: &Partition, other: &Partition) -> Ordering {
        let weight = |partition: &Partition| {
            let health = partition.health;
            u8::from(health.offline) * 4
                + u8::from(health.under_replicated) * 2
                + u8::from(health.not_preferred)
        };
        match self.sort {
            1 => weight(one).cmp(&weight(other)),
            2 => one.leader().cmp(&other.leader()),
            3 => one.log_end_offset().cmp(&other.log_end_offset()),
            4 => one.replica_lag_max().cmp(&other.replica_lag_max()),
            5 => one.records_per_second.total_cmp(&other.records_per_second),
            _ => Ordering::Equal,
        }
    }

    pub(super) fn on_action(&mut self, model: &Model, action: KeyAction) -> Reaction {
        if step(&mut self.list, action) {
            return Reaction::Done;
        }
        match action {
            KeyAction::Sort => {
                self.sort = (self.sort + 1) % SORTS.len();
                self.reverse = !matches!(self.sort, 0 | 2);
            }
            KeyAction::ReverseSort => self.reverse = !self.reverse,
            KeyAction::Internal => self.internal = !self.internal,
            KeyAction::OnlyTrouble => self.only_trouble = !self.only_trouble,
            KeyAction::Matrix => self.matrix = !self.matrix,
            KeyAction::MoveLeadership | KeyAction::ElectPreferred | KeyAction::DeleteTopic => {
                let Some(chosen) = self.list.selected() else {
                    return Reaction::Say("there is no partition under the cursor".to_owned());
                };
                return change(model, chosen, action);
            }
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
        let (main, detail) = if area.height >= 18 {
            bottom(area, DETAIL_ROWS.min(area.height / 3))
        } else {
            (area, Rect::ZERO)
        };
        if area.width >= BOTH_COLUMNS {
            let (table, matrix) = left(main, area.width - area.width * 2 / 5);
            self.draw_table(scene, table, buffer);
            self.draw_matrix(scene, matrix, buffer);
        } else if self.matrix {
            self.draw_matrix(scene, main, buffer);
        } else {
            self.draw_table(scene, main, buffer);
        }
        if let Some(name) = self.list.selected()
            && detail.height > 0
        {
            draw_detail(scene, name, detail, buffer);
        }
    }

    fn pane<'a>(&self, scene: &Scene<'a>, title: &'static str) -> Pane<'a> {
        let count = self.list.keys().len();
        let mut pane = Pane::new(scene, title).more(count.to_string(), scene.theme.dim);
        if self.only_trouble {
            pane = pane.more("only trouble", scene.theme.badge);
        }
        if self.hidden > 0 && title == "partitions" {
            pane = pane.right(format!("{} internal hidden, i shows them", self.hidden), scene.theme.dim);
        }
        pane.filter(scene, &self.filter).stale(scene, scene.model.stale(SourceName::Zookeeper))
    }

    fn draw_table(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let inner = self.pane(scene, "partitions").focus(true).draw(scene, area, buffer);
        if self.list.keys().is_empty() {
            say(buffer, inner, &self.nothing(scene.model), scene.theme.dim);
            return;
        }
        self.drawn.set(top(inner, 1).1);
        let keys = self.list.keys();
        Table {
            columns: &COLUMNS,
            sorted: SORTS.get(self.sort).map(|column| (*column, self.reverse)),
            rows: self.list.visible(usize::from(inner.height.saturating_sub(1))),
            selected: Some(self.list.place()),
            cells: &|row| {
                let found = keys.get(row).and_then(|name| Some((name, scene.model.partition(name)?)));
                found.map_or_else(Vec::new, |(name, partition)| cells(scene, name, partition))
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }

    fn draw_matrix(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let alone = area.width < BOTH_COLUMNS && self.matrix;
        let inner = self.pane(scene, "leadership").focus(alone).draw(scene, area, buffer);
        let (grid, legend) = bottom(inner, if inner.height > 6 { legend_rows(inner.width) } else { 0 });
        if self.list.keys().is_empty() {
            say(buffer, grid, &self.nothing(scene.model), scene.theme.dim);
            return;
        }
        draw_matrix(scene, self.list.keys(), self.list.selected(), grid, buffer);
        draw_legend(scene, legend, buffer);
    }

    /// Says why there is nothing to show.
    fn nothing(&self, model: &Model) -> Vec<Cow<'static, str>> {
        if model.summary.partitions == 0 {
            vec!["No topics yet.".into(), "n creates one; L in the overview turns the demo load on.".into()]
        } else if self.only_trouble {
            vec!["Nothing is wrong.".into()]
        } else if self.filter.is_set() {
            vec!["No partition matches the filter; esc clears it.".into()]
        } else {
            vec!["Only internal topics; i shows them.".into()]
        }
    }
}

fn change(model: &Model, chosen: &TopicPartition, action: KeyAction) -> Reaction {
    match action {
        KeyAction::MoveLeadership => match Dialog::move_leadership(model, chosen) {
            Ok(dialog) => Reaction::Ask(Box::new(dialog)),
            Err(why) => Reaction::Say(why),
        },
        KeyAction::ElectPreferred => {
            Reaction::Propose(Command::ElectPreferred { partitions: vec![chosen.clone()] })
        }
        _ => Reaction::Propose(Command::DeleteTopic { name: chosen.topic.to_string() }),
    }
}

fn cells<'a>(scene: &Scene<'a>, name: &TopicPartition, partition: &'a Partition) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let (glyph, style) = scene.health(partition.health);
    let mut health: Vec<(Cow<'a, str>, Style)> =
        vec![(format!("{glyph} {}", partition.health.word()).into(), style)];
    if let Some(gap) = partition.leaderless {
        health.push((format!(" {}", span(scene.now.since(gap.since))).into(), theme.crit));
    }
    let (end, watermark) = (partition.log_end_offset(), partition.high_watermark());
    let uncommitted = end.zip(watermark).map(|(end, watermark)| end.distance_from(watermark));
    let lag = partition.replica_lag_max();
    vec![
        text(name.to_string(), theme.base),
        Cell::Line(health),
        leader_cell(scene, partition),
        Cell::Line(replica_line(scene, partition)),
        text(ids(partition.isr()), if partition.health.under_replicated { theme.warn } else { theme.base }),
        text(partition.state.as_ref().map_or_else(dash, |state| state.leader_epoch.to_string()), theme.dim),
        text(offset(partition.log_start_offset()), theme.dim),
        text(offset(end), theme.base),
        text(offset(watermark), theme.dim),
        text(lag.map_or_else(dash, short_count), scene.if_any(lag.unwrap_or(0), theme.warn)),
        text(short(partition.records_per_second), theme.base),
        text(partition.size_bytes().map_or_else(dash, bytes), theme.dim),
        text(uncommitted.map_or_else(dash, short_count), theme.dim),
    ]
}

fn leader_cell<'a>(scene: &Scene<'a>, partition: &Partition) -> Cell<'a> {
    let theme = scene.theme;
    match partition.leader() {
        None => text("none", theme.crit),
        Some(leader) if partition.health.offline => text(leader.to_string(), theme.offline),
        Some(leader) if partition.health.not_preferred => text(leader.to_string(), theme.leader_other),
        Some(leader) => text(leader.to_string(), theme.leader),
    }
}

/// Returns the replicas with a mark each: `1L 2f 3!`.
fn replica_line<'a>(scene: &Scene<'a>, partition: &Partition) -> Vec<(Cow<'a, str>, Style)> {
    let mut line = Vec::new();
    for (place, id) in partition.replicas.iter().enumerate() {
        if place > 0 {
            line.push((Cow::Borrowed(" "), scene.theme.base));
        }
        let mark = replica_mark(scene, partition, *id);
        line.push((format!("{}{}", BrokerId(id.0), mark.symbol).into(), mark.style));
    }
    line
}
