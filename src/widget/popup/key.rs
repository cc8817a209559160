//! What keys mean to a popup.

use tui_input::{Input, InputRequest};

use crate::config::Key;

/// What a key means to a popup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopupKey {
    /// Take what is chosen.
    Accept,
    /// Close without an answer.
    Cancel,
    /// Say yes, where that is not typed as a character.
    Yes,
    /// Go to the next button, item or field.
    Next,
    /// Go to the one before.
    Previous,
    /// Go a page on.
    PageDown,
    /// Go a page back.
    PageUp,
    /// A key for the field that has the cursor.
    Edit(Key),
}

/// Hands a key to a field, with the keys that readline has.
pub fn edit(input: &mut Input, key: Key) {
    let request = match key {
        Key::Char(c) => InputRequest::InsertChar(c),
        Key::Backspace => InputRequest::DeletePrevChar,
        Key::Delete => InputRequest::DeleteNextChar,
        Key::Left => InputRequest::GoToPrevChar,
        Key::Right => InputRequest::GoToNextChar,
        Key::Alt('b') => InputRequest::GoToPrevWord,
        Key::Alt('f') => InputRequest::GoToNextWord,
        Key::Home | Key::Ctrl('a') => InputRequest::GoToStart,
        Key::End | Key::Ctrl('e') => InputRequest::GoToEnd,
        Key::Ctrl('w') => InputRequest::DeletePrevWord,
        Key::Ctrl('u') => InputRequest::DeleteLine,
        Key::Ctrl('k') => InputRequest::DeleteTillEnd,
        _ => return,
    };
    input.handle(request);
}
