//! The consumer groups: who reads what, and how far behind.

use std::cell::Cell as Memory;
use std::cmp::Ordering;

use ottla_broker::types::{Millis, TopicPartition};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::broker_rows::{spark_cell, text};
use super::brokers::{draw_chart, step};
use super::filter::Filter;
use super::key_action::KeyAction;
use super::mouse::clicked_row;
use super::pane::{Pane, left, say, top};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{age, dash, offset, runs, short, short_count, span};
use crate::model::{CommittedOffset, Group, GroupState, Member, Model, SourceName};
use crate::widget::{Bar, Cell, Column, Listing, Table};

const COLUMNS: [Column; 9] = [
    Column::text("GROUP", 14, 40, 0),
    Column::text("STATE", 9, 21, 0).keep_beginning(),
    Column::figure("MEMBERS", 7, 2),
    Column::figure("GENERATION", 10, 4),
    Column::figure("LAG", 7, 0),
    Column::fixed("LAST MINUTE", 18, 3),
    Column::text("TOPICS", 10, 40, 5).keep_beginning(),
    Column::fixed("ASSIGNOR", 10, 7),
    Column::figure("COORDINATOR", 11, 6),
];
/// The columns one can sort by: place in the table.
const SORTS: [usize; 4] = [0, 1, 4, 2];

const MEMBER_COLUMNS: [Column; 4] = [
    Column::text("MEMBER", 14, 36, 0),
    Column::text("HOST", 9, 16, 3),
    Column::figure("LAG", 6, 1),
    Column::text("READS", 10, 60, 0).keep_beginning(),
];

const OFFSET_COLUMNS: [Column; 7] = [
    Column::text("PARTITION", 12, 36, 0),
    Column::figure("COMMITTED", 11, 2),
    Column::figure("END", 11, 1),
    Column::figure("LAG", 7, 0),
    Column::fixed("", 10, 4),
    Column::text("MEMBER", 8, 24, 3),
    Column::figure("COMMIT", 8, 6),
];

/// The consumer groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    list: Listing<String>,
    offsets: Listing<TopicPartition>,
    pub(super) filter: Filter,
    sort: usize,
    reverse: bool,
    opened: bool,
    drawn: Memory<Rect>,
}

impl Groups {
    pub(super) fn settle(&mut self, model: &Model) {
        let mut rows: Vec<(&String, &Group)> = model
            .groups
            .iter()
            .filter(|(name, group)| self.filter.keeps(&[name, group.description.state.word()]))
            .collect();
        rows.sort_by(|one, other| {
            let by = self.compare(one.1, other.1);
            let by_name = one.0.cmp(other.0);
            let by_name = if self.sort == 0 && self.reverse { by_name.reverse() } else { by_name };
            (if self.reverse { by.reverse() } else { by }).then(by_name)
        });
        self.list.set(rows.into_iter().map(|(name, _)| name.clone()).collect());
        let offsets = self.list.selected().and_then(|name| model.groups.get(name));
        self.offsets.set(offsets.map_or_else(Vec::new, |group| group.offsets.keys().cloned().collect()));
        self.opened &= self.list.selected().is_some();
    }

    fn compare(&self, one: &Group, other: &Group) -> Ordering {
        match self.sort {
            1 => one.description.state.cmp(&other.description.state),
            2 => one.lag.cmp(&other.lag),
            3 => one.description.members.len().cmp(&other.description.members.len()),
            _ => Ordering::Equal,
        }
    }

    /// Returns the group under the cursor.
    pub(super) fn selected(&self) -> Option<&String> {
        self.list.selected()
    }

    /// Closes the detail; returns whether it was open.
    pub(super) fn close_detail(&mut self) -> bool {
        std::mem::take(&mut self.opened)
    }

    pub(super) fn on_action(&mut self, action: KeyAction) -> Reaction {
        let moved = if self.opened { step(&mut self.offsets, action) } else { step(&mut self.list, action) };
        if moved {
            return Reaction::Done;
        }
        match action {
            KeyAction::Open => self.opened = !self.opened && self.list.selected().is_some(),
            KeyAction::Sort => {
                self.sort = (self.sort + 1) % SORTS.len();
                self.reverse = self.sort >= 2;
            }
            KeyAction::ReverseSort => self.reverse = !self.reverse,
            _ => return Reaction::Unknown,
        }
        Reaction::Done
    }

