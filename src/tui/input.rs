//! From the terminal's events to keys and the mouse.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::layout::Position;

use crate::config::Key;
use crate::view::Mouse;

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// A key.
    Key(Key),
    /// The mouse.
    Mouse(Mouse),
    /// Pasted text.
    Paste(String),
    /// The screen has another size, or must be drawn again.
    Redraw,
}

/// Returns what an event means, if anything.
pub(super) fn read(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => read_key(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(..) | Event::FocusGained => Some(Input::Redraw),
        Event::FocusLost => None,
        Event::Mouse(mouse) => {
            let at = Position { x: mouse.column, y: mouse.row };
            match mouse.kind {
                MouseEventKind::ScrollUp => Some(Input::Mouse(Mouse::WheelUp)),
                MouseEventKind::ScrollDown => Some(Input::Mouse(Mouse::WheelDown)),
                MouseEventKind::Down(MouseButton::Left) => Some(Input::Mouse(Mouse::Click(at))),
                _ => None,
            }
        }
    }
}

/// Returns a key press. Releases, which some terminals report, mean nothing.
fn read_key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    Some(match event.code {
        KeyCode::Char(c) if control => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if alt => Key::Alt(c),
        KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::SHIFT) && c.is_ascii_lowercase() => {
            Key::Char(c.to_ascii_uppercase())
        }
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => Key::BackTab,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(number) => Key::F(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_was_pressed() {
        let key = |code, modifiers| read_key(KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('X'), KeyModifiers::SHIFT), Some(Key::Char('X')));
        assert_eq!(key(KeyCode::Char('x'), KeyModifiers::SHIFT), Some(Key::Char('X')));
        assert_eq!(key(KeyCode::Char('C'), KeyModifiers::CONTROL), Some(Key::Ctrl('c')));
        assert_eq!(key(KeyCode::Tab, KeyModifiers::SHIFT), Some(Key::BackTab));
        assert_eq!(key(KeyCode::CapsLock, KeyModifiers::NONE), None);
        let release = KeyEvent::new_with_kind(KeyCode::Char('x'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(read_key(release), None);
    }
}
