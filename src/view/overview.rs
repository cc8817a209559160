//! Everything at a glance: processes, topics with their leaders, groups, the load, the newest events.

use std::borrow::Cow;
use std::cell::Cell as Memory;

use ottla_broker::types::{BrokerId, TopicPartition};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::broker_rows::{COLUMNS, ProcessRow, cells, draw_minute, order, rows, spark_cell, text};
use super::brokers::{draw_chart, step};
use super::events::draw_ticker;
use super::groups::{draw_load, state_words, trend};
use super::key_action::{KeyAction, ViewId};
use super::leadership::{draw_legend, draw_matrix, legend_rows};
use super::mouse::clicked_row;
use super::pane::{Pane, bottom, left, say, top};
use super::reaction::Reaction;
use super::scene::Scene;
use super::words::{dash, percent, short, short_count};
use crate::model::{Group, Model, Partition, SourceName, Topic, ZookeeperConnection};
use crate::widget::{Bar, Cell, Column, Listing, Table, put, put_line};

const TOPIC_COLUMNS: [Column; 4] = [
    Column::text("TOPIC", 12, 30, 0),
    Column::text("LEADERS", 12, 64, 0),
    Column::figure("REC/S", 6, 1),
    Column::fixed("LAST MINUTE", 15, 2),
];

const GROUP_COLUMNS: [Column; 4] = [
    Column::text("GROUP", 10, 28, 0),
    Column::text("STATE", 9, 18, 0).keep_beginning(),
    Column::figure("LAG", 7, 0),
    Column::fixed("LAST MINUTE", 12, 1),
];

/// Everything at a glance.
#[derive(Debug, Default)]
pub(super) struct Overview {
    list: Listing<ProcessRow>,
    internal: bool,
    topics: Vec<String>,
    /// One partition of each topic, for the matrix.
    partitions: Vec<TopicPartition>,
    drawn: Memory<Rect>,
}

impl Overview {
    pub(super) fn settle(&mut self, model: &Model) {
        self.list.set(rows(model));
        self.topics =
            model.topics.keys().filter(|name| self.internal || !Topic::is_internal(name)).cloned().collect();
        self.partitions = self.topics.iter().map(|name| TopicPartition::new(name.as_str(), 0)).collect();
    }

    pub(super) fn on_action(&mut self, model: &Model, action: KeyAction) -> Reaction {
        if step(&mut self.list, action) {
            return Reaction::Done;
        }
        match action {
            KeyAction::Open => Reaction::Go(ViewId::Brokers),
            KeyAction::Internal => {
                self.internal = !self.internal;
                Reaction::Done
            }
            _ => order(model, self.list.selected(), action),
        }
    }

    pub(super) fn click(&mut self, at: Position) {
        if let Some(row) = clicked_row(self.drawn.get(), at) {
            self.list.click(row);
        }
    }

    pub(super) fn draw(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let wanted = u16::try_from(self.list.keys().len()).unwrap_or(u16::MAX).saturating_add(3);
        let (processes, rest) = top(area, wanted.clamp(5, (area.height * 2 / 5).max(5)));
        let (middle, events) = bottom(rest, (area.height / 3).clamp(5, 16));
        self.draw_processes(scene, processes, buffer);
        if middle.width >= 150 {
            let (topics, rest) = left(middle, middle.width / 2);
            let (groups, network) = left(rest, rest.width / 2);
            self.draw_topics(scene, topics, buffer);
            draw_groups_and_load(scene, groups, buffer);
            draw_queues(scene, network, buffer);
        } else {
            let (topics, groups) = left(middle, middle.width - (middle.width * 9 / 20).min(62));
            self.draw_topics(scene, topics, buffer);
            draw_groups_and_load(scene, groups, buffer);
        }
        let inner = Pane::new(scene, "events").key(scene, "6").draw(scene, events, buffer);
        draw_ticker(scene, inner, buffer);
    }

