//! What is around every view: the first lines, the keys at the foot, messages.

use std::borrow::Cow;

use ottla_broker::types::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::binding::Place;
use super::console::Console;
use super::key_action::ViewId;
use super::pane::{bottom, top};
use super::scene::Scene;
use super::words::{age, short, short_count};
use crate::config::Key;
use crate::model::{BrokerState, Model, Severity, ZookeeperConnection};
use crate::widget::{Segment, StatusBar, Toast, put, put_line, width};

/// The least a console can be drawn on.
const COLUMNS_MIN: u16 = 60;
const ROWS_MIN: u16 = 16;
/// The row with the names of the views.
const TAB_ROW: u16 = 1;

impl Console {
    /// Draws everything.
    pub fn draw(&self, model: &Model, now: Millis, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let theme = self.theme();
        buffer.set_style(area, theme.base);
        let (shown, at) = match self.paused.as_deref() {
            Some((model, at)) => (model, *at),
            None => (model, now),
        };
        let scene = Scene { model: shown, now: at, theme, glyphs: &self.glyphs };
        if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
            draw_too_small(&scene, area, buffer);
            return;
        }
        let (header, rest) = top(area, 1);
        let (tabs, rest) = top(rest, 1);
        let (body, foot) = bottom(rest, 1);
        self.draw_header(&scene, header, buffer);
        self.draw_tabs(&scene, tabs, buffer);
        self.draw_view(&scene, body, buffer);
        self.draw_foot(&scene, model, foot, buffer);
        if let Some(toast) = &self.toast {
            let (glyph, style) = scene.severity(toast.severity);
            Toast { glyph, text: toast.text.as_str().into(), style: theme.popup.patch(style) }
                .draw(body, buffer);
        }
        if let Some(dialog) = &self.dialog {
            dialog.popup.draw(&self.glyphs, &scene.popup(), body, buffer);
        }
    }

    fn draw_view(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        match self.view {
            ViewId::Overview => self.overview.draw(scene, area, buffer),
            ViewId::Brokers => self.brokers.draw(scene, area, buffer),
            ViewId::Partitions => self.partitions.draw(scene, area, buffer),
            ViewId::Groups => self.groups.draw(scene, area, buffer),
            ViewId::Network => self.network.draw(scene, area, buffer),
            ViewId::Events => self.events.draw(scene, area, buffer),
        }
    }

    fn draw_header(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = scene.theme;
        let name = match scene.model.cluster.profile.name.as_str() {
            "" => Cow::Borrowed(" ottla "),
            name => Cow::Owned(format!(" ottla {name} ")),
        };
        let mut left = vec![Segment::new(name, theme.brand, 0)];
        left.extend(zookeeper_segment(scene));
        left.extend(health_segments(scene));
        let mut right = Vec::new();
        if let Some(action) = scene.model.actions.running().last() {
            let text = format!("{} {}", scene.glyphs.busy, action.what);
            right.push(Segment::new(text, theme.busy, 3));
        }
        if scene.model.load.state.running {
            right.push(Segment::new("LOAD ", theme.info, 4));
        }
        if scene.model.cluster.profile.read_only {
            right.push(Segment::new(" READ-ONLY ", theme.badge, 1));
        }
        if self.paused.is_some() {
            right.push(Segment::new(
                format!(" PAUSED at {} ", super::words::clock(scene.now)),
                theme.badge,
                0,
            ));
        }
        let separator = format!(" {} ", scene.glyphs.separator);
        let bar = StatusBar {
            left,
            right,
            separator: separator.into(),
            separator_style: theme.faint,
            ground: theme.header,
        };
        bar.draw(area, buffer);
    }

    fn draw_tabs(&self, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = scene.theme;
        for (view, place) in tab_places(Rect { y: area.y.saturating_sub(TAB_ROW), ..area }) {
            let active = view == self.view;
            let style = if active { theme.tab_active } else { theme.tab };
            let number = (view.number() + 1).to_string();
            let line = [
                (Cow::Borrowed(" "), theme.base),
                (Cow::Owned(number), if active { theme.tab_active } else { theme.key }),
                (Cow::Borrowed(" "), style),
                (Cow::Borrowed(view.name()), style),
            ];
            put_line(buffer, place, &line);
        }
        let used = tab_places(area).last().map_or(0, |(_, place)| place.right().saturating_sub(area.x));
        let text = location(scene.model);
        let cells = width(&text);
        if area.width > used + cells + 2 {
            let place = Rect { x: area.right() - cells - 1, width: cells, ..area };
            put(buffer, place, &text, theme.dim);
        }
    }

    fn draw_foot(&self, scene: &Scene<'_>, model: &Model, area: Rect, buffer: &mut Buffer) {
        let theme = scene.theme;
        let mut area = area;
        if self.filtering
            && let Some(filter) = self.filter()
        {
            let shown = format!("/{}", filter.input.value());
            let mut used = put(buffer, area, &shown, theme.input);
            let cursor = Rect { x: area.x + used, width: 1.min(area.width - used), ..area };
            used += put(buffer, cursor, " ", theme.button_active);
            area = Rect { x: area.x + used + 1, width: area.width.saturating_sub(used + 1), ..area };
        }
        let place = match (&self.dialog, self.filtering) {
            (Some(dialog), _) => dialog.place(),
            (None, true) => Place::Filter,
            (None, false) => Place::Everywhere,
        };
        let mut hints: Vec<(Key, &str, bool)> = self
            .bindings
            .at(model, place, self.view)
            .filter(|(binding, _)| !binding.hint.is_empty())
            .filter_map(|(binding, keys)| {
                Some((*keys.first()?, binding.hint, binding.place == Place::Everywhere))
            })
            .collect();
        // Help and the way out are always in sight; what is special here follows them.
        hints.sort_by_key(|(_, _, everywhere)| !everywhere);
        let mut x = area.x + 1;
        for (key, hint, _) in hints {
            let key = key.to_string();
            let cells = width(&key) + width(hint) + 3;
            if x + cells > area.right() {
                break;
            }
            let rest = Rect { x, width: area.right() - x, ..area };
            let line = [
                (Cow::Owned(key), theme.key),
                (Cow::Borrowed(" "), theme.hint),
                (Cow::Borrowed(hint), theme.hint),
            ];
            put_line(buffer, rest, &line);
            x += cells;
        }
    }
}

