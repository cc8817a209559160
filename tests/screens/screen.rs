//! A console on a buffer.

use ottla::config::{Key, Keymap, Theme};
use ottla::model::Model;
use ottla::tui::{Depth, Mapper};
use ottla::view::{Console, Wish};
use ottla::widget::{Glyphs, Tier};
use ottla_broker::types::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Returns a console in a theme.
pub fn console(theme: &str, tier: Tier) -> Console {
    Console::new(vec![Theme::builtin(theme).unwrap()], Glyphs::new(tier), &Keymap::default())
}

/// Presses keys, separated by blanks.
pub fn press(console: &mut Console, model: &Model, now: Millis, keys: &str) -> Vec<Wish> {
    keys.split(' ')
        .filter(|key| !key.is_empty())
        .filter_map(|key| {
            let key: Key = key.parse().unwrap();
            let wish = console.on_key(model, now, key);
            console.settle(model, now);
            wish
        })
        .collect()
}

/// Draws a console.
pub fn draw(console: &mut Console, model: &Model, now: Millis, (width, height): (u16, u16)) -> Buffer {
    console.settle(model, now);
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    console.draw(model, now, area, &mut buffer);
    buffer
}

/// Returns what a buffer says, line by line.
pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns what a buffer looks like: runs of one style with what they say.
pub fn styles(buffer: &Buffer, depth: Depth) -> String {
    let mut buffer = buffer.clone();
    Mapper::new(depth).map(&mut buffer);
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut run = String::new();
        let mut look = None;
        for x in 0..=buffer.area.width {
            let cell = (x < buffer.area.width).then(|| &buffer[(x, y)]);
            let this = cell.map(|cell| (cell.fg, cell.bg, cell.modifier));
            if this != look {
                if let Some((front, ground, modifier)) = look
                    && !run.trim().is_empty()
                {
                    text.push_str(&format!("{y:>2} {front}/{ground} {modifier:?} {:?}\n", run.trim()));
                }
                run.clear();
                look = this;
            }
            if let Some(cell) = cell {
                run.push_str(cell.symbol());
            }
        }
    }
    text
}