    fn draw_processes(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let model = scene.model;
        let mut pane = Pane::new(scene, "brokers")
            .key(scene, "2")
            .stale(scene, model.stale(SourceName::Processes))
            .focus(true);
        if let ZookeeperConnection::Connecting { why: Some(why) }
        | ZookeeperConnection::Disconnected { why } = &model.cluster.zookeeper
        {
            pane = pane.bottom(format!("ZooKeeper: {why}"), scene.theme.warn);
        }
        let inner = pane.draw(scene, area, buffer);
        let keys = self.list.keys();
        if keys.is_empty() {
            draw_first_words(scene, inner, buffer);
            return;
        }
        self.drawn.set(top(inner, 1).1);
        Table {
            columns: &COLUMNS,
            sorted: None,
            rows: self.list.visible(usize::from(inner.height.saturating_sub(1))),
            selected: Some(self.list.place()),
            cells: &|row| keys.get(row).map_or_else(Vec::new, |row| cells(scene, *row)),
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }

    fn draw_topics(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let hidden = scene.model.topics.len() - self.topics.len();
        let mut pane = Pane::new(scene, "topics")
            .key(scene, "3")
            .more(self.topics.len().to_string(), scene.theme.dim)
            .stale(scene, scene.model.stale(SourceName::Zookeeper));
        if hidden > 0 {
            pane = pane.right(format!("{hidden} internal"), scene.theme.dim);
        }
        let inner = pane.draw(scene, area, buffer);
        if self.topics.is_empty() {
            let words: [Cow<'_, str>; 2] =
                ["No topics yet. n creates one,".into(), "L turns the demo load on.".into()];
            say(buffer, inner, &words, scene.theme.dim);
            return;
        }
        let rows = u16::try_from(self.topics.len()).unwrap_or(u16::MAX).saturating_add(1);
        let spare = inner.height.saturating_sub(rows);
        let brokers = u16::try_from(scene.model.broker_ids().len()).unwrap_or(u16::MAX);
        if spare >= brokers.saturating_add(3) {
            let (_, low) = top(inner, rows + 1);
            let (grid, legend) = bottom(low, legend_rows(low.width));
            draw_matrix(scene, &self.partitions, None, grid, buffer);
            draw_legend(scene, legend, buffer);
        }
        let fitting = usize::from(inner.height.saturating_sub(1));
        Table {
            columns: &TOPIC_COLUMNS,
            sorted: None,
            rows: 0..self.topics.len().min(fitting),
            selected: None,
            cells: &|row| {
                let found = self.topics.get(row).and_then(|name| Some((name, scene.model.topics.get(name)?)));
                found.map_or_else(Vec::new, |(name, topic)| topic_cells(scene, name, topic))
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
    }
}

/// Says what is going on while nothing is known yet.
fn draw_first_words(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let cluster = &scene.model.cluster;
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    match &cluster.profile.data_dir {
        Some(dir) => lines.push(format!("Looking for cluster {} in {dir}", cluster.profile.name).into()),
        None if cluster.profile.zookeeper.is_empty() => lines.push("Looking for the cluster".into()),
        None => lines.push(format!("Attaching to {}", cluster.profile.zookeeper).into()),
    }
    lines.push(format!("ZooKeeper: {}", cluster.zookeeper.word()).into());
    say(buffer, area, &lines, scene.theme.dim);
}

fn topic_cells<'a>(scene: &Scene<'a>, name: &'a str, topic: &'a Topic) -> Vec<Cell<'a>> {
    let theme = scene.theme;
    let name_style = if topic.deleting { theme.busy } else { theme.base };
    vec![
        text(name, name_style),
        Cell::Line(leaders(scene, topic)),
        text(short(topic.records_per_second), theme.base),
        spark_cell(scene, &topic.rate_history, None),
    ]
}

/// Returns one character per partition: the broker that leads it, marked by its health.
fn leaders<'a>(scene: &Scene<'a>, topic: &Topic) -> Vec<(Cow<'a, str>, Style)> {
    topic.partitions.values().map(|partition| leader_mark(scene, partition)).collect()
}

fn leader_mark<'a>(scene: &Scene<'a>, partition: &Partition) -> (Cow<'a, str>, Style) {
    let theme = scene.theme;
    let health = partition.health;
    match partition.leader() {
        _ if health.offline => (scene.glyphs.gone.into(), theme.offline),
        None => (scene.glyphs.gone.into(), theme.offline),
        Some(leader) => {
            let style = if health.under_replicated {
                theme.isr_out
            } else if health.not_preferred {
                theme.leader_other
            } else {
                theme.leader
            };
            (digit(leader).into(), style)
        }
    }
}

/// Returns a broker's id in one character where it has one digit, else its last digit.
fn digit(id: BrokerId) -> String {
    id.0.rem_euclid(10).to_string()
}

