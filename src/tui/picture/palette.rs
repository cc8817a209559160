//! What a terminal's colours look like in a picture.

use ratatui::style::Color;

/// What a terminal's colours look like in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// The terminal's ground.
    pub ground: (u8, u8, u8),
    /// The terminal's text.
    pub text: (u8, u8, u8),
    /// The terminal's dim text.
    pub dim: (u8, u8, u8),
    /// The 16 colours, the bright ones last.
    pub ansi: [(u8, u8, u8); 16],
}

impl Default for Palette {
    /// Returns a dark terminal.
    fn default() -> Self {
        Self {
            ground: (0x10, 0x14, 0x1a),
            text: (0xd4, 0xdb, 0xe4),
            dim: (0x8b, 0x96, 0xa5),
            ansi: [
                (0x1c, 0x22, 0x2b),
                (0xf0, 0x71, 0x78),
                (0x7f, 0xc8, 0x7f),
                (0xe5, 0xc0, 0x7b),
                (0x61, 0xaf, 0xef),
                (0xc6, 0x8a, 0xee),
                (0x56, 0xc2, 0xc9),
                (0xc8, 0xd0, 0xda),
                (0x66, 0x73, 0x85),
                (0xff, 0x8b, 0x92),
                (0x9a, 0xe0, 0x9a),
                (0xff, 0xd8, 0x8f),
                (0x83, 0xc5, 0xff),
                (0xdb, 0xa6, 0xff),
                (0x79, 0xdd, 0xe3),
                (0xff, 0xff, 0xff),
            ],
        }
    }
}

impl Palette {
    /// Returns a light terminal.
    pub fn light() -> Self {
        Self {
            ground: (0xfb, 0xfa, 0xf7),
            text: (0x23, 0x27, 0x2e),
            dim: (0x6a, 0x70, 0x7a),
            ..Self::default()
        }
    }

    /// Returns a colour; `None` for the terminal's own.
    pub(super) fn resolve(&self, color: Color) -> Option<(u8, u8, u8)> {
        let named = |place: usize| self.ansi.get(place).copied();
        match color {
            Color::Reset => None,
            Color::Black => named(0),
            Color::Red => named(1),
            Color::Green => named(2),
            Color::Yellow => named(3),
            Color::Blue => named(4),
            Color::Magenta => named(5),
            Color::Cyan => named(6),
            Color::Gray => named(7),
            Color::DarkGray => named(8),
            Color::LightRed => named(9),
            Color::LightGreen => named(10),
            Color::LightYellow => named(11),
            Color::LightBlue => named(12),
            Color::LightMagenta => named(13),
            Color::LightCyan => named(14),
            Color::White => named(15),
            Color::Rgb(red, green, blue) => Some((red, green, blue)),
            Color::Indexed(number) if number < 16 => named(usize::from(number)),
            Color::Indexed(number) if number < 232 => {
                let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
                let cube = number - 16;
                Some((level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
            }
            Color::Indexed(number) => {
                let grey = 8 + (number - 232) * 10;
                Some((grey, grey, grey))
            }
        }
    }
}
