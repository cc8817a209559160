//! How the console looks, and what it is wired to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use tokio::sync::mpsc;

use super::color::ColorChoice;
use crate::action::Issued;
use crate::config::{BUILTIN_THEMES, Keymap, KeymapError, Theme, ThemeError};
use crate::model::Update;
use crate::recording::Recorder;
use crate::view::Bindings;
use crate::widget::Tier;

/// No theme or key map is anywhere near this long.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What the console is wired to. Both channels are bounded: a source that is faster than the screen waits, and a
/// command that finds the channel full is refused in words.
#[derive(Debug)]
pub struct Wiring {
    /// What becomes known. Updates are stamped when they are taken.
    pub updates: mpsc::Receiver<Update>,
    /// What is to be done.
    pub commands: mpsc::Sender<Issued>,
    /// Where updates are written, to be replayed later.
    pub recorder: Option<Recorder>,
}

/// How the console looks.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The theme to begin with; the terminal's own colours when `None`. The others are always at hand.
    pub theme: Option<Theme>,
    /// Keys in place of the built-in ones.
    pub keymap: Keymap,
    /// When to use colour.
    pub color: ColorChoice,
    /// What to draw with; `None` chooses by the terminal.
    pub tier: Option<Tier>,
    /// Whether the mouse is the console's.
    pub mouse: bool,
}

/// Options that cannot be used.
#[derive(Debug, Error)]
pub enum OptionsError {
    /// A theme cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// A key map cannot be used.
    #[error(transparent)]
    Keymap(#[from] KeymapError),
    /// A file cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Options {
    /// Chooses a theme: a bundled one by name, or a file.
    ///
    /// # Errors
    /// When it is neither; the message lists the bundled ones.
    pub fn use_theme(&mut self, name_or_file: &str) -> Result<(), OptionsError> {
        let path = Path::new(name_or_file);
        let bundled = BUILTIN_THEMES.iter().any(|(name, _)| *name == name_or_file);
        let theme = if !bundled && path.exists() {
            Theme::parse(&read(path)?)?
        } else {
            Theme::builtin(name_or_file)?
        };
        self.theme = Some(theme);
        Ok(())
    }

    /// Takes the keys of a key map file.
    ///
    /// # Errors
    /// When it cannot be read, or names what is not there.
    pub fn use_keymap(&mut self, path: &Path) -> Result<(), OptionsError> {
        self.keymap = Keymap::parse(&read(path)?, Bindings::knows)?;
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, OptionsError> {
    let failed = |source| OptionsError::Read { path: path.to_owned(), source };
    if fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidData, "longer than any such file is")));
    }
    fs::read_to_string(path).map_err(failed)
}
