//! The mouse: the wheel scrolls, a click selects.

use ottla_broker::types::Millis;
use ratatui::layout::{Position, Rect};

use super::chrome::tab_places;
use super::console::{Console, Wish};
use super::key_action::{KeyAction, ViewId};
use crate::model::Model;

/// How many rows one notch of the wheel moves.
const WHEEL_ROWS: usize = 3;

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// The wheel was turned away.
    WheelUp,
    /// The wheel was turned towards.
    WheelDown,
    /// The left button was pressed here.
    Click(Position),
}

impl Console {
    /// Takes what the mouse did on a screen of this size.
    pub fn on_mouse(&mut self, model: &Model, now: Millis, area: Rect, mouse: Mouse) -> Option<Wish> {
        if self.dialog.is_some() {
            return None;
        }
        match mouse {
            Mouse::WheelUp => (0..WHEEL_ROWS).for_each(|_| {
                self.on_action(model, now, KeyAction::Up);
            }),
            Mouse::WheelDown => (0..WHEEL_ROWS).for_each(|_| {
                self.on_action(model, now, KeyAction::Down);
            }),
            Mouse::Click(at) => {
                if let Some((view, _)) = tab_places(area).find(|(_, place)| place.contains(at)) {
                    return self.on_action(model, now, KeyAction::Go(view));
                }
                self.click(at);
            }
        }
        None
    }

    fn click(&mut self, at: Position) {
        match self.view {
            ViewId::Overview => self.overview.click(at),
            ViewId::Brokers => self.brokers.click(at),
            ViewId::Partitions => self.partitions.click(at),
            ViewId::Groups => self.groups.click(at),
            ViewId::Network => self.network.click(at),
            ViewId::Events => self.events.click(at),
        }
    }
}

/// Returns which row of a list was clicked, given where its rows were drawn.
pub(super) fn clicked_row(rows: Rect, at: Position) -> Option<usize> {
    rows.contains(at).then(|| usize::from(at.y - rows.y))
}