    pub(super) fn click(&mut self, at: Position) {
        if let Some(row) = clicked_row(self.drawn.get(), at) {
            if self.opened {
                self.offsets.click(row);
            } else {
                self.list.click(row);
            }
        }
    }

    pub(super) fn draw(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let wanted = u16::try_from(self.list.keys().len()).unwrap_or(u16::MAX).saturating_add(3);
        let least = if self.opened { 4 } else { 5 };
        let most = if self.opened { area.height / 4 } else { area.height / 2 }.max(least);
        let (list, detail) = top(area, wanted.clamp(least, most));
        self.draw_list(scene, list, buffer);
        let Some((name, group)) =
            self.list.selected().and_then(|name| Some((name, scene.model.groups.get(name)?)))
        else {
            draw_load(scene, detail, buffer);
            return;
        };
        let load_rows = if detail.height >= 20 { 6 } else { 0 };
        let (detail, load) = super::pane::bottom(detail, load_rows);
        if load.height > 0 {
            draw_load(scene, load, buffer);
        }
        if detail.width >= 110 {
            let (members, offsets) = left(detail, detail.width / 2);
            draw_members(scene, name, group, members, buffer);
            self.draw_offsets(scene, group, offsets, buffer);
        } else {
            let rows = u16::try_from(group.description.members.len()).unwrap_or(u16::MAX).saturating_add(3);
            let (members, offsets) = top(detail, rows.clamp(4, (detail.height / 2).max(4)));
            draw_members(scene, name, group, members, buffer);
            self.draw_offsets(scene, group, offsets, buffer);
        }
    }

