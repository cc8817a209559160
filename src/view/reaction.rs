//! What a view makes of an action.

use super::dialog::Dialog;
use super::key_action::ViewId;
use crate::action::Command;

/// What a view makes of an action.
#[derive(Debug)]
pub(super) enum Reaction {
    /// It is done with it.
    Done,
    /// It does not know it.
    Unknown,
    /// It wants this to be done, after whatever must be asked.
    Propose(Command),
    /// It wants something asked first.
    Ask(Box<Dialog>),
    /// It has something to say.
    Say(String),
    /// It wants another view.
    Go(ViewId),
}
