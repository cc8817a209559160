//! A key press, as it is written in key maps and on the screen.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A character, in upper case when shift was held.
    Char(char),
    /// A character with the control key.
    Ctrl(char),
    /// A character with the alt key.
    Alt(char),
    /// A function key.
    F(u8),
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// Tabulator.
    Tab,
    /// Tabulator with shift.
    BackTab,
    /// Erases before the cursor.
    Backspace,
    /// Erases under the cursor.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
}

/// The keys that have a name, and how it is written and shown.
const NAMED: [(Key, &str, &str); 15] = [
    (Key::Enter, "enter", "enter"),
    (Key::Esc, "esc", "esc"),
    (Key::Tab, "tab", "tab"),
    (Key::BackTab, "shift-tab", "shift-tab"),
    (Key::Backspace, "backspace", "backspace"),
    (Key::Delete, "delete", "delete"),
    (Key::Up, "up", "up"),
    (Key::Down, "down", "down"),
    (Key::Left, "left", "left"),
    (Key::Right, "right", "right"),
    (Key::PageUp, "page-up", "pgup"),
    (Key::PageDown, "page-down", "pgdn"),
    (Key::Home, "home", "home"),
    (Key::End, "end", "end"),
    (Key::Char(' '), "space", "space"),
];

/// A key that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("\"{0}\" is no key: write a character, \"ctrl-f\", \"alt-b\", \"f1\", or a name such as \"page-up\"")]
pub struct KeyError(pub String);

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let failed = || KeyError(text.to_owned());
        if let Some((key, _, _)) = NAMED.iter().find(|(_, name, _)| *name == text) {
            return Ok(*key);
        }
        if let Some(only) = single(text) {
            return Ok(Self::Char(only));
        }
        if let Some(rest) = text.strip_prefix("ctrl-") {
            return single(rest).map(|c| Self::Ctrl(c.to_ascii_lowercase())).ok_or_else(failed);
        }
        if let Some(rest) = text.strip_prefix("alt-") {
            return single(rest).map(Self::Alt).ok_or_else(failed);
        }
        text.strip_prefix('f')
            .and_then(|number| number.parse().ok())
            .filter(|number| (1..=24).contains(number))
            .map(Self::F)
            .ok_or_else(failed)
    }
}

/// Returns the only character of a text.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|c| chars.next().is_none() && !c.is_control())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, _, shown)) = NAMED.iter().find(|(key, _, _)| key == self) {
            return f.write_str(shown);
        }
        match self {
            Self::Ctrl(c) => write!(f, "ctrl-{c}"),
            Self::Alt(c) => write!(f, "alt-{c}"),
            Self::F(number) => write!(f, "f{number}"),
            Self::Char(c) => write!(f, "{c}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        for (text, key) in [
            ("m", Key::Char('m')),
            ("M", Key::Char('M')),
            ("?", Key::Char('?')),
            ("-", Key::Char('-')),
            ("f", Key::Char('f')),
            ("f12", Key::F(12)),
            ("ctrl-F", Key::Ctrl('f')),
            ("shift-tab", Key::BackTab),
            ("page-up", Key::PageUp),
            ("space", Key::Char(' ')),
        ] {
            assert_eq!(text.parse::<Key>(), Ok(key), "{text}");
        }
        for text in ["", "mm", "ctrl-", "f0", "f99", "hyper-x", "\u{7}"] {
            assert!(text.parse::<Key>().is_err(), "{text:?}");
        }
    }
}