fn draw_groups_and_load(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let (groups, load) = if area.height >= 12 { bottom(area, 6) } else { (area, Rect::ZERO) };
    let mut pane = Pane::new(scene, "groups")
        .key(scene, "4")
        .more(scene.model.groups.len().to_string(), scene.theme.dim)
        .stale(scene, scene.model.stale(SourceName::Groups));
    if load.height == 0 {
        let (words, style) = match scene.model.load.state.running {
            true => (format!("{} load on", scene.glyphs.ok), scene.theme.ok),
            false => ("load off: L".to_owned(), scene.theme.dim),
        };
        pane = pane.bottom(words, style);
    }
    let inner = pane.draw(scene, groups, buffer);
    if scene.model.groups.is_empty() {
        say(buffer, inner, &["No consumer groups yet.".into()], scene.theme.dim);
    } else {
        let list: Vec<(&String, &Group)> = scene.model.groups.iter().collect();
        Table {
            columns: &GROUP_COLUMNS,
            sorted: None,
            rows: 0..list.len(),
            selected: None,
            cells: &|row| {
                list.get(row).map_or_else(Vec::new, |(name, group)| group_cells(scene, name, group))
            },
            style: scene.table(),
        }
        .draw(scene.glyphs, inner, buffer);
        let rows = u16::try_from(list.len()).unwrap_or(u16::MAX).saturating_add(2);
        draw_lags(scene, &list, top(inner, rows).1, buffer);
    }
    if load.height > 0 {
        draw_load(scene, load, buffer);
    }
}

fn group_cells<'a>(scene: &Scene<'a>, name: &'a str, group: &'a Group) -> Vec<Cell<'a>> {
    let (state, style) = state_words(scene, group);
    let (arrow, arrow_style) = trend(scene, group);
    vec![
        text(name, scene.theme.base),
        text(state, style),
        Cell::Line(vec![
            (group.lag.map_or_else(dash, short_count).into(), scene.theme.base),
            (arrow.into(), arrow_style),
        ]),
        spark_cell(scene, &group.lag_history, None),
    ]
}

/// Draws the lag of each group over the last minute, where there is room.
fn draw_lags(scene: &Scene<'_>, list: &[(&String, &Group)], area: Rect, buffer: &mut Buffer) {
    let mut rest = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area };
    for (name, group) in list {
        if rest.height < 3 {
            break;
        }
        let (chart, below) =
            top(rest, (area.height / u16::try_from(list.len()).unwrap_or(1).max(1)).clamp(3, 6));
        rest = below;
        draw_chart(scene, &format!("lag of {name}"), &group.lag_history, None, chart, buffer);
    }
}

/// Draws request channel and handlers of each broker.
fn draw_queues(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let theme = scene.theme;
    let inner = Pane::new(scene, "network").key(scene, "5").draw(scene, area, buffer);
    if scene.model.networks.is_empty() {
        say(buffer, inner, &["No metrics were read yet.".into()], theme.dim);
        return;
    }
    let mut rest = Rect { x: inner.x + 1.min(inner.width), width: inner.width.saturating_sub(2), ..inner };
    for (id, network) in &scene.model.networks {
        let (title, below) = top(rest, 1);
        let (chart, below) = top(below, 2);
        rest = below;
        let busy = network.sample.handler_idle_ratio.map(|idle| (1.0 - idle).clamp(0.0, 1.0));
        let line: [(Cow<'_, str>, Style); 3] = [
            (format!("broker {id} ").into(), theme.strong),
            (format!("{} req/s ", short(network.requests_per_second)).into(), theme.base),
            (
                format!("queue {}/{} ", network.sample.request_queue_size, network.request_queue_max).into(),
                theme.label,
            ),
        ];
        let used = put_line(buffer, title, &line);
        let bar = Rect { x: title.x + used, width: title.width.saturating_sub(used), ..title };
        if let Some(busy) = busy.filter(|_| bar.width >= 12) {
            let (bar, figure) = left(bar, bar.width - 10);
            Bar { ratio: busy, style: theme.gradient(busy), empty: theme.faint }.draw(
                scene.glyphs,
                bar,
                buffer,
            );
            put(buffer, figure, &format!("{:>5} busy", percent(busy)), theme.label);
        }
        let points: Vec<_> = network.request_history.points().collect();
        draw_minute(theme, scene.glyphs, &points, None, chart, buffer);
    }
}
