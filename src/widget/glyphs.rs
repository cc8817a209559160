//! The characters to draw with, in three tiers.

/// What a terminal and its font can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tier {
    /// Braille for charts, blocks for bars, lines for frames.
    #[default]
    Braille,
    /// Blocks for charts too, for fonts without braille.
    Block,
    /// Nothing but ASCII.
    Ascii,
}

/// The characters to draw with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// The tier.
    pub tier: Tier,
    /// Corners and sides of a frame: top left, top right, bottom left, bottom right, horizontal, vertical.
    pub frame: [&'static str; 6],
    /// All is well.
    pub ok: &'static str,
    /// On its way.
    pub busy: &'static str,
    /// Stands still.
    pub frozen: &'static str,
    /// Not as it should be.
    pub warn: &'static str,
    /// Gone.
    pub gone: &'static str,
    /// Not known.
    pub unknown: &'static str,
    /// The one in charge.
    pub star: &'static str,
    /// Neither good nor bad.
    pub dot: &'static str,
    /// Points from old to new.
    pub arrow: &'static str,
    /// Sorted upwards.
    pub ascending: &'static str,
    /// Sorted downwards.
    pub descending: &'static str,
    /// Stands between things in a line.
    pub separator: &'static str,
    /// The row under the cursor, where reverse video is not enough.
    pub cursor: &'static str,
    /// Growing.
    pub up: &'static str,
    /// Shrinking.
    pub down: &'static str,
    /// Nothing here.
    pub none: &'static str,
}

const LINES: Glyphs = Glyphs {
    tier: Tier::Braille,
    frame: ["╭", "╮", "╰", "╯", "─", "│"],
    ok: "●",
    busy: "◌",
    frozen: "‖",
    warn: "▲",
    gone: "✗",
    unknown: "?",
    star: "★",
    dot: "·",
    arrow: "→",
    ascending: "▲",
    descending: "▼",
    separator: "│",
    cursor: "▌",
    up: "↑",
    down: "↓",
    none: "·",
};

impl Glyphs {
    /// Returns the characters of a tier.
    pub const fn new(tier: Tier) -> Self {
        match tier {
            Tier::Braille => LINES,
            Tier::Block => Self { tier: Tier::Block, ..LINES },
            Tier::Ascii => Self {
                tier: Tier::Ascii,
                frame: ["+", "+", "+", "+", "-", "|"],
                ok: "+",
                busy: "~",
                frozen: "=",
                warn: "!",
                gone: "x",
                unknown: "?",
                star: "*",
                dot: ".",
                arrow: ">",
                ascending: "^",
                descending: "v",
                separator: "|",
                cursor: ">",
                up: "^",
                down: "v",
                none: ".",
            },
        }
    }

    /// Returns whether only ASCII may be drawn.
    pub fn is_ascii(&self) -> bool {
        self.tier == Tier::Ascii
    }
}

impl Default for Glyphs {
    fn default() -> Self {
        Self::new(Tier::default())
    }
}