/// Returns where the name of each view stands.
pub(super) fn tab_places(area: Rect) -> impl Iterator<Item = (ViewId, Rect)> {
    let mut x = area.x;
    ViewId::ALL.into_iter().map(move |view| {
        let cells = width(view.name()).saturating_add(3);
        let place = Rect { x, y: area.y.saturating_add(TAB_ROW), width: cells, height: 1 };
        x = x.saturating_add(cells).saturating_add(1);
        (view, place.intersection(Rect { height: area.height.saturating_add(TAB_ROW), ..area }))
    })
}

/// Returns where the cluster is.
fn location(model: &Model) -> String {
    let profile = &model.cluster.profile;
    match &profile.data_dir {
        Some(dir) => format!("{dir}  zookeeper {}", profile.zookeeper),
        None if profile.zookeeper.is_empty() => String::new(),
        None => format!("zookeeper {}", profile.zookeeper),
    }
}

/// Says how the connection to ZooKeeper is, unless it is well.
fn zookeeper_segment<'a>(scene: &Scene<'a>) -> Option<Segment<'a>> {
    let cluster = &scene.model.cluster;
    let since = cluster
        .zookeeper_since
        .map(|since| scene.now.since(since))
        .filter(|time| time.0 >= 1_000)
        .map_or_else(String::new, |time| format!(" {}", age(time)));
    let (glyph, style) = match &cluster.zookeeper {
        ZookeeperConnection::Connected { .. } => return None,
        ZookeeperConnection::Unknown | ZookeeperConnection::Connecting { .. } => {
            (scene.glyphs.busy, scene.theme.busy)
        }
        ZookeeperConnection::Disconnected { .. } | ZookeeperConnection::Expired => {
            (scene.glyphs.gone, scene.theme.crit)
        }
    };
    let text = format!("{glyph} ZooKeeper {}{since}", cluster.zookeeper.word());
    Some(Segment::new(text, style, 1))
}

