//! How many colours the terminal has, and a finished buffer in no more than that.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::style::Color;
use termprofile::{DetectorSettings, EnvVarSource, IsTerminal, TermProfile, TermVars};

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// As the terminal and `NO_COLOR` say.
    #[default]
    Auto,
    /// Whatever `NO_COLOR` says.
    Always,
    /// Not at all.
    Never,
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// None.
    None,
    /// The terminal's own 16.
    Ansi16,
    /// The palette of 256.
    Ansi256,
    /// All.
    TrueColor,
}

/// The environment without the variables that a choice overrides.
struct Environment<'a> {
    choice: ColorChoice,
    read: &'a dyn Fn(&str) -> Option<String>,
}

impl EnvVarSource for Environment<'_> {
    fn var(&self, name: &str) -> Option<String> {
        let overridden = matches!(name, "NO_COLOR" | "FORCE_COLOR" | "CLICOLOR" | "CLICOLOR_FORCE");
        if overridden && self.choice == ColorChoice::Always { None } else { (self.read)(name) }
    }
}

/// Always a terminal: whether it is one was asked before.
struct Terminal;

impl IsTerminal for Terminal {
    fn is_terminal(&self) -> bool {
        true
    }
}

impl Depth {
    /// Returns how many colours to use, given the environment's variables.
    pub fn detect(choice: ColorChoice, read: &dyn Fn(&str) -> Option<String>) -> Self {
        if choice == ColorChoice::Never {
            return Self::None;
        }
        let settings = DetectorSettings::new().enable_tmux_info(false);
        let vars = TermVars::from_source(&Environment { choice, read }, &Terminal, settings);
        match (TermProfile::detect_with_vars(vars), choice) {
            (TermProfile::NoTty | TermProfile::NoColor, ColorChoice::Always) => Self::Ansi16,
            (TermProfile::NoTty | TermProfile::NoColor, _) => Self::None,
            (TermProfile::Ansi16, _) => Self::Ansi16,
            (TermProfile::Ansi256, _) => Self::Ansi256,
            (TermProfile::TrueColor, _) => Self::TrueColor,
        }
    }

    fn profile(self) -> TermProfile {
        match self {
            Self::None => TermProfile::NoColor,
            Self::Ansi16 => TermProfile::Ansi16,
            Self::Ansi256 => TermProfile::Ansi256,
            Self::TrueColor => TermProfile::TrueColor,
        }
    }
}

/// Maps finished buffers to the colours there are.
#[derive(Debug)]
pub struct Mapper {
    depth: Depth,
    /// The few colours of a theme come again and again; finding the nearest is the slow part.
    known: HashMap<Color, Color>,
}

impl Mapper {
    /// Returns a mapper to this many colours.
    pub fn new(depth: Depth) -> Self {
        Self { depth, known: HashMap::new() }
    }

    /// Puts the nearest colours there are in place of those that are not.
    pub fn map(&mut self, buffer: &mut Buffer) {
        if self.depth == Depth::TrueColor {
            return;
        }
        for cell in &mut buffer.content {
            cell.fg = self.nearest(cell.fg);
            cell.bg = self.nearest(cell.bg);
            cell.underline_color = self.nearest(cell.underline_color);
        }
    }

    fn nearest(&mut self, color: Color) -> Color {
        if color == Color::Reset {
            return color;
        }
        let profile = self.depth.profile();
        *self.known.entry(color).or_insert_with(|| profile.adapt_color(color).unwrap_or(Color::Reset))
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn depth(choice: ColorChoice, variables: &[(&str, &str)]) -> Depth {
        let read = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Depth::detect(choice, &read)
    }

    #[test]
    fn the_choice_wins_over_the_environment_and_the_environment_over_the_terminal() {
        let full = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        assert_eq!(depth(ColorChoice::Auto, &full), Depth::TrueColor);
        assert_eq!(depth(ColorChoice::Never, &full), Depth::None);
        let without = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")];
        assert_eq!(depth(ColorChoice::Auto, &without), Depth::None);
        assert_eq!(depth(ColorChoice::Always, &without), Depth::TrueColor);
        assert_eq!(depth(ColorChoice::Auto, &[("TERM", "xterm-256color")]), Depth::Ansi256);
        assert_eq!(depth(ColorChoice::Auto, &[("TERM", "linux")]), Depth::Ansi16);
        assert_eq!(depth(ColorChoice::Auto, &[("TERM", "dumb")]), Depth::None);
        assert_eq!(depth(ColorChoice::Auto, &[("TERM", "xterm-256color"), ("NO_COLOR", "")]), Depth::Ansi256);
    }

    #[test]
    fn a_buffer_keeps_no_colour_that_is_not_there() {
        let area = Rect::new(0, 0, 2, 1);
        let style = Style::new().fg(Color::Rgb(255, 0, 0)).bg(Color::Indexed(21));
        for (depth, fg, bg) in [
            (Depth::TrueColor, Color::Rgb(255, 0, 0), Color::Indexed(21)),
            (Depth::Ansi256, Color::Indexed(196), Color::Indexed(21)),
            (Depth::None, Color::Reset, Color::Reset),
        ] {
            let mut buffer = Buffer::empty(area);
            buffer.set_string(0, 0, "ab", style);
            Mapper::new(depth).map(&mut buffer);
            assert_eq!((buffer[(0, 0)].fg, buffer[(0, 0)].bg), (fg, bg), "{depth:?}");
        }
        let mut buffer = Buffer::empty(area);
        buffer.set_string(0, 0, "ab", style);
        Mapper::new(Depth::Ansi16).map(&mut buffer);
        assert!(matches!(buffer[(0, 0)].fg, Color::Red | Color::LightRed));
    }
}
