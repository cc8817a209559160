//! Theme files.
//!
//! ```toml
//! name = "dusk"
//! about = "what it is for"
//! inherits = "dark"              # whatever is not said here is as there
//!
//! [palette]
//! amber = "#e0a000"
//!
//! [slots]
//! warn = "amber"                 # a colour of the palette, or any other
//! selection = { fg = "default", bg = "#203040", bold = true }
//! ```

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use thiserror::Error;

use super::color::{ColorError, parse_color};
use super::theme::Theme;

/// The themes that are always there, by name, with their files.
pub const BUILTIN_THEMES: &[(&str, &str)] = &[
    ("terminal", include_str!("../../themes/terminal.toml")),
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("deuteranopia", include_str!("../../themes/deuteranopia.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
];

/// How many themes may inherit from each other in a row.
const INHERIT_MAX: usize = 8;

/// A theme that cannot be read.
#[derive(Debug, Error)]
pub enum ThemeError {
    /// There is none of this name.
    #[error("there is no theme \"{name}\"; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// It is no TOML of the right shape.
    #[error("theme {name}: {source}")]
    Shape {
        /// Which theme.
        name: String,
        /// Why not.
        source: Box<toml::de::Error>,
    },
    /// It sets something that is not in a theme.
    #[error("theme {name}: there is no slot \"{slot}\"")]
    UnknownSlot {
        /// Which theme.
        name: String,
        /// What it sets.
        slot: String,
    },
    /// A colour cannot be read.
    #[error("theme {name}: {place}: {source}")]
    Color {
        /// Which theme.
        name: String,
        /// Where.
        place: String,
        /// Why not.
        source: ColorError,
    },
    /// Themes inherit from each other in a circle.
    #[error("theme {0}: it inherits from itself, over others")]
    Circle(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    about: String,
    inherits: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    slots: BTreeMap<String, Slot>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Slot {
    Color(String),
    Style(SlotStyle),
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct SlotStyle {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
}

impl Theme {
    /// Returns the theme of this name among those that are always there.
    ///
    /// # Errors
    /// When there is none; the message lists those there are.
    pub fn builtin(name: &str) -> Result<Self, ThemeError> {
        Self::builtin_at(name, 0)
    }

    /// Reads a theme file.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        Self::parse_at("file", text, 0)
    }

    fn builtin_at(name: &str, depth: usize) -> Result<Self, ThemeError> {
        let Some((_, text)) = BUILTIN_THEMES.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = BUILTIN_THEMES.iter().map(|(known, _)| *known).collect();
            return Err(ThemeError::Unknown { name: name.to_owned(), known: known.join(", ") });
        };
        Self::parse_at(name, text, depth)
    }

    fn parse_at(name: &str, text: &str, depth: usize) -> Result<Self, ThemeError> {
        if depth > INHERIT_MAX {
            return Err(ThemeError::Circle(name.to_owned()));
        }
        let file: File = toml::from_str(text)
            .map_err(|source| ThemeError::Shape { name: name.to_owned(), source: Box::new(source) })?;
        let mut theme = match &file.inherits {
            Some(parent) => Self::builtin_at(parent, depth + 1)?,
            None => Self::default(),
        };
        let palette = Palette::read(&file)?;
        for (slot, wanted) in &file.slots {
            let style = palette.style(slot, wanted)?;
            let place = theme
                .slot_mut(slot)
                .ok_or_else(|| ThemeError::UnknownSlot { name: file.name.clone(), slot: slot.clone() })?;
            *place = style;
        }
        theme.name = file.name;
        theme.about = file.about;
        Ok(theme)
    }
}

/// The colours that a file gives names to.
struct Palette<'a> {
    theme: &'a str,
    colors: BTreeMap<&'a str, Color>,
}

impl<'a> Palette<'a> {
    fn read(file: &'a File) -> Result<Self, ThemeError> {
        let mut palette = Self { theme: &file.name, colors: BTreeMap::new() };
        for (name, text) in &file.palette {
            let color = palette.color(&format!("palette.{name}"), text)?;
            palette.colors.insert(name, color);
        }
        Ok(palette)
    }

    fn color(&self, place: &str, text: &str) -> Result<Color, ThemeError> {
        if let Some(color) = self.colors.get(text) {
            return Ok(*color);
        }
        parse_color(text).map_err(|source| ThemeError::Color {
            name: self.theme.to_owned(),
            place: place.to_owned(),
            source,
        })
    }

    fn style(&self, place: &str, slot: &Slot) -> Result<Style, ThemeError> {
        let wanted = match slot {
            Slot::Color(text) => return Ok(Style::new().fg(self.color(place, text)?)),
            Slot::Style(wanted) => wanted,
        };
        let mut style = Style::new();
        if let Some(text) = &wanted.fg {
            style = style.fg(self.color(place, text)?);
        }
        if let Some(text) = &wanted.bg {
            style = style.bg(self.color(place, text)?);
        }
        for (set, modifier) in [
            (wanted.bold, Modifier::BOLD),
            (wanted.dim, Modifier::DIM),
            (wanted.italic, Modifier::ITALIC),
            (wanted.underline, Modifier::UNDERLINED),
            (wanted.reverse, Modifier::REVERSED),
        ] {
            if set {
                style = style.add_modifier(modifier);
            }
        }
        Ok(style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_theme_is_named_as_its_file_and_sets_every_slot() {
        for (name, text) in BUILTIN_THEMES {
            let theme = Theme::builtin(name).unwrap();
            assert_eq!(theme.name, *name);
            assert!(!theme.about.is_empty(), "{name}");
            if text.contains("inherits") {
                continue;
            }
            for slot in Theme::SLOTS {
                assert!(text.contains(&format!("\n{slot} = ")), "{name} leaves out {slot}");
            }
        }
    }

    #[test]
    fn a_file_says_only_what_differs() {
        let text = "name = \"dusk\"\ninherits = \"dark\"\n[palette]\namber = \"#e0a000\"\n\
                    [slots]\nwarn = \"amber\"\nkey = { fg = \"208\", bold = true }\n";
        let theme = Theme::parse(text).unwrap();
        assert_eq!(theme.warn, Style::new().fg(Color::Rgb(0xe0, 0xa0, 0)));
        assert_eq!(theme.key, Style::new().fg(Color::Indexed(208)).add_modifier(Modifier::BOLD));
        assert_eq!(theme.ok, Theme::builtin("dark").unwrap().ok);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, words) in [
            ("name = \"x\"\n[slots]\nwran = \"red\"", "no slot \"wran\""),
            ("name = \"x\"\n[slots]\nwarn = \"reed\"", "warn: \"reed\" is no colour"),
            ("name = \"x\"\ninherits = \"y\"", "no theme \"y\""),
            ("name = \"x\"\n[slots]\nwarn = { foreground = \"red\" }", "theme file"),
            ("title = 1", "unknown field `title`"),
        ] {
            let error = Theme::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
