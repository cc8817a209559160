//! Profiles, settings, key map and theme files as typed values.
//!
//! Nothing here reads a file: whoever starts the console reads its text and hands it over, so that a mistake in it is
//! found and told in one place.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod color;
mod key;
mod keymap;
mod theme;
mod theme_file;

pub use color::{ColorError, contrast, parse_color};
pub use key::{Key, KeyError};
pub use keymap::{Keymap, KeymapError};
pub use theme::Theme;
pub use theme_file::{BUILTIN_THEMES, ThemeError};