/// Says how the cluster is: what is wrong first in importance, though not in place.
fn health_segments<'a>(scene: &Scene<'a>) -> Vec<Segment<'a>> {
    let (model, theme, glyphs) = (scene.model, scene.theme, scene.glyphs);
    let summary = &model.summary;
    let mut list = Vec::new();
    let all_up = summary.brokers_up == summary.brokers;
    let starting = model.brokers.values().any(|broker| broker.state == BrokerState::Starting);
    let (glyph, style) = match (summary.brokers, all_up) {
        (0, _) => (glyphs.unknown, theme.dim),
        (_, false) if starting => (glyphs.busy, theme.busy),
        (_, true) => (glyphs.ok, theme.ok),
        (_, false) => (glyphs.warn, theme.warn),
    };
    let text = format!("{glyph} {}/{} brokers up", summary.brokers_up, summary.brokers);
    list.push(Segment::new(text, style, 1));
    let controller = match (model.cluster.controller, model.cluster.controllerless_since) {
        (Some(id), _) => (format!("{} controller {id}", glyphs.star), theme.info),
        (None, Some(since)) => (
            format!("{} no controller {}", glyphs.gone, super::words::span(scene.now.since(since))),
            theme.crit,
        ),
        (None, None) => (format!("{} controller unknown", glyphs.unknown), theme.dim),
    };
    list.push(Segment::new(controller.0, controller.1, 5));
    if summary.partitions > 0 {
        list.extend(partition_segments(scene));
    }
    if summary.records_per_second >= 0.05 {
        list.push(Segment::new(format!("{} rec/s", short(summary.records_per_second)), theme.header, 7));
    }
    if !model.groups.is_empty() {
        list.push(Segment::new(format!("lag {}", short_count(summary.lag)), theme.header, 6));
    }
    if summary.rebalancing > 0 {
        let text = format!("{} {} rebalancing", glyphs.busy, summary.rebalancing);
        list.push(Segment::new(text, theme.busy, 3));
    }
    list
}

fn partition_segments<'a>(scene: &Scene<'a>) -> Vec<Segment<'a>> {
    let (summary, theme, glyphs) = (&scene.model.summary, scene.theme, scene.glyphs);
    let mut list = vec![Segment::new(format!("{} partitions", summary.partitions), theme.header, 8)];
    if summary.offline > 0 {
        list.push(Segment::new(format!("{} {} offline", glyphs.gone, summary.offline), theme.crit, 1));
    }
    if summary.under_replicated > 0 {
        let text = format!("{} {} under-replicated", glyphs.warn, summary.under_replicated);
        list.push(Segment::new(text, theme.warn, 2));
    }
    if summary.not_preferred > 0 {
        let text = format!("{} {} not preferred", glyphs.dot, summary.not_preferred);
        list.push(Segment::new(text, theme.leader_other, 4));
    }
    if summary.offline + summary.under_replicated + summary.not_preferred == 0 {
        list.push(Segment::new(format!("{} all in sync", glyphs.ok), theme.ok, 4));
    }
    list
}

/// Says that there is too little room, and how much is needed.
fn draw_too_small(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let lines = [
        format!("ottla needs {COLUMNS_MIN}x{ROWS_MIN}, this is {}x{}.", area.width, area.height),
        "Make the window larger, or press q.".to_owned(),
    ];
    let (_, style) = scene.severity(Severity::Warning);
    for (y, line) in (area.y..area.bottom()).zip(&lines) {
        put(buffer, Rect { y, height: 1, ..area }, line, if y == area.y { style } else { scene.theme.base });
    }
}

/// Returns how old a reading is, in words, when it is older than it should be.
pub(super) fn old(scene: &Scene<'_>, seen: Option<Millis>, limit: Millis) -> Option<String> {
    let age_of = scene.now.since(seen?);
    (age_of > limit).then(|| format!("{} old", age(age_of)))
}