    fn draw_list(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let inner = Pane::new(scene, "groups")
            .more(self.list.keys().len().to_string(), scene.theme.dim)
            .filter(scene, &self.filter)
            .stale(scene, scene.model.stale(SourceName::Groups))
            .focus(!self.opened)
            .draw(scene, area, buffer);
        let keys = self.list.keys();
        if keys.is_empty() {
            let words = if self.filter.is_set() {
                "No group matches the filter; esc clears it."
            } else {
                "No consumer group yet. L turns the demo load on: it brings two."
            };
            say(buffer, inner, &[words.into()], scene.theme.dim);
            return;
        }
        if !self.opened {
            self.drawn.set(top(inner, 1).1);
        }
        Table {
            columns: &COLUMNS,
            sorted: SORTS.get(self.sort).map(|column| (*column, self.reverse)),
            rows: self.list.visible(usize::from(inner.height.saturating_sub(1))),
            selected: Some(self.list.place()),
            cells: &|row| {
                let found = keys.get(row).and_then(|name| Some((name, scene.model.groups.get(name)?)));
                found.map_or_else(Vec::new, |(name, group)| group_cells(scene, name, group))
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }

    fn draw_offsets(&self, scene: &Scene<'_>, group: &Group, area: Rect, buffer: &mut Buffer) {
        let lag = group.lag.map_or_else(dash, short_count);
        let inner = Pane::new(scene, "offsets")
            .more(format!("lag {lag}"), scene.theme.dim)
            .focus(self.opened)
            .draw(scene, area, buffer);
        let keys = self.offsets.keys();
        if keys.is_empty() {
            say(buffer, inner, &["Nothing committed, nothing assigned.".into()], scene.theme.dim);
            return;
        }
        if self.opened {
            self.drawn.set(top(inner, 1).1);
        }
        let most = group.offsets.values().filter_map(|committed| committed.lag).max().unwrap_or(0);
        Table {
            columns: &OFFSET_COLUMNS,
            sorted: None,
            rows: self.offsets.visible(usize::from(inner.height.saturating_sub(1))),
            selected: self.opened.then(|| self.offsets.place()),
            cells: &|row| {
                let found = keys.get(row).and_then(|name| Some((name, group.offsets.get(name)?)));
                found.map_or_else(Vec::new, |(name, committed)| {
                    offset_cells(scene, group, name, committed, most)
                })
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }
}

/// Returns glyph, words and style of a group's state.
pub(super) fn state_words(scene: &Scene<'_>, group: &Group) -> (String, Style) {
    let (glyph, word, style) = match group.description.state {
        GroupState::Stable => (scene.glyphs.ok, "stable", scene.theme.ok),
        GroupState::PreparingRebalance => (scene.glyphs.busy, "joining", scene.theme.busy),
        GroupState::CompletingRebalance => (scene.glyphs.busy, "assigning", scene.theme.busy),
        GroupState::Empty => (scene.glyphs.none, "empty", scene.theme.dim),
        GroupState::Dead => (scene.glyphs.gone, "dead", scene.theme.crit),
        GroupState::Unknown => (scene.glyphs.unknown, "unknown", scene.theme.dim),
    };
    let since = group.rebalance.as_ref().map(|rebalance| scene.now.since(rebalance.since));
    let since = since.map_or_else(String::new, |since| format!(" for {}", span(since)));
    (format!("{glyph} {word}{since}"), style)
}

/// Returns an arrow for whether the lag grows or shrinks, by a third of a minute.
pub(super) fn trend(scene: &Scene<'_>, group: &Group) -> (&'static str, Style) {
    let points: Vec<f64> = group.lag_history.points().flatten().collect();
    let (Some(now), Some(then)) = (points.last(), points.iter().rev().nth(20).or(points.first())) else {
        return (" ", scene.theme.dim);
    };
    let change = now - then;
    if change.abs() <= (then * 0.1).max(2.0) {
        (" ", scene.theme.dim)
    } else if change > 0.0 {
        (scene.glyphs.up, scene.theme.warn)
    } else {
        (scene.glyphs.down, scene.theme.ok)
    }
}

fn group_cells<'a>(scene: &Scene<'a>, name: &'a str, group: &'a Group) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let (state, style) = state_words(scene, group);
    let (arrow, arrow_style) = trend(scene, group);
    let description = &group.description;
    let topics = group.topics().into_iter().collect::<Vec<_>>().join(", ");
    vec![
        text(name, theme.base),
        text(state, style),
        text(description.members.len().to_string(), theme.base),
        text(description.generation.map_or_else(dash, |generation| generation.to_string()), theme.dim),
        Cell::Line(vec![
            (group.lag.map_or_else(dash, short_count).into(), theme.base),
            (arrow.into(), arrow_style),
        ]),
        spark_cell(scene, &group.lag_history, None),
        text(topics, theme.dim),
        text(description.protocol.as_str(), theme.dim),
        text(description.coordinator.map_or_else(dash, |id| id.to_string()), theme.dim),
    ]
}

fn draw_members(scene: &Scene<'_>, name: &str, group: &Group, area: Rect, buffer: &mut Buffer) {
    let (state, style) = state_words(scene, group);
    let mut pane = Pane::new(scene, format!("members of {name}")).more(state, style);
    if let Some((at, took)) = group.last_rebalance {
        let ago = age(scene.now.since(at));
        pane = pane.bottom(format!("last rebalance {ago} ago took {}", span(took)), scene.theme.dim);
    }
    let inner = pane.draw(scene, area, buffer);
    let members = &group.description.members;
    if members.is_empty() {
        say(buffer, inner, &["No members: nobody reads.".into()], scene.theme.dim);
        return;
    }
    Table {
        columns: &MEMBER_COLUMNS,
        sorted: None,
        rows: 0..members.len(),
        selected: None,
        cells: &|row| {
            members.get(row).map_or_else(Vec::new, |member| member_cells(scene, group, row, member))
        },
        style: scene.table(),
    }
    .draw(scene.glyphs, inner, buffer);
    let rows = u16::try_from(members.len()).unwrap_or(u16::MAX).saturating_add(2);
    let (_, spare) = top(inner, rows);
    if spare.height >= 4 {
        let (_, chart) = super::pane::bottom(spare, 8);
        let chart = Rect { x: chart.x + 1.min(chart.width), width: chart.width.saturating_sub(1), ..chart };
        draw_chart(scene, "lag over the last minute", &group.lag_history, None, chart, buffer);
    }
}

fn member_cells<'a>(scene: &Scene<'a>, group: &'a Group, row: usize, member: &'a Member) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let mut topics = std::collections::BTreeMap::<&str, Vec<i32>>::new();
    let mut lag = None;
    for partition in &member.assignment {
        topics.entry(&partition.topic).or_default().push(partition.partition);
        if let Some(own) = group.offsets.get(partition).and_then(|committed| committed.lag) {
            lag = Some(lag.unwrap_or(0_i64).saturating_add(own));
        }
    }
    let reads: Vec<String> = topics
        .into_iter()
        .map(|(topic, mut numbers)| {
            numbers.sort_unstable();
            format!("{topic} {}", runs(&numbers))
        })
        .collect();
    let reads = if reads.is_empty() { "nothing".to_owned() } else { reads.join("; ") };
    vec![
        text(group.member_name(row).unwrap_or_default(), theme.base),
        text(member.client_host.trim_start_matches('/'), theme.dim),
        text(lag.map_or_else(dash, short_count), theme.base),
        text(reads, theme.base),
    ]
}

