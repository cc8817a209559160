//! What things look like: one style per meaning.

use ratatui::style::{Color, Style};

/// Declares the slots of a theme: a field, a name in files, and whether text in it must be easy to read.
macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal $reading:ident,)*) => {
        /// What things look like: one style per meaning.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Theme {
            /// What it is called.
            pub name: String,
            /// What it is for, in a line.
            pub about: String,
            $($(#[$doc])* pub $slot: Style,)*
        }

        impl Theme {
            /// The names of the slots, as in theme files.
            pub const SLOTS: &'static [&'static str] = &[$($name),*];

            /// Returns the slot of this name.
            pub fn slot(&self, name: &str) -> Option<Style> {
                match name {
                    $($name => Some(self.$slot),)*
                    _ => None,
                }
            }

            /// Returns the slot of this name, to be set.
            pub(super) fn slot_mut(&mut self, name: &str) -> Option<&mut Style> {
                match name {
                    $($name => Some(&mut self.$slot),)*
                    _ => None,
                }
            }

            /// Returns the slots whose contrast matters, each with whether it is text that must be read.
            #[cfg(test)]
            fn readings(&self) -> Vec<(&'static str, Style, Reading)> {
                vec![$(($name, self.$slot, Reading::$reading),)*]
            }
        }
    };
}

/// How well a slot must be readable.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Words and figures: 4.5 to 1.
    Text,
    /// Lines and shapes: 3 to 1.
    Shape,
    /// A background, or nothing but.
    Ground,
}

slots! {
    /// Everything that nothing else says.
    base = "base" Text,
    /// Headings of columns, labels.
    label = "label" Text,
    /// What matters less.
    dim = "dim" Text,
    /// What matters more.
    strong = "strong" Text,
    /// Titles of panes.
    title = "title" Text,
    /// Frames of panes.
    border = "border" Shape,
    /// The frame of the pane that has the keys.
    border_focus = "border-focus" Shape,
    /// Rulers, empty parts of bars.
    faint = "faint" Shape,
    /// The first line.
    header = "header" Text,
    /// The name of the cluster in the first line.
    brand = "brand" Text,
    /// A tab.
    tab = "tab" Text,
    /// The tab that is shown.
    tab_active = "tab-active" Text,
    /// A key that can be pressed.
    key = "key" Text,
    /// What it does.
    hint = "hint" Text,
    /// The row under the cursor.
    selection = "selection" Text,
    /// What a popup stands on.
    popup = "popup" Text,
    /// The frame of a popup.
    popup_border = "popup-border" Shape,
    /// The frame of a popup that asks before something is lost.
    popup_danger = "popup-danger" Shape,
    /// A button.
    button = "button" Text,
    /// The button that enter presses.
    button_active = "button-active" Text,
    /// A field to type in.
    input = "input" Text,
    /// All is well.
    ok = "ok" Text,
    /// Something is under way.
    busy = "busy" Text,
    /// Not as it should be.
    warn = "warn" Text,
    /// Somebody cannot work.
    crit = "crit" Text,
    /// Neither good nor bad.
    info = "info" Text,
    /// A badge for something unusual, such as a frozen screen.
    badge = "badge" Text,
    /// A badge for something grave.
    badge_crit = "badge-crit" Text,
    /// A replica that leads.
    leader = "leader" Text,
    /// A replica that leads and is not the preferred one.
    leader_other = "leader-other" Text,
    /// A replica in sync.
    follower = "follower" Text,
    /// A replica that is not in sync.
    isr_out = "isr-out" Text,
    /// A replica on a broker that is gone.
    offline = "offline" Text,
    /// What has changed just now.
    changed = "changed" Text,
    /// The first series of a chart.
    series_1 = "series-1" Shape,
    /// The second series.
    series_2 = "series-2" Shape,
    /// The third series.
    series_3 = "series-3" Shape,
    /// The fourth series.
    series_4 = "series-4" Shape,
    /// The low end of a gauge.
    gradient_low = "gradient-low" Shape,
    /// Its middle.
    gradient_mid = "gradient-mid" Shape,
    /// Its high end.
    gradient_high = "gradient-high" Shape,
    /// What lies under a popup.
    shade = "shade" Ground,
}

impl Theme {
    /// Returns the style for a share of something that must not fill up.
    pub fn gradient(&self, ratio: f64) -> Style {
        if ratio < 0.5 {
            self.gradient_low
        } else if ratio < 0.8 {
            self.gradient_mid
        } else {
            self.gradient_high
        }
    }

    /// Returns the style of a series by its number, from 0.
    pub fn series(&self, number: usize) -> Style {
        match number % 4 {
            0 => self.series_1,
            1 => self.series_2,
            2 => self.series_3,
            _ => self.series_4,
        }
    }

    /// Returns whether it leaves all colours to the terminal.
    pub fn is_mono(&self) -> bool {
        Self::SLOTS.iter().filter_map(|name| self.slot(name)).all(|style| {
            style.fg.is_none_or(|color| color == Color::Reset)
                && style.bg.is_none_or(|color| color == Color::Reset)
        })
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use super::*;
    use crate::config::{BUILTIN_THEMES, contrast};

    /// Text and figures can be read, and shapes made out, in every theme that chooses its own colours.
    #[test]
    fn every_theme_can_be_read() {
        let mut faults = Vec::new();
        for (name, _) in BUILTIN_THEMES {
            let theme = Theme::builtin(name).unwrap();
            for (slot, style, reading) in theme.readings() {
                let ground = match slot {
                    "popup-border" | "popup-danger" => theme.popup.bg,
                    _ => style.bg.or(theme.base.bg),
                };
                let (Some(front), Some(ground)) = (style.fg.or(theme.base.fg), ground) else { continue };
                let Some(ratio) = contrast(front, ground) else { continue };
                let needed = match reading {
                    Reading::Text => 4.5,
                    Reading::Shape => 3.0,
                    Reading::Ground => continue,
                };
                if ratio < needed {
                    faults.push(format!("{name}: {slot}: {ratio:.2} of {needed}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// What stands on the selection keeps its own colour there, so it must be readable on that too.
    #[test]
    fn status_can_be_read_on_the_selected_row() {
        let mut faults = Vec::new();
        for (name, _) in BUILTIN_THEMES {
            let theme = Theme::builtin(name).unwrap();
            let Some(ground) = theme.selection.bg else { continue };
            for slot in ["ok", "warn", "crit", "info", "busy", "dim", "leader", "isr-out", "offline"] {
                let Some(front) = theme.slot(slot).and_then(|style| style.fg) else { continue };
                if let Some(ratio) = contrast(front, ground).filter(|ratio| *ratio < 4.0) {
                    faults.push(format!("{name}: {slot} on the selection: {ratio:.2} of 4.0"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn without_colour_the_selection_and_the_status_still_differ() {
        let mono = Theme::builtin("mono").unwrap();
        assert!(mono.is_mono());
        assert!(mono.selection.add_modifier.contains(Modifier::REVERSED));
        assert_ne!(mono.ok, mono.crit);
        assert_ne!(mono.button, mono.button_active);
    }
}