fn offset_cells<'a>(
    scene: &Scene<'a>,
    group: &'a Group,
    name: &TopicPartition,
    committed: &CommittedOffset,
    most: i64,
) -> Vec<Cell<'a>> {
    let (theme, glyphs) = (scene.theme, scene.glyphs);
    let lag = committed.lag;
    let ratio = lag.map_or(0.0, |lag| lag as f64 / most.max(1) as f64);
    let member = committed.member.and_then(|index| group.member_name(index));
    let since = committed.committed_at.map(|at| age(scene.now.since(at)));
    vec![
        text(name.to_string(), theme.base),
        text(offset(committed.offset), theme.base),
        text(offset(committed.end), theme.dim),
        text(lag.map_or_else(dash, short_count), theme.base),
        Cell::Draw(Box::new(move |area, buffer| {
            Bar { ratio, style: theme.series_1, empty: theme.faint }.draw(glyphs, area, buffer);
        })),
        match member {
            Some(member) => text(member, theme.base),
            None => text("nobody", theme.warn),
        },
        text(since.unwrap_or_else(dash), theme.dim),
    ]
}

/// Draws what the demo load does.
pub(super) fn draw_load(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let (load, theme) = (&scene.model.load, scene.theme);
    let state = &load.state;
    let pane = Pane::new(scene, "demo load");
    if !state.running {
        let inner = pane.more("off", theme.dim).draw(scene, area, buffer);
        let words = [
            "L turns it on: keyed records into a few topics,".into(),
            "and two groups whose members + and - change.".into(),
        ];
        say(buffer, inner, &words, theme.dim);
        return;
    }
    let old = load.seen.map(|seen| scene.now.since(seen)).filter(|age| *age > Millis(5_000));
    let pane = match (&state.error, old) {
        (Some(error), _) => pane.bottom(format!("{} {error}", scene.glyphs.warn), theme.warn),
        (None, Some(old)) => pane.bottom(format!("{} old", age(old)), theme.warn),
        (None, None) => pane,
    };
    let inner = pane.more(format!("{} on", scene.glyphs.ok), theme.ok).draw(scene, area, buffer);
    let groups: Vec<String> =
        state.groups.iter().map(|group| format!("{} ({})", group.group, group.members)).collect();
    let failed =
        if state.failed_total > 0 { format!(", {} failed", state.failed_total) } else { String::new() };
    let lines = [
        format!(
            "writes {}/s of {}/s wanted, reads {}/s",
            short(load.written_per_second),
            state.target_per_second,
            short(load.read_per_second)
        ),
        format!(
            "{} written{failed}, {} read",
            short(state.acknowledged_total as f64),
            short(state.consumed_total as f64)
        ),
        format!("members: {}", groups.join(", ")),
        format!("topics: {}", state.topics.join(", ")),
    ];
    let lines: Vec<_> = lines.into_iter().map(Into::into).collect();
    say(buffer, inner, &lines, theme.base);
}
